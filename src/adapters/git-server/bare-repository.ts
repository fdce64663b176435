/** Makes bare repositories out of nothing, without a checkout. */
import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import type { Outcome } from '../../api/outcome.ts';
import { done, terminal } from '../../api/outcome.ts';

/** How the first commit is made. */
export interface FirstCommit {
  /** `main` by default. */
  readonly branch?: string;
  /** Message of the commit; `Initial commit` by default. */
  readonly message?: string;
  /** Seconds since the epoch; now by default. */
  readonly time?: number;
}

/**
 * Makes a bare repository at the path with one commit that holds the files (contents by path), or an empty one when there are none.
 * Terminal `GitRepositoryNotMade` with git's words.
 */
export async function createBareRepository(
  path: string,
  files: ReadonlyMap<string, string> | Readonly<Record<string, string>>,
  options: FirstCommit = {},
): Promise<Outcome<void>> {
  const branch = options.branch ?? 'main';
  const contents = files instanceof Map ? files : new Map(Object.entries(files));
  await mkdir(path, { recursive: true });
  const made = await git(['init', '--quiet', '--bare', `--initial-branch=${branch}`, path], '');
  if (made !== '') return terminal('GitRepositoryNotMade', made);
  if (contents.size === 0) return done(undefined);
  const imported = await git([`--git-dir=${path}`, 'fast-import', '--quiet'], importStream(branch, contents, options));
  return imported === '' ? done(undefined) : terminal('GitRepositoryNotMade', imported);
}

function importStream(branch: string, files: ReadonlyMap<string, string>, options: FirstCommit): Buffer {
  const message = Buffer.from(`${options.message ?? 'Initial commit'}\n`);
  const time = options.time ?? Math.floor(Date.now() / 1000);
  const parts = [Buffer.from(`commit refs/heads/${branch}\ncommitter promoter <promoter@localhost> ${time} +0000\n`), data(message)];
  for (const [path, text] of files) parts.push(Buffer.from(`M 100644 inline ${JSON.stringify(path)}\n`), data(Buffer.from(text, 'utf8')));
  return Buffer.concat(parts);
}

function data(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`data ${body.length}\n`), body, Buffer.from('\n')]);
}

/** Runs git apart from all configuration of the machine; empty when it went well, else its complaint. */
function git(args: readonly string[], input: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      HOME: '/nonexistent',
    };
    const child = spawn('git', args, { env, stdio: ['pipe', 'ignore', 'pipe'] });
    let words = '';
    child.stderr.on('data', (text: Buffer) => {
      words = (words + text.toString('utf8')).slice(0, 2000);
    });
    child.stdin.on('error', () => undefined);
    child.once('error', (error) => resolve(`git cannot be started: ${error.message}`));
    child.once('close', (code) => resolve(code === 0 ? '' : words.trim() || `git ended with status ${code}`));
    child.stdin.end(input);
  });
}
