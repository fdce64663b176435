import type { Terminal } from './wiring.ts';

/** The terminal of a process. A reader that goes away (`promoter get bundles | head -1`) ends the process quietly. */
export const processTerminal = (of: NodeJS.Process): Terminal => {
  const { stdin, stdout, stderr, env } = of;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    of.exit(0);
  });
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
