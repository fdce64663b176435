/** Supersession and retention with a real repository: what goes, what stays. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Store } from '../../src/ports/store.ts';
import { eventually, folderFor, startController } from './command-line.ts';
import { type GitFront, startGitFront } from './git-front.ts';
import {
  apply,
  BUNDLE_TOKEN,
  bundleOf,
  connect,
  deploy,
  deployment,
  deploySteady,
  fileAt,
  landed,
  makeRepository,
  overlay,
  pipeline,
  post,
  reaches,
  settledIn,
  stepOf,
  stepWhen,
} from './scene.ts';

const setUp = async (context: TestContext) => {
  const folder = await folderFor(context);
  const files = { 'test/kustomization.yaml': overlay('web'), 'prod/kustomization.yaml': overlay('web') };
  const repository = await makeRepository(join(folder, 'web.git'), files);
  const front: GitFront = await startGitFront(context, folder);
  const controller = await startController(context, join(folder, 'data'), '--bundle-api-token', BUNDLE_TOKEN);
  const store = await connect(context, controller.kubeconfig);
  await deploySteady(store);
  return { repository, url: `${front.url}/web.git`, front, controller, store };
};

const namesOf = async (store: Store, kind: 'Bundle' | 'Graph' | 'PromotionStep'): Promise<readonly string[]> => {
  const read = await store.list(kind, { fresh: true });
  assert.ok(read.ok);
  return read.value.items.map((item) => item.metadata.name);
};

const events = async (store: Store, bundle: string): Promise<readonly string[]> => {
  const read = await store.list('AuditEvent', { fresh: true, labelSelector: 'promoter.io/pipeline=web' });
  assert.ok(read.ok);
  return read.value.items
    .filter((event) => event.spec?.bundle === bundle)
    .map((event) => `${event.spec?.action} ${event.spec?.environment ?? ''}`.trim())
    .toSorted();
};

test('a newer Bundle supersedes one in flight: its Graph and steps go, its records and audit events stay', async (context) => {
  const { repository, url, controller, store } = await setUp(context);
  await deploy(store, deployment('prod', 'web', { image: 'registry.example/web:1.0', available: false }));
  const environments = [
    { name: 'test', path: 'test', health: settledIn('0s') },
    { name: 'prod', path: 'prod' },
  ];
  await apply(store, pipeline('web', url, environments));
  const older = await post(controller.http, 'web', '1.0');
  const inFlight = await stepWhen(store, [older, 'prod'], (step) => step.status?.state === 'HealthChecking', 'is in flight');
  const newer = await post(controller.http, 'web', '2.0');
  await reaches(store, older, 'Superseded');
  await deploy(store, deployment('prod', 'web', { image: 'registry.example/web:2.0' }));
  await reaches(store, newer, 'Verified');
  await eventually(async () => ((await namesOf(store, 'Graph')).includes(older) ? undefined : true), 'the Graph is gone');
  await eventually(async () => ((await stepOf(store, older, 'prod')) === undefined ? true : undefined), 'the steps are gone');
  assert.equal(await stepOf(store, older, 'test'), undefined);
  const { status } = await bundleOf(store, older);
  assert.match(
    status?.conditions?.find((condition) => condition.type === 'Ready')?.message ?? '',
    /superseded by Bundle web-2\.0 \(2\.0\)/,
  );
  const records = status?.environments ?? [];
  assert.deepEqual(
    records.map((record) => `${record.name} ${record.state}`),
    ['test Verified', 'prod HealthChecking'],
    'in the order in which they were entered',
  );
  assert.equal(records[1]?.commit, inFlight.status?.outputs?.['git.commit'], 'what it had pushed is still known');
  assert.deepEqual(await events(store, older), [
    'PromotionStarted prod',
    'PromotionStarted test',
    'PromotionSucceeded test',
    'PromotionSuperseded',
  ]);
  const read = await store.list('AuditEvent', { labelSelector: 'promoter.io/action=PromotionSuperseded', fresh: true });
  assert.equal(read.ok && read.value.items.length, 1, 'one for the Bundle, found by its label');
  assert.match(fileAt(repository, 'prod/kustomization.yaml'), /newTag: "2\.0"/);
});

test('a Bundle that is superseded while it waits for the server never writes', async (context) => {
  const { repository, url, front, controller, store } = await setUp(context);
  await apply(store, pipeline('web', url, [{ name: 'prod', path: 'prod', health: settledIn('0s') }]));
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  front.rule = () => {
    waiting += 1;
    return { before: gate.promise };
  };
  const older = await post(controller.http, 'web', '1.0');
  await eventually(async () => (waiting > 0 ? true : undefined), 'the older one waits for the server');
  const newer = await post(controller.http, 'web', '2.0');
  await reaches(store, older, 'Superseded');
  front.rule = () => ({});
  gate.resolve();
  await reaches(store, newer, 'Verified');
  assert.deepEqual(
    landed(repository).map((commit) => commit.bundle),
    [newer],
  );
});

test('historyLimit keeps what is live and what a rollback would need, and lets the rest go with its steps', async (context) => {
  const { repository, url, controller, store } = await setUp(context);
  const environments = ['test', 'prod'].map((name) => ({ name, path: name, health: settledIn('0s') }));
  await apply(store, pipeline('web', url, environments, { historyLimit: 1 }));
  const bundles: string[] = [];
  for (const tag of ['1.0', '2.0', '3.0', '4.0']) {
    const bundle = await post(controller.http, 'web', tag);
    await reaches(store, bundle, 'Verified');
    bundles.push(bundle);
  }
  const kept = bundles.slice(2);
  await eventually(async () => ((await namesOf(store, 'Bundle')).join() === kept.join() ? true : undefined), 'two Bundles are left');
  await eventually(async () => ((await namesOf(store, 'Graph')).join() === kept.join() ? true : undefined), 'two Graphs are left');
  await eventually(async () => ((await namesOf(store, 'PromotionStep')).length === 4 ? true : undefined), 'four steps are left');
  assert.equal(landed(repository).length, 8, 'the history of Git is for ever');
  const succeeded = ['PromotionStarted prod', 'PromotionStarted test', 'PromotionSucceeded prod', 'PromotionSucceeded test'];
  for (const bundle of bundles) assert.deepEqual(await events(store, bundle), succeeded, 'audit events outlive their Bundle');
  const finishedOnes = await events(store, bundles[0] ?? '');
  assert.equal(finishedOnes.includes('PromotionSuperseded'), false, 'a finished Bundle is not superseded');
});

test('in a burst of Bundles the newest ends Verified, and no environment ever goes back to an older one', async (context) => {
  const { repository, url, controller, store } = await setUp(context);
  const environments = ['test', 'prod'].map((name) => ({ name, path: name, health: settledIn('0s') }));
  await apply(store, pipeline('web', url, environments));
  const tags = Array.from({ length: 10 }, (_, index) => `${index}.0`);
  const bundles = await Promise.all(tags.map((tag) => post(controller.http, 'web', tag)));
  const ended = await eventually(async () => {
    const all = await Promise.all(bundles.map((bundle) => bundleOf(store, bundle)));
    return all.every((bundle) => ['Verified', 'Superseded'].includes(bundle.status?.phase ?? '')) ? all : undefined;
  }, 'all have ended');
  const place = new Map(ended.map((bundle) => [bundle.metadata.name, bundle.status?.sequence ?? 0]));
  assert.equal(new Set(place.values()).size, tags.length, 'each has a place of its own');
  const newest = ended.find((bundle) => bundle.status?.sequence === Math.max(...place.values()));
  assert.equal(newest?.status?.phase, 'Verified');
  for (const environment of ['test', 'prod']) {
    const written = landed(repository)
      .filter((commit) => commit.environment === environment)
      .map((commit) => place.get(commit.bundle) ?? 0);
    assert.deepEqual(
      written,
      written.toSorted((a, b) => a - b),
      environment,
    );
    assert.match(fileAt(repository, `${environment}/kustomization.yaml`), new RegExp(`newTag: "${newest?.status?.version}"`));
  }
});
