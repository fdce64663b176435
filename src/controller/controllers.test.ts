import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type ManualClock, manualClock } from '../../test/contract/manual-clock.ts';
import { makeScene, type Scene } from '../../test/fixtures/scene.ts';
import { bundle, gate, graphOf, NOW, pipeline, SHA, stepOf } from '../../test/fixtures/worlds.ts';
import { createClusterReader } from '../adapters/cluster-store.ts';
import type { Graph } from '../api/kinds/graph.ts';
import type { PromotionStep } from '../api/kinds/promotion-step.ts';
import type { Resource } from '../api/meta.ts';
import { done, type Outcome } from '../api/outcome.ts';
import { type CommitSha, parseCommitSha } from '../api/repository.ts';
import type { GitPort } from '../ports/git.ts';
import type { Store } from '../ports/store.ts';
import { type Controllers, startControllers } from './index.ts';
import type { Watched } from './watcher.ts';

const b = bundle('b', { phase: 'Promoting', sequence: 1 });
const accepted = { type: 'Accepted', status: 'True', reason: 'Valid', message: '', lastTransitionTime: new Date(NOW).toISOString() };
const graph: Graph = { ...graphOf(b), status: { conditions: [accepted] } };
const freeze = gate('default', 'freeze', ['test']);
const HELD: readonly Resource[] = [pipeline(), b, graph, stepOf(graph, 'test'), freeze];

interface Service {
  readonly scene: Scene;
  readonly clock: ManualClock;
  readonly controllers: Controllers;
  /** Ends the first watch of the kind that reports nothing. */
  readonly breakWatch: () => void;
  /** Ends the fetch that is under way. */
  readonly fetched: () => void;
  readonly fetches: () => number;
  /** Of each watch that was begun. */
  readonly signals: readonly AbortSignal[];
  /** Every push is withdrawn. */
  readonly pushes: () => number;
}

const serviceOf = (objects: readonly Resource[], deaf?: Watched): Service => {
  const scene = makeScene(objects);
  const clock = manualClock(NOW);
  let breakWatch = (): void => {};
  let heard = deaf === undefined;
  const broken = new Promise<void>((resolve) => {
    breakWatch = resolve;
  });
  const signals: AbortSignal[] = [];
  const watch: Store['watch'] = (kind, options) => {
    signals.push(options.signal);
    if (heard || kind !== deaf) return scene.store.watch(kind, options);
    heard = true;
    return { [Symbol.asyncIterator]: () => ({ next: () => broken.then(() => ({ done: true, value: undefined })) }) };
  };
  let fetched = (): void => {};
  let fetches = 0;
  let pushes = 0;
  const tip = parseCommitSha(SHA);
  assert.ok(tip);
  const never = (): Promise<never> => new Promise(() => {});
  const git: GitPort = {
    fetch: () => {
      fetches += 1;
      return new Promise<Outcome<{ tip: CommitSha }>>((resolve) => {
        fetched = () => resolve(done({ tip }));
      });
    },
    preview: never,
    commit: never,
    push: async () => {
      pushes += 1;
      return done({ result: 'withdrawn' });
    },
  };
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => assert.fail('no bug was expected') };
  const store = { ...scene.store, watch };
  const controllers = startControllers({ store, git, cluster: createClusterReader(scene.store), clock, log });
  return { scene, clock, controllers, breakWatch, fetched: () => fetched(), fetches: () => fetches, pushes: () => pushes, signals };
};

const settled = async (rounds = 40): Promise<void> => {
  for (let round = 0; round < rounds; round += 1) await turn();
};

/** Everything has been looked at, and looks that met each other's writes at the start have come again. */
const quiet = async (service: Service): Promise<void> => {
  await settled();
  service.clock.advance(1000);
  await settled();
};

const stepIn = async ({ scene }: Service, name = 'b.test'): Promise<PromotionStep | undefined> => {
  const read = await scene.store.get('PromotionStep', 'default', name);
  return read.ok ? read.value : undefined;
};
const stateIn = async (service: Service, name?: string): Promise<string | undefined> => {
  const step = await stepIn(service, name);
  return step && (step.status?.state ?? 'Pending');
};

test('a gate that goes lets the step that it held start at once', async () => {
  const service = serviceOf(HELD);
  await settled();
  assert.deepEqual([service.controllers.ready(), service.controllers.idle(), await stateIn(service)], [true, true, 'Pending']);
  service.scene.remove(freeze);
  await settled();
  assert.deepEqual([await stateIn(service), service.fetches()], ['Promoting', 1]);
  void service.controllers.stop();
});

test('a gate that goes before the step exists wakes the Graph', async () => {
  const service = serviceOf([pipeline(), b, graph, freeze]);
  await settled();
  assert.equal(await stateIn(service), undefined);
  service.scene.remove(freeze);
  await settled();
  assert.equal(await stateIn(service), 'Promoting');
  void service.controllers.stop();
});

test('a deletion that a broken watch missed is seen with the next list, not with the next resync', async () => {
  const service = serviceOf(HELD, 'PolicyGate');
  await quiet(service);
  service.scene.remove(freeze);
  await settled();
  assert.equal(await stateIn(service), 'Pending');
  service.breakWatch();
  await settled();
  service.clock.advance(1000);
  await settled();
  assert.equal(await stateIn(service), 'Promoting');
  void service.controllers.stop();
});

test('a PromotionStep that vanished while its watch was down is made again', async () => {
  const service = serviceOf(HELD.slice(0, 4), 'PromotionStep');
  await quiet(service);
  assert.equal(await stateIn(service), 'Promoting');
  service.scene.remove(stepOf(graph, 'test'));
  await settled();
  assert.equal(await stateIn(service), undefined);
  service.breakWatch();
  await settled();
  service.clock.advance(1000);
  await settled();
  assert.equal(await stateIn(service), 'Promoting');
  void service.controllers.stop();
});

test('a resync finds what no watch told of', async () => {
  const service = serviceOf(HELD, 'PolicyGate');
  await quiet(service);
  service.scene.remove(freeze);
  service.clock.advance(598_000);
  await settled();
  assert.equal(await stateIn(service), 'Pending');
  service.clock.advance(1000);
  await settled();
  assert.equal(await stateIn(service), 'Promoting');
  void service.controllers.stop();
});

test('a stop waits until the result of what is under way is recorded, and nothing happens after it', async () => {
  const service = serviceOf(HELD.slice(0, 4));
  await settled();
  assert.equal(service.fetches(), 1);
  let stopped = false;
  const stopping = service.controllers.stop().then(() => {
    stopped = true;
  });
  await settled();
  assert.equal(stopped, false);
  service.fetched();
  await stopping;
  assert.equal((await stepIn(service))?.status?.outputs?.['git.base'], SHA);
  service.scene.reads.length = 0;
  service.scene.put(bundle('n', {}, { version: '2' }));
  for (let hour = 0; hour < 3; hour += 1) {
    service.clock.advance(3_600_000);
    await settled();
  }
  assert.deepEqual(service.scene.reads, [], 'the store may be closed by now');
  assert.ok(service.signals.length > 0 && service.signals.every(({ aborted }) => aborted));
});

test('a stop does not wait longer than twenty seconds', async () => {
  const service = serviceOf(HELD.slice(0, 4));
  await settled();
  const stopping = service.controllers.stop();
  await settled();
  service.clock.advance(20_000);
  await stopping;
  assert.equal((await stepIn(service))?.status?.outputs, undefined);
});

test('a push that was withdrawn is looked at again after a second, and no sooner', async () => {
  const names = ['git-clone', 'overlay-set-image', 'git-commit', 'git-push', 'health-check'];
  const steps = names.map((name, index) => ({ name, state: index < 3 ? 'Succeeded' : 'Running', attempts: 1 }));
  const begun = { git: pipeline().spec?.git ?? {}, environment: { name: 'test' } };
  const outputs = { 'git.base': SHA, 'git.commit': 'c'.repeat(40) };
  const own = stepOf(graph, 'test', { state: 'Promoting', attempt: 1, started: begun, steps, outputs });
  const service = serviceOf([pipeline(), b, graph, own]);
  await quiet(service);
  const before = service.pushes();
  assert.ok(before >= 1 && before <= 2);
  service.clock.advance(900);
  await settled();
  const soon = service.pushes();
  service.clock.advance(1000);
  await settled();
  assert.equal(service.pushes(), soon + 1);
  service.clock.advance(999);
  await settled();
  assert.equal(service.pushes(), soon + 1);
  service.clock.advance(1);
  await settled();
  assert.equal(service.pushes(), soon + 2);
  void service.controllers.stop();
});
