import type { Terminal } from './wiring.ts';

/** What standard output may fail with, by the code of the system's error. */
const OUTPUT_ERRORS: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'no space left on device'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EFBIG', 'the file is as large as a file may be'],
  ['EIO', 'the device reported an error'],
]);

/**
 * The terminal of a process. A reader that goes away (`promoter get bundles | head -1`) ends the process quietly; output that cannot be written ends
 * it with a sentence and exit code 1.
 */
export const processTerminal = (of: NodeJS.Process): Terminal => {
  const { stdin, stdout, stderr, env } = of;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') of.exit(0);
    const code = error.code ?? error.name;
    stderr.write(`error: Standard output cannot be written: ${OUTPUT_ERRORS.get(code) ?? code}.\n`);
    of.exit(1);
  });
  // Nobody can be told that nobody can be told.
  stderr.on('error', () => of.exit(1));
  const interactive = stdout.isTTY === true;
  const forced = (env['FORCE_COLOR'] ?? '') !== '' && env['FORCE_COLOR'] !== '0';
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    colour: (interactive || forced) && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    interactive,
    readInput: async (most) => {
      const parts: Buffer[] = [];
      let size = 0;
      for await (const part of stdin) {
        const bytes = Buffer.from(part);
        parts.push(bytes);
        size += bytes.length;
        if (size > most) break;
      }
      return Buffer.concat(parts).toString('utf8');
    },
  };
};
