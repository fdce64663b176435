import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../test/contract/manual-clock.ts';
import { makeScene, type Scene } from '../../test/fixtures/scene.ts';
import { bundle, gate, graphOf, NOW, pipeline, SHA, stepOf } from '../../test/fixtures/worlds.ts';
import { createClusterReader } from '../adapters/cluster-store.ts';
import type { Graph } from '../api/kinds/graph.ts';
import type { Resource } from '../api/meta.ts';
import { done } from '../api/outcome.ts';
import type { ActivityEffect } from '../core/effect.ts';
import { settle } from '../core/step/settle.ts';
import type { Store, StoreError } from '../ports/store.ts';
import type { Key, Reconciled } from './keys.ts';
import { type ReconcilePorts, reconcile, stillWanted } from './reconcile.ts';

const b = bundle('b', { phase: 'Promoting', sequence: 1 });
const graph = graphOf(b);
const OBJECTS: readonly Resource[] = [pipeline(), b, graph, stepOf(graph, 'test')];

const keyOf = (kind: Reconciled, name: string): Key => ({ kind, namespace: 'default', name });
const STEP = keyOf('PromotionStep', 'b.test');

interface Desk {
  readonly scene: Scene;
  readonly ports: ReconcilePorts;
  readonly started: { readonly effect: ActivityEffect; readonly since: number }[];
  /** How often a worker was given back. */
  readonly freed: () => number;
  readonly look: (key: Key, fresh?: boolean) => ReturnType<typeof reconcile>;
}

const deskOf = (
  objects: readonly Resource[] = OBJECTS,
  change: (store: Store) => Store = (store) => store,
  answer: 'started' | 'outdated' = 'started',
): Desk => {
  const scene = makeScene(objects);
  const started: { effect: ActivityEffect; since: number }[] = [];
  const { fresh: _, ...context } = scene.context;
  let marks = 0;
  const ports: ReconcilePorts = {
    context: { ...context, store: change(scene.store) },
    cluster: createClusterReader(scene.store),
    clock: manualClock(NOW),
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    activities: () => ({
      mark: () => {
        assert.equal(scene.reads.length, 0, 'the mark is taken before anything is read');
        marks += 1;
        return marks;
      },
      start: (effect, since) => {
        started.push({ effect, since });
        return answer;
      },
    }),
  };
  let freed = 0;
  const look: Desk['look'] = (key, fresh = false) => {
    scene.reads.length = 0;
    return reconcile(ports, key, {
      fresh,
      decided: () => {
        freed += 1;
      },
    });
  };
  return { scene, ports, started, freed: () => freed, look };
};

const stateOfStep = async ({ scene }: Desk, name = 'b.test'): Promise<string | undefined> => {
  const read = await scene.store.get('PromotionStep', 'default', name);
  return read.ok ? (read.value.status?.state ?? 'Pending') : undefined;
};

const refusing =
  (error: StoreError['code']) =>
  (store: Store): Store => ({
    ...store,
    updateStatus: async () => ({ ok: false, error: { code: error, message: 'no' } }),
  });

test('a look writes what the decision says, and the next one starts its activity with the mark from before its reads', async () => {
  const desk = deskOf();
  assert.deepEqual(await desk.look(STEP), { next: 'rest' });
  assert.equal(await stateOfStep(desk), 'Promoting');
  assert.equal(desk.started.length, 0);
  assert.deepEqual(await desk.look(STEP), { next: 'rest' });
  assert.deepEqual(
    desk.started.map(({ effect, since }) => [effect.kind, since]),
    [['GitFetch', 2]],
  );
  const events = await desk.scene.store.list('AuditEvent');
  assert.equal(events.ok && events.value.items.length, 1);
});

test('each kind is looked at by its own decision, and what is gone is left to rest', async () => {
  const accepted = { type: 'Accepted', status: 'True', reason: 'Valid', message: '', lastTransitionTime: new Date(NOW).toISOString() };
  const available = bundle('b', { phase: 'Available', sequence: 1 });
  const judged: Graph = { ...graph, status: { conditions: [accepted] } };
  const desk = deskOf([pipeline(), available, judged]);
  // The first look makes the Graph follow the Pipeline.
  await desk.look(keyOf('Bundle', 'b'));
  await desk.look(keyOf('Bundle', 'b'));
  const read = await desk.scene.store.get('Bundle', 'default', 'b');
  assert.equal(read.ok && read.value.status?.phase, 'Promoting');
  await desk.look(keyOf('Graph', 'b'));
  assert.equal(await stateOfStep(desk), 'Pending');
  await desk.look(keyOf('Pipeline', 'web'));
  const own = await desk.scene.store.get('Pipeline', 'default', 'web');
  assert.equal(own.ok && own.value.status?.conditions?.[0]?.type, 'Ready');
  assert.deepEqual(await desk.look(keyOf('PromotionStep', 'nope')), { next: 'rest' });
});

test('a look that is told to reads the latest', async () => {
  const desk = deskOf();
  await desk.look(keyOf('Bundle', 'b'), true);
  assert.ok(desk.scene.reads.length > 3);
  assert.ok(desk.scene.reads.every(({ fresh }) => fresh));
});

test('a look whose reads are refused has failed and writes nothing', async () => {
  const desk = deskOf(OBJECTS, (store) => ({
    ...store,
    list: async () => ({ ok: false, error: { code: 'Unavailable', message: 'no' } }),
  }));
  assert.deepEqual(await desk.look(STEP), { next: 'failed' });
  assert.equal(await stateOfStep(desk), 'Pending');
});

test('a look whose write is refused has failed, starts nothing, and has given its worker back', async () => {
  for (const code of ['Conflict', 'Unavailable', 'Invalid'] as const) {
    const desk = deskOf(OBJECTS, refusing(code));
    assert.deepEqual(await desk.look(STEP), { next: 'failed' });
    assert.deepEqual([desk.started.length, desk.freed()], [0, 1]);
  }
});

test('a look that is out of date has failed, so that the next one reads the latest', async () => {
  const desk = deskOf(OBJECTS, undefined, 'outdated');
  await desk.look(STEP);
  assert.deepEqual(await desk.look(STEP), { next: 'failed' });
});

test('a look that waits for a time says when', async () => {
  const nextTryAt = new Date(NOW + 4000).toISOString();
  const waiting = stepOf(graph, 'test', {
    state: 'Promoting',
    attempt: 1,
    started: { git: pipeline().spec?.git ?? {}, environment: { name: 'test' } },
    steps: [{ name: 'git-clone', state: 'Failed', attempts: 3, nextTryAt, reason: 'GitTimeout', message: 'no' }],
  });
  const desk = deskOf([pipeline(), b, graph, waiting]);
  // The first look writes what was missing (the generation), the second has nothing to do but wait.
  await desk.look(STEP);
  assert.deepEqual(await desk.look(STEP), { next: 'at', time: NOW + 4000 });
});

/** A desk whose step stands before its push, and that push. */
const beforePush = async (): Promise<{ readonly desk: Desk; readonly push: ActivityEffect }> => {
  const desk = deskOf();
  await desk.look(STEP);
  for (const result of [
    { result: 'fetched', tip: SHA },
    { result: 'previewed', files: ['a'] },
    { result: 'committed', commit: 'b'.repeat(40), changed: true },
  ] as const) {
    await desk.look(STEP);
    const effect = desk.started.at(-1)?.effect;
    const read = await desk.scene.store.get('PromotionStep', 'default', 'b.test');
    assert.ok(effect && read.ok);
    const status = settle(read.value, effect, done(result), NOW);
    assert.ok(status);
    await desk.scene.store.updateStatus({ ...read.value, status });
  }
  await desk.look(STEP);
  const push = desk.started.at(-1)?.effect;
  assert.equal(push?.kind, 'GitPush');
  assert.ok(push);
  desk.scene.reads.length = 0;
  return { desk, push };
};

test('right before the write, everything is read fresh, and an unchanged world still wants exactly this push', async () => {
  const { desk, push } = await beforePush();
  assert.equal(await stillWanted(desk.ports, push), true);
  assert.ok(desk.scene.reads.length > 3 && desk.scene.reads.every(({ fresh }) => fresh));
});

test('a push is not wanted any more once anything that the decision reads says otherwise', async () => {
  const going: readonly (readonly [string, (scene: Scene) => void])[] = [
    ['a gate', (scene) => scene.put(gate('default', 'freeze', ['test']))],
    ['a newer Bundle', (scene) => scene.put(bundle('n', { phase: 'Promoting', sequence: 2 }, { version: '2' }))],
    ['a Bundle without a place', (scene) => scene.put(bundle('n', {}, { version: '2' }))],
    ['the end of the Bundle', (scene) => scene.put(bundle('b', { phase: 'Superseded', sequence: 1 }))],
    ['no Bundle', (scene) => scene.remove(b)],
    ['another Bundle of the name', (scene) => scene.put({ ...b, metadata: { ...b.metadata, uid: 'another' } })],
    ['no Graph', (scene) => scene.remove(graph)],
    ['no Pipeline', (scene) => scene.remove(pipeline())],
    ['no step', (scene) => scene.remove(stepOf(graph, 'test'))],
    ['a step made anew', (scene) => scene.put(stepOf(graph, 'test'))],
    ['a label taken away', (scene) => scene.put({ ...b, metadata: { ...b.metadata, labels: {} } })],
  ];
  for (const [what, happens] of going) {
    const { desk, push } = await beforePush();
    happens(desk.scene);
    assert.equal(await stillWanted(desk.ports, push), false, what);
  }
});

test('another push than this very one is not wanted, nor any while the store cannot be asked', async () => {
  const { desk, push } = await beforePush();
  assert.equal(await stillWanted(desk.ports, { ...push, branch: 'other' }), false);
  assert.equal(await stillWanted(desk.ports, { ...push, attempt: 2 }), false);
  const away: Store = { ...desk.scene.store, get: async () => ({ ok: false, error: { code: 'Unavailable', message: 'no' } }) };
  assert.equal(await stillWanted({ ...desk.ports, context: { ...desk.ports.context, store: away } }, push), false);
  const edited = pipeline([{ name: 'test', path: 'elsewhere' }, { name: 'prod' }]);
  desk.scene.put(edited);
  assert.equal(await stillWanted(desk.ports, push), true, 'an edit does not reach what has started');
});
