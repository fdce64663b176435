/** The real engine over real repositories, reached by file URL or by smart HTTP with a token. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Git, GitOptions, ProcessEvent } from '../../src/adapters/git/index.ts';
import { createGit } from '../../src/adapters/git/index.ts';
import type { GitServer } from '../../src/adapters/git-server/index.ts';
import { createBareRepository, startGitServer } from '../../src/adapters/git-server/index.ts';
import { done, transient } from '../../src/api/outcome.ts';
import type { Repository } from '../../src/api/repository.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { GitFixture } from './git.ts';
import { sha, value } from './git.ts';

const run = promisify(execFile);

/** Runs git for the test itself, apart from the machine's configuration. */
export async function gitHere(args: readonly string[]): Promise<string> {
  const person = {
    GIT_AUTHOR_NAME: 'Somebody',
    GIT_AUTHOR_EMAIL: 's@example.com',
    GIT_COMMITTER_NAME: 'Somebody',
    GIT_COMMITTER_EMAIL: 's@example.com',
  };
  const env = { PATH: process.env['PATH'] ?? '', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', ...person };
  const { stdout } = await run('git', [...args], { env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

/** The machine's clock as a port. */
export const realClock: Clock = {
  now: () => Date.now(),
  at: (time, callback) => {
    const timer = setTimeout(callback, Math.max(0, time - Date.now()));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** The fixture with what tests of the real engine need besides. */
export interface RealGit extends GitFixture {
  readonly git: Git;
  readonly folder: string;
  readonly token: string;
  readonly server: GitServer | undefined;
  /** Git commands that have ended, oldest first. */
  readonly processes: ProcessEvent[];
  /** Everything that was logged, as text. */
  readonly logged: string[];
  /** The bare repository on the server's side. */
  pathOf(repository: Repository): string;
  /** Another engine on the same folder, as after a restart. */
  again(options?: Partial<GitOptions>): Promise<Git>;
  /** Puts a hook into the repository. */
  hook(repository: Repository, name: string, script: string): void;
}

/** Makes the fixture. */
export async function realGit(transport: 'file' | 'http', options: Partial<GitOptions> = {}): Promise<RealGit> {
  const folder = await mkdtemp(join(tmpdir(), 'promoter-git-'));
  const root = join(folder, 'served');
  mkdirSync(root);
  const token = 's3cret-t0ken/with+odd=characters';
  const server = transport === 'http' ? await startGitServer({ root, token }) : undefined;
  const processes: ProcessEvent[] = [];
  const logged: string[] = [];
  const keep = (message: string, fields?: unknown): void => {
    logged.push(`${message} ${JSON.stringify(fields)}`);
  };
  const open = async (more: Partial<GitOptions>): Promise<Git> =>
    value(
      await createGit({
        directory: join(folder, 'git'),
        secrets: { read: async (_, key) => (key === 'token' ? done(token) : transient('SecretMissing', `there is no ${key}`)) },
        clock: realClock,
        log: { debug: keep, info: keep, warn: keep, error: keep },
        allowFileUrls: true,
        onProcess: (event) => processes.push(event),
        ...options,
        ...more,
      }),
    );
  const git = await open({});
  const engines = [git];
  const pathOf = (repository: Repository): string => join(root, repository.url.split('/').at(-1) ?? '');
  const hook = (repository: Repository, name: string, script: string): void => {
    const path = join(pathOf(repository), 'hooks', name);
    mkdirSync(join(pathOf(repository), 'hooks'), { recursive: true });
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  };
  return {
    git,
    folder,
    token,
    server,
    processes,
    logged,
    pathOf,
    hook,
    again: async (more = {}) => {
      const next = await open(more);
      engines.push(next);
      return next;
    },
    seed: async (name, files, branches = ['main']) => {
      const path = join(root, `${name}.git`);
      const [first = 'main', ...others] = branches;
      value(await createBareRepository(path, files, { branch: first, time: 1_700_000_000 }));
      for (const branch of others) await gitHere([`--git-dir=${path}`, 'branch', branch, first]);
      const url = server === undefined ? `file://${path}` : `${server.url}/${name}.git`;
      return { url, credential: { namespace: 'default', name: 'git-token' } };
    },
    files: async (repository, branch) => {
      const path = pathOf(repository);
      const names = (await gitHere([`--git-dir=${path}`, 'ls-tree', '-r', '-z', '--name-only', branch]))
        .split('\0')
        .filter((one) => one !== '');
      const texts = await Promise.all(names.map((one) => gitHere([`--git-dir=${path}`, 'cat-file', 'blob', `${branch}:${one}`])));
      return new Map(names.map((one, index) => [one, texts[index] ?? '']));
    },
    log: async (repository, branch) => {
      const text = await gitHere([`--git-dir=${pathOf(repository)}`, 'log', '--format=%H%n%P%n%B%x00', branch]);
      return text
        .split('\0')
        .map((one) => one.replace(/^\n/, ''))
        .filter((one) => one !== '')
        .map((one) => {
          const [commit = '', parents = '', ...message] = one.split('\n');
          return { commit, parents: parents.split(' ').filter((parent) => parent !== ''), message: message.join('\n') };
        });
    },
    write: async (repository, branch, files) => {
      const path = pathOf(repository);
      const index = join(folder, `index-${Math.random()}`);
      const here = async (args: readonly string[]): Promise<string> =>
        gitHere(['-c', `core.worktree=${folder}`, `--git-dir=${path}`, ...args]);
      const parent = (await here(['rev-parse', branch])).trim();
      const env = { PATH: process.env['PATH'] ?? '', GIT_INDEX_FILE: index, GIT_CONFIG_GLOBAL: '/dev/null' };
      await run('git', [`--git-dir=${path}`, 'read-tree', parent], { env });
      for (const [name, text] of Object.entries(files)) {
        writeFileSync(`${index}-text`, text);
        const blob = (await here(['hash-object', '-w', '--no-filters', `${index}-text`])).trim();
        await run('git', [`--git-dir=${path}`, 'update-index', '--add', '--cacheinfo', `100644,${blob},${name}`], { env });
      }
      const tree = (await run('git', [`--git-dir=${path}`, 'write-tree'], { env })).stdout.trim();
      const commit = (await here(['commit-tree', tree, '-p', parent, '-m', 'Somebody else'])).trim();
      await here(['update-ref', `refs/heads/${branch}`, commit, parent]);
      return sha(commit);
    },
    reset: async (repository, branch, commit) => {
      await gitHere([`--git-dir=${pathOf(repository)}`, 'update-ref', `refs/heads/${branch}`, commit]);
    },
    refuse: async (repository, path) =>
      hook(
        repository,
        'pre-receive',
        `while read old new ref; do\n  if git diff --name-only "$old" "$new" | grep -qx '${path}'; then echo "the path ${path} is frozen" >&2; exit 1; fi\ndone`,
      ),
    close: async () => {
      await Promise.all(engines.map((engine) => engine.close()));
      await server?.close();
      await rm(folder, { recursive: true, force: true });
      assert.equal(processes.filter((event) => event.command === '').length, 0);
    },
  };
}
