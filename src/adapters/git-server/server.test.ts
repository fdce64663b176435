import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { createBareRepository } from './bare-repository.ts';
import type { GitServer } from './server.ts';
import { startGitServer } from './server.ts';

const run = promisify(execFile);
const env = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  HOME: '/nonexistent',
};
const git = async (...args: readonly string[]): Promise<string> => (await run('git', [...args], { env })).stdout;

let folder = '';
let server: GitServer;
let token: string | undefined;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'promoter-server-'));
  mkdirSync(join(folder, 'root'));
  await createBareRepository(join(folder, 'root', 'a.git'), new Map([['deep/ü.txt', 'öne\n']]), { branch: 'trunk', time: 1_700_000_000 });
  await createBareRepository(join(folder, 'outside.git'), { 'secret.txt': 'secret\n' });
  server = await startGitServer({ root: join(folder, 'root'), token: () => token });
});
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends the path as it is, which `fetch` would tidy up. */
const status = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(server.url);
    get({ host: '127.0.0.1', port, path, headers }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
    }).once('error', reject);
  });

test('a repository is made without a checkout and served for cloning, in part too', async () => {
  await git('clone', '--quiet', '--filter=blob:none', '--no-checkout', `${server.url}/a.git`, join(folder, 'clone'));
  assert.equal(await git('-C', join(folder, 'clone'), 'ls-tree', '-r', '-z', '--name-only', 'origin/trunk'), 'deep/ü.txt\0');
  assert.equal(await git('-C', join(folder, 'clone'), 'cat-file', 'blob', 'origin/trunk:deep/ü.txt'), 'öne\n');
  assert.equal(await git(`--git-dir=${join(folder, 'root', 'a.git')}`, 'fsck', '--full', '--strict'), '');
});

test('a push larger than a network buffer arrives', async () => {
  const work = join(folder, 'work');
  await git('clone', '--quiet', `${server.url}/a.git`, work);
  writeFileSync(join(work, 'big.txt'), Array.from({ length: 200_000 }, (_, index) => `${index * 7919}`).join('\n'));
  await git('-C', work, 'add', 'big.txt');
  await git('-C', work, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'big');
  const pushes = server.requests().pushes;
  await git('-C', work, '-c', 'http.postBuffer=65536', 'push', '--quiet', 'origin', 'trunk');
  assert.equal(await git('-C', work, 'rev-parse', 'trunk'), await git(`--git-dir=${join(folder, 'root', 'a.git')}`, 'rev-parse', 'trunk'));
  assert.ok(server.requests().pushes > pushes);
});

test('nothing outside the root and nothing but the smart protocol is served', async () => {
  const refs = '/info/refs?service=git-upload-pack';
  assert.equal(await status(`/a.git${refs}`), 200);
  for (const path of [
    `/../outside.git${refs}`,
    `/%2e%2e/outside.git${refs}`,
    `/a.git/../../outside.git${refs}`,
    `/..%2foutside.git${refs}`,
    `/none.git${refs}`,
    `/${refs}`,
    '/a.git/config',
    '/a.git/objects/info/packs',
    '/a.git/%00/HEAD',
    '/%zz/HEAD',
  ])
    assert.equal(await status(path), 404, path);
});

test('with a token only those who know it are served', async () => {
  token = 'let-me-in';
  try {
    const path = '/a.git/info/refs?service=git-upload-pack';
    const basic = (text: string): Record<string, string> => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
    assert.equal(await status(path), 401);
    assert.equal(await status(path, basic('x:wrong')), 401);
    assert.equal(await status(path, basic('let-me-in')), 401);
    assert.equal(await status(path, { authorization: 'Digest let-me-in' }), 401);
    assert.equal(await status(path, basic('anybody:let-me-in')), 200);
    assert.equal(await status(path, { authorization: 'Bearer let-me-in' }), 200);
    assert.equal(server.requests().unauthorized, 4);
  } finally {
    token = undefined;
  }
});

test('a repository that cannot be made is a terminal reason', async () => {
  const made = await createBareRepository(join(folder, 'bad.git'), { x: 'x' }, { branch: 'bad..name' });
  assert.equal(made.outcome === 'terminal' && made.reason.code, 'GitRepositoryNotMade');
});
