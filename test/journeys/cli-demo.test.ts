import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderFor, promoter, start } from './command-line.ts';

const git = (repository: string, ...args: string[]): string =>
  execFileSync('git', ['--git-dir', repository, ...args], { encoding: 'utf8' }).trim();

test('demo --once --json verifies three environments with one commit and one changed line each', async (context) => {
  const folder = await folderFor(context);
  const { code, out, err } = await promoter(['demo', '--once', '--json', '--data-dir', folder]);
  assert.equal(code, 0, err);
  const lines = out.trimEnd().split('\n');
  assert.equal(lines.length, 1, 'progress goes to standard error');
  const result = JSON.parse(lines.at(-1) ?? '') as {
    ok: boolean;
    seconds: number;
    environments: { name: string; state: string; commit: string }[];
  };
  assert.equal(result.ok, true);
  assert.deepEqual(
    result.environments.map(({ name, state }) => [name, state]),
    [
      ['test', 'Verified'],
      ['staging', 'Verified'],
      ['prod', 'Verified'],
    ],
  );
  const repository = join(folder, 'repositories', 'shop.git');
  const commits = git(repository, 'rev-list', '--reverse', 'main').split('\n');
  assert.deepEqual(
    commits.slice(1),
    result.environments.map(({ commit }) => commit),
  );
  const changes = commits.slice(1).map((commit) => git(repository, 'show', '--numstat', '--format=', commit));
  assert.deepEqual(changes, [
    '1\t1\tenvironments/test/kustomization.yaml',
    '1\t1\tenvironments/staging/values.yaml',
    '1\t1\tenvironments/prod/kustomization.yaml',
  ]);
  git(repository, 'fsck', '--strict');
});

test('demo goes on until it is interrupted, and its kubeconfig serves the command line', async (context) => {
  const folder = await folderFor(context);
  const demo = start(['demo', '--data-dir', folder]);
  context.after(() => demo.child.kill('SIGKILL'));
  await demo.printed(/Verified in every environment/);
  const [, kubeconfig = ''] = await demo.printed(/PROMOTER_KUBECONFIG=(\S+)/);
  const env = { PROMOTER_KUBECONFIG: kubeconfig };
  assert.match((await promoter(['get', 'bundles', 'shop'], { env })).out, /^shop-1\.1\.0 +Verified +prod /m);
  assert.equal((await promoter(['create', 'bundle', 'shop', '--image', 'ghcr.io/example/shop:1.2.0'], { env })).code, 0);
  const watch = start(['get', 'bundles', 'shop', '--watch'], { env });
  context.after(() => watch.child.kill('SIGKILL'));
  await watch.printed(/^shop-1\.2\.0 +Verified +prod /m);
  watch.child.kill('SIGKILL');
  demo.child.kill('SIGINT');
  assert.equal((await demo.ended).code, 0);
  assert.equal(readFileSync(join(folder, 'kubeconfig'), 'utf8').includes('server:'), true);
});
