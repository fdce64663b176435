import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeScene, type Scene } from '../../test/fixtures/scene.ts';
import { bundle, deployment, gate, graphOf, NOW, ownedBy, pipeline, step, stepOf } from '../../test/fixtures/worlds.ts';
import { createClusterReader } from '../adapters/cluster-store.ts';
import type { AuditEvent } from '../api/kinds/audit-event.ts';
import type { PromotionStepStatus } from '../api/kinds/promotion-step.ts';
import { API_VERSION } from '../api/meta.ts';
import { done, type Outcome } from '../api/outcome.ts';
import { startedName } from '../core/audit/due.ts';
import { decideStep } from '../core/step/decide.ts';
import type { ClusterReader } from '../ports/cluster.ts';
import { gatherBundle, gatherGraph, gatherPipeline, gatherStep } from './gather.ts';

const key = (name: string) => ({ namespace: 'default', name });
const b = bundle('b', { phase: 'Promoting', sequence: 1 });
const graph = graphOf(b);
const event = (name: string): AuditEvent => ({ apiVersion: API_VERSION, kind: 'AuditEvent', metadata: { name, namespace: 'default' } });
const started = (state: string): PromotionStepStatus => ({
  state,
  attempt: 1,
  started: { git: { url: 'https://git.example/d.git' }, environment: { name: 'test' } },
  transitions: [{ at: new Date(NOW).toISOString(), from: 'Pending', to: 'Promoting', reason: 'Promoting', message: '', attempt: 1 }],
});

const read = async <World>(gathered: Promise<{ readonly ok: boolean; readonly value?: World | undefined }>): Promise<World> => {
  const answer = await gathered;
  assert.ok(answer.ok && answer.value !== undefined);
  return answer.value;
};

const bundleIn = (scene: Scene, name = 'b') => read(gatherBundle(scene.context, key(name)));
const stepIn = (scene: Scene, name = 'b.test', cluster: ClusterReader = createClusterReader(scene.store)) =>
  read(gatherStep(scene.context, cluster, key(name)));
const kindsRead = (scene: Scene) => [...new Set(scene.reads.map(({ kind }) => kind))].sort();
const notFresh = (scene: Scene) => scene.reads.filter(({ fresh }) => !fresh).map(({ kind, name }) => `${kind} ${name}`);

test('what does not exist has no World', async () => {
  const { context, store } = makeScene();
  for (const gathered of [
    gatherBundle(context, key('b')),
    gatherGraph(context, key('b')),
    gatherPipeline(context, key('web')),
    gatherStep(context, createClusterReader(store), key('b.test')),
  ]) {
    assert.deepEqual(await gathered, { ok: true, value: undefined });
  }
});

test('a read that is refused ends the gathering with its reason; what throws is a bug and stays one', async () => {
  const { context } = makeScene([b]);
  const unreadable = { code: 'Unavailable', message: 'no' } as const;
  const store = { ...context.store, list: async () => ({ ok: false, error: unreadable }) as const };
  assert.deepEqual(await gatherBundle({ ...context, store }, key('b')), { ok: false, error: unreadable });
  const buggy = { ...context.store, get: () => Promise.reject(new TypeError('a bug')) };
  await assert.rejects(gatherBundle({ ...context, store: buggy }, key('b')), TypeError);
});

test('a Bundle sees the Graph that it owns and the steps that this Graph owns, by uid', async () => {
  const scene = makeScene([b, pipeline(), graph, stepOf(graph, 'test')]);
  const world = await bundleIn(scene);
  assert.deepEqual([world.graph?.metadata.uid, world.steps.length, world.graphTaken], [graph.metadata.uid, 1, false]);
  assert.deepEqual(
    world.siblings.map((sibling) => sibling.metadata.name),
    ['b'],
  );

  // Made again under the same name while the collector has not come by yet.
  scene.put({ ...b, metadata: { ...b.metadata, uid: 'second' } });
  const again = await bundleIn(scene);
  assert.deepEqual([again.graph, again.steps.length, again.graphTaken], [undefined, 0, true]);
});

test('steps of a former Graph of the same name, or without an owner, are not those of the Graph', async () => {
  const former = { ...graph, metadata: { ...graph.metadata, uid: 'former' } };
  const { ownerReferences: _, ...orphaned } = stepOf(graph, 'prod').metadata;
  const scene = makeScene([b, graph, stepOf(former, 'test'), { ...stepOf(graph, 'prod'), metadata: { ...orphaned, name: 'orphan' } }]);
  assert.deepEqual((await bundleIn(scene)).steps, []);
  assert.deepEqual((await read(gatherGraph(scene.context, key('b')))).steps, []);
});

test('a Graph without an owner, or of another Bundle, is nobody`s', async () => {
  for (const owner of [undefined, { ...b, metadata: { ...b.metadata, uid: 'another' } }]) {
    const { ownerReferences: _, ...bare } = graph.metadata;
    const foreign = owner ? ownedBy(owner, graph) : { ...graph, metadata: bare };
    const scene = makeScene([b, foreign, stepOf(foreign, 'test')]);
    const world = await bundleIn(scene);
    assert.deepEqual([world.graph, world.graphTaken, world.steps], [undefined, true, []]);
    const seen = await read(gatherGraph(scene.context, key('b')));
    assert.deepEqual([seen.bundle, seen.steps], [undefined, []]);
  }
});

test('a step belongs to the Bundle only through its Graph: what a former one left behind pushes nothing', async () => {
  const second = { ...b, metadata: { ...b.metadata, uid: 'second' } };
  const fresh = graphOf(second);
  const left = stepOf(graph, 'test', { ...started('Promoting'), steps: [{ name: 'git-clone', state: 'Running', attempts: 0 }] });
  const scene = makeScene([second, pipeline(), fresh, left]);
  const world = await stepIn(scene);
  assert.equal(world.bundle, undefined);
  const decision = decideStep(world, NOW);
  assert.deepEqual([decision.writes, decision.activity, decision.reason.code], [[], undefined, 'BundleGone']);

  const { ownerReferences: _, ...bare } = left.metadata;
  assert.equal((await stepIn(makeScene([second, pipeline(), fresh, { ...left, metadata: bare }]))).bundle, undefined);
  assert.equal((await stepIn(makeScene([b, pipeline(), left]))).bundle, undefined, 'without its Graph');
  assert.equal((await stepIn(makeScene([second, pipeline(), graph, left]))).bundle, undefined, 'with a Graph of the former Bundle');
  assert.equal((await stepIn(makeScene([b, pipeline(), graph, left]))).bundle?.metadata.uid, 'b-uid');
});

test('a Bundle without a place reads everything but itself fresh, so that the order is settled on the latest', async () => {
  const scene = makeScene([bundle('b'), pipeline()]);
  await bundleIn(scene);
  assert.deepEqual(notFresh(scene), ['Bundle b', 'Graph b']);
  const placed = makeScene([b, pipeline(), graph]);
  await bundleIn(placed);
  assert.equal(
    placed.reads.some(({ fresh }) => fresh),
    false,
  );
});

test('a finished Bundle reads its last records fresh while it has a Graph, and nothing that it does not need', async () => {
  const ended = bundle('b', { phase: 'Superseded', sequence: 1 });
  const scene = makeScene([ended, pipeline(), gate('default', 'g', ['test']), graph, stepOf(graph, 'test', started('Promoting'))]);
  const world = await bundleIn(scene);
  assert.equal(world.steps.length, 1);
  assert.deepEqual(notFresh(scene), ['Bundle b', 'Graph b']);
  assert.deepEqual(kindsRead(scene), ['AuditEvent', 'Bundle', 'Graph', 'PromotionStep']);
  assert.deepEqual([world.pipeline, world.siblings, world.gates.gates], [undefined, [], []]);

  const alone = makeScene([ended, pipeline()]);
  await bundleIn(alone);
  assert.deepEqual(
    alone.reads.map(({ kind, fresh }) => [kind, fresh]),
    [
      ['Bundle', false],
      ['Graph', false],
    ],
  );
});

test('a step that has not started reads everything fresh that it starts with, its Graph and its siblings included', async () => {
  const scene = makeScene([b, pipeline(), graph, stepOf(graph, 'test'), stepOf(graph, 'prod')]);
  const world = await stepIn(scene);
  assert.deepEqual([world.graph?.graph.metadata.uid, world.graph?.steps.length], [graph.metadata.uid, 2]);
  assert.deepEqual(notFresh(scene), ['PromotionStep b.test'], 'only the first look at the step itself');
});

test('a step under way reads no Graph World, and the latest of itself only while it checks health', async () => {
  const scene = makeScene([b, pipeline(), graph, stepOf(graph, 'test', started('Promoting'))]);
  const world = await stepIn(scene);
  assert.deepEqual([world.graph, world.workloads], [undefined, undefined]);
  assert.equal(
    scene.reads.some(({ fresh }) => fresh),
    false,
  );

  const checking = makeScene([b, pipeline(), graph, stepOf(graph, 'test', started('HealthChecking')), deployment('a/b:1')]);
  assert.equal((await stepIn(checking)).workloads?.outcome, 'done');
  assert.deepEqual(
    checking.reads.filter(({ fresh }) => fresh).map(({ kind }) => kind),
    ['PromotionStep'],
  );
});

test('an ended step reads neither its Pipeline nor siblings, gates or workloads', async () => {
  const scene = makeScene([b, pipeline(), gate('default', 'g', ['test']), graph, stepOf(graph, 'test', started('Verified'))]);
  const world = await stepIn(scene);
  assert.deepEqual([world.pipeline, world.siblings, world.gates.gates, world.workloads], [undefined, [], [], undefined]);
  assert.ok(!kindsRead(scene).includes('Pipeline') && !kindsRead(scene).includes('PolicyGate'));
});

test('when asked for the latest, every read is fresh', async () => {
  const scene = makeScene([b, pipeline(), graph, stepOf(graph, 'test', started('Promoting')), stepOf(graph, 'prod')]);
  const context = { ...scene.context, fresh: true };
  const cluster = createClusterReader(scene.store);
  for (const gathered of [
    gatherBundle(context, key('b')),
    gatherGraph(context, key('b')),
    gatherPipeline(context, key('web')),
    gatherStep(context, cluster, key('b.test')),
    gatherStep(context, cluster, key('b.prod')),
  ]) {
    assert.equal((await gathered).ok, true);
  }
  assert.deepEqual(notFresh(scene), []);
});

test('gates are those of the namespace and of the policy namespace, each once', async () => {
  const gates = [gate('default', 'team', ['test']), gate('platform-policies', 'org', ['test']), gate('elsewhere', 'other', ['test'])];
  const scene = makeScene([b, pipeline(), graph, ...gates]);
  assert.deepEqual(
    (await bundleIn(scene)).gates.gates.map((found) => found.metadata.name),
    ['org', 'team'],
  );
  const same = { ...scene.context, policyNamespace: 'default' };
  assert.deepEqual(
    (await read(gatherGraph(same, key('b')))).gates.gates.map((found) => found.metadata.name),
    ['team'],
  );
});

test('workloads are one Deployment by name, or those that the labels select, in the cluster that is named', async () => {
  const asked: unknown[] = [];
  const answer = async (...args: unknown[]): Promise<Outcome<readonly never[]>> => {
    asked.push(args);
    return done([]);
  };
  const cluster: ClusterReader = {
    deployment: async (...args) => {
      await answer('one', ...args);
      return done(undefined);
    },
    deployments: (...args) => answer('all', ...args),
  };
  const healths = [{}, { labelSelector: { app: 'web' } }, { cluster: 'remote', resource: { name: 'api', namespace: 'apps' } }];
  for (const health of healths) {
    const status = { ...started('HealthChecking'), started: { git: {}, environment: { name: 'test', health } } };
    const world = await stepIn(makeScene([b, pipeline(), graph, stepOf(graph, 'test', status)]), 'b.test', cluster);
    assert.deepEqual(world.workloads, done([]));
  }
  const local = { cluster: 'local' };
  assert.deepEqual(asked, [
    ['one', local, 'test', 'web'],
    ['all', local, 'test', { app: 'web' }],
    ['one', { cluster: 'remote', kubeconfig: { namespace: 'default', name: 'remote' } }, 'apps', 'api'],
  ]);
});

test('events that exist are known by the very names that would be made', async () => {
  const name = startedName(b, 'test', 1);
  const objects = [b, pipeline(), graph, stepOf(graph, 'test', started('Promoting'))];
  assert.deepEqual([...(await stepIn(makeScene(objects))).audits], []);
  assert.deepEqual([...(await stepIn(makeScene([...objects, event(name)]))).audits], [name]);
  assert.deepEqual([...(await bundleIn(makeScene([...objects, event(name), event('another')]))).audits], [name]);
  const lost = await stepIn(makeScene([b, pipeline(), graph, stepOf(graph, 'test'), event(name)]));
  assert.deepEqual([...lost.audits], [name], 'also when the status that says so was lost');
});

test('a Pipeline asks for the events of those Bundles only that are past its history', async () => {
  const bundles = [1, 2, 3].map((sequence) => {
    const own = bundle(`b${sequence}`, { phase: 'Superseded', sequence });
    const transitions = [{ at: new Date(NOW).toISOString(), from: 'Promoting', to: 'Superseded', reason: 'Superseded', message: '' }];
    return { ...own, status: { ...own.status, transitions } };
  });
  const scene = makeScene([pipeline(undefined, { historyLimit: 2 }), ...bundles, step('test')]);
  const world = await read(gatherPipeline(scene.context, key('web')));
  assert.deepEqual([world.bundles.length, [...world.audits.keys()]], [3, ['b1']]);
  assert.equal(scene.reads.filter(({ kind }) => kind === 'AuditEvent').length, 1);
});
