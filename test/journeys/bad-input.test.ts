/** Bad input: in the repository, where it ends a promotion with file and line, and in a Bundle that no Pipeline takes. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Bundle } from '../../src/api/kinds/bundle.ts';
import type { Environment } from '../../src/api/kinds/pipeline.ts';
import { API_VERSION } from '../../src/api/meta.ts';
import { eventually, folderFor, startController } from './command-line.ts';
import {
  apply,
  BUNDLE_TOKEN,
  bundleOf,
  connect,
  deploySteady,
  git,
  landed,
  makeRepository,
  overlay,
  pipeline,
  post,
  reaches,
  settledIn,
  stepOf,
} from './scene.ts';

interface Case {
  readonly name: string;
  readonly environment: Partial<Environment>;
  readonly file?: readonly [path: string, text: string | Buffer];
  readonly code: string;
  /** What the message must name. */
  readonly says: readonly RegExp[];
}

const chart = { strategy: 'chart', chart: { file: 'values.yaml', path: 'image.tag' } };

const CASES: readonly Case[] = [
  {
    name: 'broken-yaml',
    environment: {},
    file: ['kustomization.yaml', 'resources:\n  - a.yaml\nimages: [\n  - name: registry.example/broken-yaml\n'],
    code: 'YAMLInvalid',
    says: [/broken-yaml\/kustomization\.yaml, line [345]/],
  },
  { name: 'missing-path', environment: { path: 'nowhere/at/all' }, code: 'KustomizationMissing', says: [/nowhere\/at\/all/] },
  {
    name: 'no-kustomization',
    environment: {},
    file: ['deployment.yaml', 'kind: Deployment\n'],
    code: 'KustomizationMissing',
    says: [/kustomization\.yaml/, /kustomization\.yml/, /Kustomization/, /no-kustomization/],
  },
  {
    name: 'no-values-path',
    environment: { update: chart },
    file: ['values.yaml', 'replicas: 1\nimage:\n  repository: registry.example/no-values-path\n'],
    code: 'ValuePathMissing',
    says: [/image\.tag|"tag"|tag/, /no-values-path\/values\.yaml, line 2/],
  },
  {
    name: 'no-values-file',
    environment: { update: chart },
    file: ['other.yaml', 'a: 1\n'],
    code: 'ValuesFileMissing',
    says: [/no-values-file\/values\.yaml/],
  },
  {
    name: 'not-text',
    environment: {},
    file: ['kustomization.yaml', Buffer.concat([Buffer.from('images:\n  - name: a # caf'), Buffer.from([0xe9]), Buffer.from('\n')])],
    code: 'NotUTF8',
    says: [/not-text\/kustomization\.yaml/],
  },
  {
    name: 'images-are-no-list',
    environment: {},
    file: ['kustomization.yaml', 'resources: []\n\nimages: none\n'],
    code: 'KustomizationInvalid',
    says: [/images-are-no-list\/kustomization\.yaml, line 3/],
  },
  {
    name: 'two-kustomizations',
    environment: {},
    file: ['Kustomization', 'resources: []\n'],
    code: 'KustomizationAmbiguous',
    says: [/two-kustomizations/],
  },
];

/** Puts one file of any bytes on `main`. */
const commitBytes = (repository: string, path: string, bytes: Buffer): void => {
  const head = `commit refs/heads/main\ncommitter o <o@example.com> 1700000000 +0000\ndata 0\nfrom refs/heads/main^0\n`;
  const input = Buffer.concat([Buffer.from(`${head}M 100644 inline ${path}\ndata ${bytes.length}\n`), bytes, Buffer.from('\n')]);
  execFileSync('git', ['--git-dir', repository, 'fast-import', '--quiet'], { input });
};

const bundle = (name: string, wanted: string, label?: string): Bundle => ({
  apiVersion: API_VERSION,
  kind: 'Bundle',
  metadata: { name, namespace: 'default', ...(label ? { labels: { 'promoter.io/pipeline': label } } : {}) },
  spec: { type: 'image', pipeline: wanted, images: [{ repository: `registry.example/${wanted}`, tag: '1.0' }] },
});

test('bad input in the repository ends the promotion with file and line, and nothing is pushed', async (context) => {
  const folder = await folderFor(context);
  const files = CASES.flatMap(({ name, file }) => (file && typeof file[1] === 'string' ? [[`${name}/${file[0]}`, file[1]] as const] : []));
  const good = ['written-already/kustomization.yaml', overlay('written-already').replace('"0"', '"1.0"')] as const;
  const both = ['two-kustomizations/kustomization.yaml', overlay('two-kustomizations')] as const;
  const repository = await makeRepository(
    join(folder, 'deploy.git'),
    Object.fromEntries([...files, good, both, ['late/kustomization.yaml', overlay('late')]]),
  );
  for (const { name, file } of CASES) if (file && typeof file[1] !== 'string') commitBytes(repository, `${name}/${file[0]}`, file[1]);
  const before = git(repository, 'rev-parse', 'main').trim();
  const controller = await startController(context, join(folder, 'data'), '--bundle-api-token', BUNDLE_TOKEN);
  const store = await connect(context, controller.kubeconfig);
  await deploySteady(store);
  const url = `file://${repository}`;
  for (const { name, environment } of CASES) {
    await apply(store, pipeline(name, url, [{ name: 'prod', path: name, health: settledIn('0s'), ...environment }]));
    await post(controller.http, name, '1.0');
  }
  for (const one of CASES) {
    await context.test(one.name, async () => {
      const { status } = await reaches(store, `${one.name}-1.0`, 'Failed');
      const step = await stepOf(store, `${one.name}-1.0`, 'prod');
      assert.equal(step?.status?.state, 'Failed');
      assert.equal(step?.status?.reason, one.code, step?.status?.message ?? '');
      for (const pattern of one.says) assert.match(step?.status?.message ?? '', pattern);
      assert.ok(status?.conditions?.some((condition) => condition.message === `prod failed: ${step?.status?.message}`));
    });
  }
  const explained = await controller.run('explain', 'broken-yaml', '--env', 'prod');
  assert.match(explained.out, /broken-yaml\/kustomization\.yaml, line \d/);
  assert.equal(git(repository, 'rev-parse', 'main').trim(), before);

  await context.test('an environment with the wanted content makes no commit and still has its health checked', async () => {
    await apply(store, pipeline('written-already', url, [{ name: 'prod', path: 'written-already', health: settledIn('2s') }]));
    await post(controller.http, 'written-already', '1.0');
    await reaches(store, 'written-already-1.0', 'Verified');
    const step = await stepOf(store, 'written-already-1.0', 'prod');
    assert.deepEqual(
      step?.status?.transitions?.map((transition) => transition.to),
      ['Promoting', 'HealthChecking', 'Verified'],
    );
    const health = step?.status?.steps?.find((record) => record.name === 'health-check');
    assert.ok(Date.parse(health?.finishedAt ?? '') - Date.parse(health?.startedAt ?? '') >= 1000, JSON.stringify(health));
    assert.equal(git(repository, 'rev-parse', 'main').trim(), before, 'no commit');
    assert.equal(step?.status?.outputs?.['git.commit'], before);
  });

  await context.test('a Bundle that no Pipeline takes stays Available with a condition, and starts when one appears', async () => {
    const conditionOf = (name: string, reason: string): Promise<true> =>
      eventually(async () => {
        const { status } = await bundleOf(store, name);
        return status?.phase === 'Available' && status.conditions?.some((condition) => condition.reason === reason) ? true : undefined;
      }, `${name}: ${reason}`);
    for (const one of [bundle('early', 'late', 'late'), bundle('unlabelled', 'late'), bundle('mislabelled', 'late', 'other')])
      await apply(store, one);
    await conditionOf('early', 'NoMatchingPipeline');
    await conditionOf('unlabelled', 'LabelMissing');
    await conditionOf('mislabelled', 'LabelMismatch');
    await apply(store, pipeline('late', url, [{ name: 'prod', path: 'late', health: settledIn('0s') }]));
    await reaches(store, 'early', 'Verified');
    assert.deepEqual(
      landed(repository).map((commit) => commit.bundle),
      ['early'],
    );
    assert.equal((await bundleOf(store, 'unlabelled')).status?.phase, 'Available');
    assert.equal((await bundleOf(store, 'mislabelled')).status?.phase, 'Available');
  });
});
