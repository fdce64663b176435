/** Defects that other systems of this kind have shipped, each with the effect that must not come back. The table is docs/regressions.md. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Environment } from '../../src/api/kinds/pipeline.ts';
import { API_VERSION } from '../../src/api/meta.ts';
import type { Store } from '../../src/ports/store.ts';
import { eventually, folderFor, startController } from '../journeys/command-line.ts';
import {
  apply,
  BUNDLE_TOKEN,
  bundleOf,
  connect,
  deploy,
  deployment,
  deploySteady,
  entered,
  fileAt,
  git,
  landed,
  makeRepository,
  overlay,
  pipeline,
  post,
  reaches,
  settledIn,
  stepOf,
  stepWhen,
} from '../journeys/scene.ts';

/** What all cases share; each has a repository, a Pipeline and namespaces of its own. */
interface Scene {
  readonly http: string;
  readonly store: Store;
  readonly repositoryOf: (name: string, files: Readonly<Record<string, string>>) => Promise<string>;
}

const setUp = async (context: TestContext): Promise<Scene> => {
  const folder = await folderFor(context);
  const controller = await startController(context, join(folder, 'data'), '--bundle-api-token', BUNDLE_TOKEN, '--bundle-rate-limit', '0');
  const store = await connect(context, controller.kubeconfig);
  await deploySteady(store);
  return { http: controller.http, store, repositoryOf: (name, files) => makeRepository(join(folder, `${name}.git`), files) };
};

const steady = (name: string, more: Partial<Environment> = {}): Environment => ({ name, path: name, health: settledIn('0s'), ...more });

const overlays = (application: string, ...places: string[]): Record<string, string> =>
  Object.fromEntries(places.map((place) => [`${place}/kustomization.yaml`, overlay(application)]));

const targetBranch = async ({ http, store, repositoryOf }: Scene): Promise<void> => {
  const repository = await repositoryOf('direct', overlays('direct', 'prod'));
  await apply(store, pipeline('direct', `file://${repository}`, [steady('prod')]));
  const bundle = await post(http, 'direct', '1.0');
  await reaches(store, bundle, 'Verified');
  assert.match(fileAt(repository, 'prod/kustomization.yaml'), /newTag: "1\.0"/);
  assert.equal(git(repository, 'for-each-ref', '--format=%(refname)').trim(), 'refs/heads/main', 'no side branch');
  assert.equal((await stepOf(store, bundle, 'prod'))?.status?.outputs?.['git.commit'], git(repository, 'rev-parse', 'main').trim());
};

const givenSteps = async ({ http, store, repositoryOf }: Scene): Promise<void> => {
  const values = 'image:\n  repository: registry.example/given\n  tag: "0"\n';
  const repository = await repositoryOf('given', { ...overlays('given', 'prod', 'custom'), 'prod/values.yaml': values });
  const steps = ['git-clone', 'chart-set-image', 'git-commit', 'git-push'].map((uses) => ({ uses }));
  await apply(
    store,
    pipeline('given', `file://${repository}`, [steady('prod', { steps }), steady('custom', { steps: [{ uses: 'scan' }] })]),
  );
  const bundle = await post(http, 'given', '1.0', { intent: { targetEnvironment: 'custom' } });
  await reaches(store, bundle, 'Failed');
  const records = (await stepOf(store, bundle, 'prod'))?.status?.steps?.map((record) => `${record.name} ${record.state}`);
  assert.deepEqual(records, ['git-clone Succeeded', 'chart-set-image Succeeded', 'git-commit Succeeded', 'git-push Succeeded']);
  assert.equal(fileAt(repository, 'prod/values.yaml'), values.replace('"0"', '"1.0"'));
  assert.equal(fileAt(repository, 'prod/kustomization.yaml'), overlay('given'), 'the default sequence did not run');
  assert.match((await stepOf(store, bundle, 'custom'))?.status?.message ?? '', /missing input webhook\.url/);
  assert.equal(landed(repository).length, 1);
};

const gateInstances = async ({ http, store, repositoryOf }: Scene): Promise<void> => {
  const repository = await repositoryOf('gated', overlays('gated', 'gated-prod'));
  const labels = { 'promoter.io/applies-to': 'gated-prod', 'promoter.io/bundle': 'gated-1.0' };
  const spec = { expression: 'false', message: 'an instance of an earlier Bundle' };
  await apply(store, { apiVersion: API_VERSION, kind: 'PolicyGate', metadata: { name: 'instance', namespace: 'default', labels }, spec });
  await apply(store, pipeline('gated', `file://${repository}`, [steady('gated-prod')]));
  for (const tag of ['1.0', '2.0', '3.0', '4.0', '5.0']) await reaches(store, await post(http, 'gated', tag), 'Verified');
  const graphs = await store.list('Graph', { labelSelector: 'promoter.io/pipeline=gated', fresh: true });
  assert.ok(graphs.ok);
  assert.deepEqual(
    graphs.value.items.map((graph) => graph.spec?.nodes?.length),
    [1, 1, 1, 1, 1],
  );
  const gates = await store.list('PolicyGate', { namespace: 'default', fresh: true });
  assert.equal(gates.ok && gates.value.items.length, 1);
};

const oldRevision = async ({ http, store, repositoryOf }: Scene): Promise<void> => {
  const repository = await repositoryOf('slow', overlays('slow', 'slow-prod'));
  const running = (tag: string) => deployment('slow-prod', 'slow', { image: `registry.example/slow:${tag}` });
  await deploy(store, running('0'));
  await apply(store, pipeline('slow', `file://${repository}`, [{ name: 'slow-prod', path: 'slow-prod' }]));
  const bundle = await post(http, 'slow', '1.0');
  const reasonIs = (reason: string) =>
    stepWhen(store, [bundle, 'slow-prod'], (step) => step.status?.health?.reason === reason, `health says ${reason}`);
  await reasonIs('OldRevision');
  const rolling = await apply(store, running('1.0'));
  const { generation = 1 } = rolling.metadata;
  await reasonIs('RolloutInProgress');
  assert.equal((await stepOf(store, bundle, 'slow-prod'))?.status?.state, 'HealthChecking');
  const since = performance.now();
  await store.updateStatus({ ...rolling, status: { ...running('1.0').status, observedGeneration: generation } });
  await reaches(store, bundle, 'Verified');
  assert.ok(performance.now() - since < 8000, 'a change of health is noticed, not polled for');
};

const bytes = async ({ http, store, repositoryOf }: Scene): Promise<void> => {
  const [old, wanted] = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`);
  const file = (web: string, digest: string | undefined): string =>
    [
      '# kept: order, comments, quoting, line endings',
      'images:',
      "    - newTag: '9' # not ours",
      '      name: registry.example/other',
      '    -   newTag: "0"   # of the sidecar',
      `        digest: ${digest}`,
      '        name: registry.example/sidecar',
      `    - {name: 'registry.example/bytes', newTag: ${web}}`,
      'resources: [ ../../base ]',
      '',
    ].join('\r\n');
  const repository = await repositoryOf('bytes', { 'prod/kustomization.yaml': file('"0"', old) });
  await apply(store, pipeline('bytes', `file://${repository}`, [steady('prod')]));
  const images = [
    { repository: 'registry.example/bytes', tag: '1.0' },
    { repository: 'registry.example/sidecar', tag: '2.0', digest: wanted },
  ];
  const bundle = await post(http, 'bytes', '', { images });
  await reaches(store, bundle, 'Verified');
  const expected = file('"1.0"', wanted).replace('-   newTag: "0"', '-   newTag: "2.0"');
  assert.equal(fileAt(repository, 'prod/kustomization.yaml'), expected);
};

const editInFlight = async ({ http, store, repositoryOf }: Scene): Promise<void> => {
  const repository = await repositoryOf('edited', overlays('edited', 'first', 'moved', 'added'));
  await deploy(store, deployment('edited-first', 'edited', { image: 'registry.example/edited:1.0', available: false }));
  const health = { type: 'resource', resource: { namespace: 'edited-first' } };
  await apply(store, pipeline('edited', `file://${repository}`, [{ name: 'first', path: 'first', health }]));
  const bundle = await post(http, 'edited', '1.0');
  const before = await stepWhen(store, [bundle, 'first'], (step) => step.status?.health?.reason === 'NotAvailable', 'is in flight');
  const changed = { ...health, timeout: '1h' };
  await apply(store, pipeline('edited', `file://${repository}`, [{ name: 'first', path: 'moved', health: changed }, steady('added')]));
  await eventually(async () => {
    const graph = await store.get('Graph', 'default', bundle, { fresh: true });
    return graph.ok && graph.value.spec?.nodes?.some((node) => node.id === 'added') ? true : undefined;
  }, 'the Graph follows the edit');
  await deploy(store, deployment('edited-first', 'edited', { image: 'registry.example/edited:1.0' }));
  await reaches(store, bundle, 'Verified');
  const after = await stepOf(store, bundle, 'first');
  assert.equal(after?.metadata.uid, before.metadata.uid);
  assert.deepEqual(after?.status?.steps?.slice(0, 4), before.status?.steps?.slice(0, 4), 'nothing ran again');
  assert.deepEqual(
    landed(repository).map((commit) => commit.environment),
    ['first', 'added'],
  );
  assert.equal(fileAt(repository, 'moved/kustomization.yaml'), overlay('edited'), 'what had started kept its path');
};

const removedEnvironment = async ({ http, store, repositoryOf }: Scene): Promise<void> => {
  const repository = await repositoryOf('removed', overlays('removed', 'first', 'middle', 'last'));
  await deploy(store, deployment('removed-first', 'removed', { image: 'registry.example/removed:1.0', available: false }));
  const first = { name: 'first', path: 'first', health: { type: 'resource', resource: { namespace: 'removed-first' } } };
  await apply(store, pipeline('removed', `file://${repository}`, [first, steady('middle'), steady('last')]));
  const bundle = await post(http, 'removed', '1.0');
  await stepWhen(store, [bundle, 'first'], (step) => step.status?.state === 'HealthChecking', 'is in flight');
  // One of the two that go is in flight and ends as it began; the other has not started and goes.
  await apply(store, pipeline('removed', `file://${repository}`, [steady('last')]));
  await stepWhen(store, [bundle, 'last'], (step) => step.status?.state === 'Verified', 'follows the edit');
  await deploy(store, deployment('removed-first', 'removed', { image: 'registry.example/removed:1.0' }));
  const done = await reaches(store, bundle, 'Verified');
  assert.deepEqual(done.status?.environments?.map((record) => record.name).toSorted(), ['first', 'last']);
  assert.equal(await stepOf(store, bundle, 'middle'), undefined, 'no step is left over');
  const graph = await store.get('Graph', 'default', bundle, { fresh: true });
  assert.deepEqual(graph.ok && graph.value.spec?.nodes?.map((node) => node.id), ['first', 'last']);
  assert.equal(fileAt(repository, 'middle/kustomization.yaml'), overlay('removed'));
};

const interleaved = async ({ http, store, repositoryOf }: Scene): Promise<void> => {
  const names = Array.from({ length: 8 }, (_, index) => `tenant-${index}`);
  const files = Object.assign({}, ...names.map((name) => ({ [`${name}/kustomization.yaml`]: overlay(name) })));
  const repository = await repositoryOf('shared', files);
  for (const name of names) await apply(store, pipeline(name, `file://${repository}`, [steady('prod', { path: name })]));
  const bundles = await Promise.all(names.map((name) => post(http, name, '1.0')));
  await Promise.all(bundles.map((bundle) => reaches(store, bundle, 'Verified')));
  const commits = landed(repository);
  assert.equal(commits.length, names.length);
  for (const { commit, bundle } of commits) {
    const name = bundle.replace('-1.0', '');
    assert.equal(git(repository, 'show', '--numstat', '--format=', commit).trim(), `1\t1\t${name}/kustomization.yaml`);
    assert.equal(git(repository, 'show', `${commit}:${name}/kustomization.yaml`), overlay(name).replace('"0"', '"1.0"'));
  }
  git(repository, 'fsck', '--full', '--strict');
};

const knownBad = async ({ http, store, repositoryOf }: Scene): Promise<void> => {
  const repository = await repositoryOf('bad', { 'prod/other.yaml': 'a: 1\n' });
  await apply(store, pipeline('bad', `file://${repository}`, [steady('prod')]));
  const bundle = await post(http, 'bad', '1.0');
  const failed = await reaches(store, bundle, 'Failed');
  await assert.rejects(post(http, 'bad', '1.0'), /"status":409/);
  const { status } = await bundleOf(store, bundle);
  assert.deepEqual(status?.transitions, failed.status?.transitions);
};

const soakWakes = async ({ http, store, repositoryOf }: Scene): Promise<void> => {
  const repository = await repositoryOf('soak', overlays('soak', 'prod'));
  await apply(store, pipeline('soak', `file://${repository}`, [steady('prod', { health: settledIn('2s') })]));
  const bundle = await post(http, 'soak', '1.0');
  await reaches(store, bundle, 'Verified');
  const step = await stepOf(store, bundle, 'prod');
  const took = Date.parse(entered(step, 'Verified')) - Date.parse(entered(step, 'HealthChecking'));
  assert.ok(took >= 1000 && took < 20_000, `a soak of 2 s took ${took} ms`);
};

const oneOfMany = async ({ http, store, repositoryOf }: Scene): Promise<void> => {
  const repository = await repositoryOf('once', overlays('once', 'prod'));
  await apply(store, pipeline('once', `file://${repository}`, [steady('prod')]));
  const ends = await Promise.allSettled(Array.from({ length: 10 }, () => post(http, 'once', '1.0')));
  assert.equal(ends.filter((end) => end.status === 'fulfilled').length, 1);
  await reaches(store, 'once-1.0', 'Verified');
  for (const kind of ['Bundle', 'Graph', 'PromotionStep'] as const) {
    const read = await store.list(kind, { labelSelector: 'promoter.io/pipeline=once', fresh: true });
    assert.equal(read.ok && read.value.items.length, 1, kind);
  }
  assert.equal(landed(repository).length, 1);
};

const CASES: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  'auto changes the target branch itself and makes no other': targetBranch,
  'steps[] replaces the default sequence, and a custom step without an address fails': givenSteps,
  'gate instances are never taken for templates, however many Bundles come': gateInstances,
  'health on the old revision does not count, and the new one is noticed at once': oldRevision,
  'only the values change: every image, digests, comments, order, quoting and line endings': bytes,
  'an edit of the Pipeline restarts nothing that is in flight': editInFlight,
  'an environment that is removed leaves no step, node or commit behind': removedEnvironment,
  'promotions into one repository at once never mix their files': interleaved,
  'a version that failed is not promoted again by creating it again': knownBad,
  'the end of a soak wakes the promotion by itself': soakWakes,
  'requests that come twice make one of everything': oneOfMany,
};

test('regressions of the spine', { concurrency: 4 }, async (context) => {
  const scene = await setUp(context);
  await Promise.all(Object.entries(CASES).map(([name, body]) => context.test(name, () => body(scene))));
});
