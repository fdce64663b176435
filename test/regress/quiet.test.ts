/** Defects of systems that never rest, fetch too much, or stop without a word. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { createGit } from '../../src/adapters/git/index.ts';
import { createSecrets } from '../../src/adapters/secrets-store.ts';
import { openSqliteStore } from '../../src/adapters/store-sqlite/index.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { admit } from '../../src/api/admission.ts';
import type { Bundle } from '../../src/api/kinds/bundle.ts';
import { API_VERSION } from '../../src/api/meta.ts';
import { done } from '../../src/api/outcome.ts';
import { startControllers } from '../../src/controller/index.ts';
import type { ClusterReader } from '../../src/ports/cluster.ts';
import type { Store } from '../../src/ports/store.ts';
import { folderFor, startController } from '../journeys/command-line.ts';
import { startGitFront } from '../journeys/git-front.ts';
import {
  apply,
  BUNDLE_TOKEN,
  connect,
  deploy,
  deployment,
  deploySteady,
  landed,
  makeRepository,
  overlay,
  pipeline,
  post,
  reaches,
  recordOf,
  settledIn,
  stepOf,
  stepWhen,
} from '../journeys/scene.ts';

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The version of the last write of all kinds. */
const lastWrite = async (store: Store): Promise<string> => {
  const read = await store.list('Pipeline', { fresh: true });
  assert.ok(read.ok);
  return read.value.resourceVersion;
};

const objects = async (store: Store): Promise<readonly number[]> => {
  const kinds = ['Bundle', 'Graph', 'PromotionStep', 'AuditEvent', 'PolicyGate', 'Event'] as const;
  const lists = await Promise.all(kinds.map((kind) => store.list(kind, { fresh: true })));
  return lists.map((read) => (read.ok ? read.value.items.length : -1));
};

const oneEnvironment = (health = settledIn('0s')) => [{ name: 'prod', path: 'prod', health }];

const waitingForHealth = { type: 'resource', resource: { namespace: 'ill' } };

test('while nothing changes there is no write, no request and no new object, and a refusal is asked about ever more rarely', async (context) => {
  const folder = await folderFor(context);
  const names = ['verified', 'failed', 'ill', 'refused'];
  for (const name of names) {
    const file = name === 'failed' ? 'prod/other.yaml' : 'prod/kustomization.yaml';
    await makeRepository(join(folder, `${name}.git`), { [file]: overlay(name) });
  }
  const quiet = await startGitFront(context, folder);
  const refusing = await startGitFront(context, folder);
  refusing.rule = () => ({ status: 403 });
  const controller = await startController(context, join(folder, 'data'), '--bundle-api-token', BUNDLE_TOKEN);
  const store = await connect(context, controller.kubeconfig);
  await deploySteady(store);
  await deploy(store, deployment('ill', 'ill', { image: 'registry.example/ill:1.0', available: false }));
  for (const name of names) {
    const url = `${name === 'refused' ? refusing.url : quiet.url}/${name}.git`;
    await apply(store, pipeline(name, url, oneEnvironment(name === 'ill' ? waitingForHealth : settledIn('0s'))));
    await post(controller.http, name, '1.0');
  }
  await reaches(store, 'verified-1.0', 'Verified');
  await reaches(store, 'failed-1.0', 'Failed');
  await stepWhen(store, ['ill-1.0', 'prod'], (step) => step.status?.health?.reason === 'NotAvailable', 'waits for health');
  const attempts = async () => recordOf(await stepOf(store, 'refused-1.0', 'prod'), 'git-clone')?.attempts ?? 0;
  await stepWhen(store, ['refused-1.0', 'prod'], (step) => (recordOf(step, 'git-clone')?.attempts ?? 0) >= 4, 'was refused four times');

  // After four refusals the pause is eight seconds: the next four hold nothing that anybody would have to do.
  const before = {
    write: await lastWrite(store),
    asked: quiet.asked.length,
    refused: refusing.asked.length,
    objects: await objects(store),
  };
  const tried = await attempts();
  await pause(4000);
  assert.equal(await attempts(), tried);
  assert.equal(refusing.asked.length, before.refused);
  assert.equal(quiet.asked.length, before.asked);
  assert.equal(await lastWrite(store), before.write);
  assert.deepEqual(await objects(store), before.objects);
  await deploySteady(store).then(() => deploy(store, deployment('steady', 'another')));
  assert.notEqual(await lastWrite(store), before.write, 'a write would have shown');
});

test('a promotion fetches what it edits, the first time and every time after, not the repository', async (context) => {
  const folder = await folderFor(context);
  const ballast = Array.from({ length: 300 }, (_, index) => [`docs/${index % 20}/${index}.txt`, randomBytes(8000).toString('base64')]);
  const repository = await makeRepository(join(folder, 'big.git'), {
    ...Object.fromEntries(ballast),
    'prod/kustomization.yaml': overlay('big'),
  });
  const size = 300 * 8000;
  const front = await startGitFront(context, folder);
  const controller = await startController(context, join(folder, 'data'), '--bundle-api-token', BUNDLE_TOKEN);
  const store = await connect(context, controller.kubeconfig);
  await deploySteady(store);
  await apply(store, pipeline('big', `${front.url}/big.git`, oneEnvironment()));
  await reaches(store, await post(controller.http, 'big', '1.0'), 'Verified');
  const first = front.answered;
  assert.ok(first < size / 10, `the first promotion fetched ${first} bytes of ${size}`);
  await reaches(store, await post(controller.http, 'big', '2.0'), 'Verified');
  const second = front.answered - first;
  assert.ok(second < size / 100, `the second promotion fetched ${second} bytes of ${size}`);
  assert.equal(landed(repository).length, 2);
});

const bundle = (name: string): Bundle => ({
  apiVersion: API_VERSION,
  kind: 'Bundle',
  metadata: { name, namespace: 'default', labels: { 'promoter.io/pipeline': name } },
  spec: { type: 'image', pipeline: name, images: [{ repository: `registry.example/${name}`, tag: '1.0' }] },
});

test('a bug in one look and watches that break off stop nobody else, and are got over', async (context) => {
  const folder = await folderFor(context);
  const opened = await openSqliteStore({ directory: join(folder, 'store'), clock: systemClock, admit });
  assert.ok(opened.outcome === 'done');
  const store = opened.value;
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const git = await createGit({
    directory: join(folder, 'git'),
    secrets: createSecrets(store),
    clock: systemClock,
    log,
    allowFileUrls: true,
  });
  assert.ok(git.outcome === 'done');
  const names = ['sound', 'buggy'];
  let bugs = 0;
  const cluster: ClusterReader = {
    deployment: async (_, namespace) => {
      if (namespace === 'buggy' && bugs < 3) {
        bugs += 1;
        throw new TypeError('a bug of this test');
      }
      return done(deployment('steady', 'steady'));
    },
    deployments: async () => done([]),
  };
  let broken = 0;
  const breaking: Store = {
    ...store,
    get: (...args) => store.get(...args),
    list: (...args) => store.list(...args),
    create: (...args) => store.create(...args),
    update: (...args) => store.update(...args),
    updateStatus: (...args) => store.updateStatus(...args),
    delete: (...args) => store.delete(...args),
    watch: async function* (kind, options) {
      // Every watch ends after three events, one way or the other.
      let left = 3;
      for await (const event of store.watch(kind, options)) {
        yield event;
        left -= 1;
        if (left > 0) continue;
        broken += 1;
        if (broken % 2 === 0) yield { type: 'ERROR', error: { code: 'Expired', message: 'too old' } };
        return;
      }
    },
  };
  const controllers = startControllers({ store: breaking, git: git.value, cluster, clock: systemClock, log });
  context.after(async () => {
    await controllers.stop();
    await git.value.close();
    await opened.value.close();
  });
  for (const name of names) {
    const repository = await makeRepository(join(folder, `${name}.git`), { 'prod/kustomization.yaml': overlay(name) });
    const health = { type: 'resource', resource: { namespace: name }, settle: '0s' };
    await apply(store, pipeline(name, `file://${repository}`, oneEnvironment(health)));
    await apply(store, bundle(name));
  }
  for (const name of names) await reaches(store, name, 'Verified');
  assert.equal(bugs, 3);
  assert.ok(broken > 0, 'watches did break off');
  assert.equal(controllers.ready(), true);
});
