/** Runs git as a person would, but without the settings of this machine and its user. */
import { spawn } from 'node:child_process';

/** Settings that every contender gets: no housekeeping in the middle of a measurement, and partial transfer from folders of this machine. */
const SETTINGS: readonly (readonly [string, string])[] = [
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['receive.autogc', 'false'],
  ['uploadpack.allowFilter', 'true'],
  ['uploadpack.allowAnySHA1InWant', 'true'],
  ['safe.directory', '*'],
  ['user.name', 'bench'],
  ['user.email', 'bench@example.com'],
  ['init.defaultBranch', 'main'],
];

/** Environment of every git process of the floor and the rivals. */
export const gitEnvironment = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  LC_ALL: 'C',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_COUNT: String(SETTINGS.length),
  ...Object.fromEntries(
    SETTINGS.flatMap(([name, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
});

/** Runs git to its end and gives its output; rejects with what git said when it failed. */
export const git = (folder: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd: folder, env: gitEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let complaint = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`git ${args.join(' ')} ended with ${code}: ${complaint.trim().slice(-1000)}`));
    });
  });
