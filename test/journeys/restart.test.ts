/** A controller that is killed goes on at the exact step where it was, and does nothing twice. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { StepRecord } from '../../src/api/kinds/promotion-step.ts';
import { type Controller, eventually, folderFor, startController } from './command-line.ts';
import { startGitFront } from './git-front.ts';
import {
  apply,
  BUNDLE_TOKEN,
  connect,
  deploy,
  deployment,
  deploySteady,
  git,
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
} from './scene.ts';

const kill = async (controller: Controller): Promise<void> => {
  controller.child.kill('SIGKILL');
  await controller.ended;
};

/** Git processes of a controller on that data directory, by id. */
const gitProcesses = (dataDir: string): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const [line, environment] = ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'latin1'));
      return /^[^\0]*git/.test(line ?? '') && `${line}${environment}`.includes(dataDir);
    } catch {
      return false;
    }
  });

/** What a restart must not touch. */
const finished = (records: readonly StepRecord[] | undefined): readonly StepRecord[] =>
  (records ?? []).filter((record) => record.state === 'Succeeded');

const setUp = async (context: TestContext) => {
  const folder = await folderFor(context);
  const repository = await makeRepository(join(folder, 'web.git'), { 'prod/kustomization.yaml': overlay('web') });
  const front = await startGitFront(context, folder);
  const run = () => startController(context, join(folder, 'data'), '--bundle-api-token', BUNDLE_TOKEN);
  const controller = await run();
  const store = await connect(context, controller.kubeconfig);
  const again = async () => {
    const next = await run();
    return { controller: next, store: await connect(context, next.kubeconfig) };
  };
  return { repository, front, controller, store, again, dataDir: join(folder, 'data') };
};

test('killed while a push is on its way, or its answer, the promotion goes on at git-push and leaves one commit', async (context) => {
  const { repository, front, controller, store, again } = await setUp(context);
  await deploySteady(store);
  await apply(store, pipeline('web', `${front.url}/web.git`, [{ name: 'prod', path: 'prod', health: settledIn('0s') }]));
  let held = 0;
  const forever = new Promise<void>(() => undefined);
  front.rule = ({ push }) => {
    if (push) held += 1;
    return push ? { before: forever } : {};
  };
  const bundle = await post(controller.http, 'web', '1.0');
  await eventually(async () => (held > 0 ? true : undefined), 'the push has left');
  const before = await stepOf(store, bundle, 'prod');
  assert.deepEqual(
    before?.status?.steps?.map((record) => `${record.name} ${record.state}`),
    ['git-clone Succeeded', 'overlay-set-image Succeeded', 'git-commit Succeeded', 'git-push Running', 'health-check Pending'],
  );
  await kill(controller);
  assert.equal(landed(repository).length, 0, 'the held push never arrived');

  // The next controller pushes for real, but dies before it hears of it.
  front.rule = ({ push }) => ({ withhold: push });
  const second = await again();
  await eventually(async () => (landed(repository).length > 0 ? true : undefined), 'the push has arrived');
  const unheard = await stepOf(second.store, bundle, 'prod');
  assert.deepEqual(finished(unheard?.status?.steps), finished(before?.status?.steps), 'nothing before git-push was done again');
  assert.notEqual(recordOf(unheard, 'git-push')?.state, 'Succeeded');
  await kill(second.controller);

  front.rule = () => ({});
  const third = await again();
  await reaches(third.store, bundle, 'Verified');
  const after = await stepOf(third.store, bundle, 'prod');
  assert.deepEqual(finished(after?.status?.steps).slice(0, 3), finished(before?.status?.steps));
  assert.equal(recordOf(after, 'git-push')?.startedAt, recordOf(before, 'git-push')?.startedAt, 'it is the same git-push');
  assert.equal(landed(repository).length, 1, 'one commit');
  assert.equal(after?.status?.outputs?.['git.commit'], git(repository, 'rev-parse', 'main').trim());
  assert.deepEqual(
    after?.status?.transitions?.map((transition) => transition.to),
    ['Promoting', 'HealthChecking', 'Verified'],
  );
});

test('killed while the file to edit is on its way, the promotion goes on at the edit and not at the beginning', async (context) => {
  const { repository, front, controller, store, again } = await setUp(context);
  await deploySteady(store);
  const forever = new Promise<void>(() => undefined);
  const editing = async () => recordOf(await stepOf(store, 'web-1.0', 'prod'), 'overlay-set-image')?.state === 'Running';
  let hold = true;
  let held = 0;
  // The first conversation brings commits and folders; the next one is about the file.
  let conversations = 0;
  front.rule = ({ path }) => {
    if (path.includes('/info/refs')) conversations += 1;
    if (!hold || conversations < 2) return {};
    held += 1;
    return { before: forever };
  };
  await apply(store, pipeline('web', `${front.url}/web.git`, [{ name: 'prod', path: 'prod', health: settledIn('0s') }]));
  const bundle = await post(controller.http, 'web', '1.0');
  await eventually(async () => (held > 0 && (await editing()) ? true : undefined), 'the file is asked for');
  const before = await stepOf(store, bundle, 'prod');
  await kill(controller);
  hold = false;
  const second = await again();
  await reaches(second.store, bundle, 'Verified');
  const after = await stepOf(second.store, bundle, 'prod');
  assert.deepEqual(recordOf(after, 'git-clone'), recordOf(before, 'git-clone'));
  assert.equal(recordOf(after, 'overlay-set-image')?.startedAt, recordOf(before, 'overlay-set-image')?.startedAt);
  assert.equal(landed(repository).length, 1);
});

test('killed while health is being checked, it goes on checking and asks Git for nothing', async (context) => {
  const { repository, front, controller, store, again } = await setUp(context);
  await deploy(store, deployment('prod', 'web', { image: 'registry.example/web:1.0', available: false }));
  await apply(store, pipeline('web', `${front.url}/web.git`, [{ name: 'prod', path: 'prod' }]));
  const bundle = await post(controller.http, 'web', '1.0');
  const before = await stepWhen(store, [bundle, 'prod'], (step) => step.status?.health?.reason === 'NotAvailable', 'health was looked at');
  await kill(controller);
  const asked = front.asked.length;
  const second = await again();
  await deploy(second.store, deployment('prod', 'web', { image: 'registry.example/web:1.0' }));
  await reaches(second.store, bundle, 'Verified');
  const after = await stepOf(second.store, bundle, 'prod');
  assert.deepEqual(finished(after?.status?.steps).slice(0, 4), finished(before.status?.steps));
  assert.equal(after?.status?.health?.since, before.status?.health?.since, 'the same health check');
  assert.equal(front.asked.length, asked, 'no request to the Git server');
  assert.equal(landed(repository).length, 1);
});

test('killed while a fetch hangs, what it left behind is ended by the next controller, which fetches', {
  skip: process.platform !== 'linux',
}, async (context) => {
  const { repository, front, controller, store, again, dataDir } = await setUp(context);
  await deploySteady(store);
  const forever = new Promise<void>(() => undefined);
  front.rule = () => ({ before: forever });
  await apply(store, pipeline('web', `${front.url}/web.git`, [{ name: 'prod', path: 'prod', health: settledIn('0s') }]));
  const bundle = await post(controller.http, 'web', '1.0');
  await eventually(async () => (front.asked.length > 0 ? true : undefined), 'the fetch has left');
  await kill(controller);
  const left = gitProcesses(dataDir);
  assert.ok(left.length > 0, 'the fetch hangs on without its controller');
  front.rule = () => ({});
  const second = await again();
  await reaches(second.store, bundle, 'Verified');
  const now = gitProcesses(dataDir);
  assert.deepEqual(
    left.filter((pid) => now.includes(pid)),
    [],
    'nothing of the first controller is left',
  );
  const step = await stepOf(second.store, bundle, 'prod');
  assert.equal(recordOf(step, 'git-clone')?.attempts, 1, 'the attempt that never ended is not a failed one');
  assert.equal(landed(repository).length, 1);
});
