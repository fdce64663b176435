import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type ManualClock, manualClock } from '../../test/contract/manual-clock.ts';
import { NOW, SHA, step, stepWorld } from '../../test/fixtures/worlds.ts';
import type { PromotionStep, PromotionStepStatus } from '../api/kinds/promotion-step.ts';
import { done, type Outcome, terminal, transient } from '../api/outcome.ts';
import type { ActivityEffect } from '../core/effect.ts';
import { decideStep } from '../core/step/decide.ts';
import type { ActivityResult } from '../core/step/settle.ts';
import type { Store, StoreErrorCode } from '../ports/store.ts';
import { type Activities, createActivities } from './activities.ts';

/** A step at its first activity. */
const started = (): PromotionStep => {
  const own = step('test');
  const [write] = decideStep(stepWorld(own), NOW).writes;
  assert.ok(write?.kind === 'UpdateStatus' && write.object.kind === 'PromotionStep');
  return { ...own, status: write.object.status ?? {} };
};

const fetchOf = (own: PromotionStep): ActivityEffect => {
  const { activity } = decideStep(stepWorld(own), NOW);
  assert.ok(activity?.kind === 'GitFetch');
  return activity;
};

interface Answers {
  /** What becomes of the next reads and writes, in order; carried out when there is nothing more. */
  readonly reads: StoreErrorCode[];
  readonly writes: (StoreErrorCode | 'answer lost')[];
}

/** A store of one PromotionStep. */
const storeOf = (own: PromotionStep, { reads, writes }: Answers) => {
  const written: PromotionStepStatus[] = [];
  let calls = 0;
  const refused = (code: StoreErrorCode) => ({ ok: false, error: { code, message: code } }) as const;
  const never = (): never => assert.fail('only get and updateStatus are asked');
  const store = {
    get: async (_kind: string, _namespace: string, _name: string, options: { fresh?: boolean } = {}) => {
      calls += 1;
      assert.equal(options.fresh, true, 'the result goes into the latest version');
      const code = reads.shift();
      return code ? refused(code) : { ok: true, value: { ...own, status: written.at(-1) ?? own.status } };
    },
    updateStatus: async (object: PromotionStep) => {
      calls += 1;
      const code = writes.shift();
      if (code && code !== 'answer lost') return refused(code);
      written.push(object.status ?? {});
      if (code) return refused('Unavailable');
      return { ok: true, object, warnings: [] };
    },
    list: never,
    watch: never,
    create: never,
    update: never,
    delete: never,
  };
  // A PromotionStep is all that is asked for.
  return { store: store as unknown as Store, written, calls: () => calls };
};

interface Scene {
  readonly activities: Activities;
  readonly clock: ManualClock;
  readonly ended: { readonly key: string; readonly withdrawn: boolean }[];
  readonly runs: () => number;
  readonly finish: (outcome: Outcome<ActivityResult>) => Promise<void>;
  readonly written: readonly PromotionStepStatus[];
  readonly calls: () => number;
}

const scene = (own: PromotionStep, answers: Partial<Answers> = {}): Scene => {
  const clock = manualClock(NOW);
  const { store, written, calls } = storeOf(own, { reads: [], writes: [], ...answers });
  const ended: { key: string; withdrawn: boolean }[] = [];
  const waiting: ((outcome: Outcome<ActivityResult>) => void)[] = [];
  let runs = 0;
  const activities = createActivities({
    store,
    clock,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    run: () => {
      runs += 1;
      return new Promise((resolve) => void waiting.push(resolve));
    },
    ended: (effect, withdrawn) => void ended.push({ key: effect.key, withdrawn }),
  });
  const finish = async (outcome: Outcome<ActivityResult>): Promise<void> => {
    waiting.shift()?.(outcome);
    await turn();
  };
  return { activities, clock, ended, runs: () => runs, finish, written, calls };
};

const FETCHED = done<ActivityResult>({ result: 'fetched', tip: SHA });

test('an activity runs once however often it is asked for, and its result is recorded before its key is free', async () => {
  const own = started();
  const effect = fetchOf(own);
  const { activities, runs, finish, ended, written } = scene(own);
  assert.equal(activities.start(effect, activities.mark()), 'started');
  assert.equal(activities.start(effect, activities.mark()), 'started');
  assert.deepEqual([runs(), activities.running()], [1, 1]);
  await finish(FETCHED);
  assert.deepEqual(ended, [{ key: effect.key, withdrawn: false }]);
  assert.equal(activities.running(), 0);
  assert.deepEqual(
    written.map((status) => status.outputs),
    [{ 'git.base': SHA }],
  );
});

test('a look that began before the activity ended does not start it again, a later one does', async () => {
  const own = started();
  const effect = fetchOf(own);
  const { activities, runs, finish } = scene(own);
  const before = activities.mark();
  activities.start(effect, before);
  await finish(transient('GitTimeout', 'no'));
  assert.equal(activities.start(effect, before), 'outdated');
  assert.equal(runs(), 1);
  assert.equal(activities.start({ ...effect, key: 'another' }, before), 'started');
  assert.equal(activities.start(effect, activities.mark()), 'started');
  assert.equal(runs(), 3);
});

test('a result goes into the newer version after conflicts, at once', async () => {
  const own = started();
  const { activities, finish, ended, written } = scene(own, { writes: ['Conflict', 'Conflict'] });
  activities.start(fetchOf(own), activities.mark());
  await finish(FETCHED);
  assert.deepEqual([written.length, ended.length], [1, 1]);
});

test('a result waits out an outage, a second at a time, and the key is not free before', async () => {
  const own = started();
  const { activities, clock, finish, ended, written, calls } = scene(own, {
    reads: ['Unavailable', 'Unavailable'],
    writes: ['Unavailable', 'Forbidden'],
  });
  activities.start(fetchOf(own), activities.mark());
  await finish(FETCHED);
  for (let second = 0; second < 4; second += 1) {
    const asked = calls();
    assert.deepEqual([written.length, ended.length, activities.running()], [0, 0, 1]);
    clock.advance(999);
    await turn();
    assert.equal(calls(), asked, 'not before a second has passed');
    clock.advance(1);
    await turn();
  }
  assert.deepEqual([written.length, ended.length, activities.running()], [1, 1, 0]);
});

test('a write whose answer was lost meets itself and is not made twice', async () => {
  const own = started();
  const { activities, clock, finish, ended, written } = scene(own, { writes: ['answer lost'] });
  activities.start(fetchOf(own), activities.mark());
  await finish(FETCHED);
  await turn();
  clock.advance(1000);
  await turn();
  assert.deepEqual([ended.length, written.length], [1, 1]);
});

test('a result for a step that is gone, was made anew or has moved on is dropped', async () => {
  const own = started();
  const effect = fetchOf(own);
  const cases: readonly [PromotionStep, Partial<Answers>][] = [
    [own, { reads: ['NotFound'] }],
    [own, { writes: ['NotFound'] }],
    [{ ...own, metadata: { ...own.metadata, uid: 'another' } }, {}],
    [{ ...own, status: { ...own.status, attempt: 2 } }, {}],
    [{ ...own, status: { ...own.status, state: 'Failed' } }, {}],
  ];
  for (const [present, answers] of cases) {
    const { activities, finish, ended, written } = scene(present, answers);
    activities.start(effect, activities.mark());
    await finish(FETCHED);
    assert.deepEqual([written.length, ended.length], [0, 1]);
  }
});

test('a result that the store will never take does not block its key for ever', async () => {
  const own = started();
  const { activities, clock, finish, ended, calls } = scene(own, { writes: ['Invalid', 'Invalid'] });
  activities.start(fetchOf(own), activities.mark());
  await finish(terminal('GitBranchMissing', 'no'));
  assert.deepEqual([ended.length, calls()], [0, 2], 'a pause, so that the next look does not repeat it at once');
  clock.advance(1000);
  await turn();
  assert.deepEqual([ended.length, activities.running()], [1, 0]);
});

test('what was withdrawn is recorded nowhere, and said to be withdrawn', async () => {
  const own = started();
  const { activities, finish, ended, written } = scene(own);
  activities.start(fetchOf(own), activities.mark());
  await finish(done({ result: 'withdrawn' }));
  assert.deepEqual(
    ended.map((end) => end.withdrawn),
    [true],
  );
  assert.equal(written.length, 0);
});

test('an activity that ends by a bug frees its key after a pause', async () => {
  const clock = manualClock(NOW);
  const own = started();
  let ended = 0;
  const activities = createActivities({
    store: storeOf(own, { reads: [], writes: [] }).store,
    clock,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    run: () => Promise.reject(new TypeError('a bug')),
    ended: () => {
      ended += 1;
    },
  });
  activities.start(fetchOf(own), activities.mark());
  await turn();
  assert.deepEqual([ended, activities.running()], [0, 1]);
  clock.advance(1000);
  await turn();
  assert.deepEqual([ended, activities.running()], [1, 0]);
});

const settledIn = async (promise: Promise<void>): Promise<() => boolean> => {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  await turn();
  return () => settled;
};

test('a stop waits for what is under way and for its record, and begins nothing new', async () => {
  const own = started();
  const effect = fetchOf(own);
  const { activities, runs, finish, written } = scene(own);
  activities.start(effect, activities.mark());
  const stopped = await settledIn(activities.stop(20_000));
  assert.equal(stopped(), false);
  activities.start({ ...effect, key: 'another' }, activities.mark());
  assert.equal(runs(), 1);
  await finish(FETCHED);
  assert.deepEqual([stopped(), written.length], [true, 1]);
});

test('a stop does not wait longer than it was told, nor for a store that stays away', async () => {
  const own = started();
  const slow = scene(own);
  slow.activities.start(fetchOf(own), slow.activities.mark());
  const stopped = await settledIn(slow.activities.stop(20_000));
  slow.clock.advance(19_999);
  await turn();
  assert.equal(stopped(), false);
  slow.clock.advance(1);
  await turn();
  assert.equal(stopped(), true);

  const away = scene(own, { reads: Array.from({ length: 50 }, () => 'Unavailable' as const) });
  away.activities.start(fetchOf(own), away.activities.mark());
  await away.finish(FETCHED);
  const left = await settledIn(away.activities.stop(20_000));
  away.clock.advance(1000);
  await turn();
  away.clock.advance(1000);
  await turn();
  assert.deepEqual([left(), away.activities.running()], [true, 0]);
  assert.ok(away.calls() <= 3);
});

test('only the latest thousand ends are remembered', async () => {
  const own = started();
  const effect = fetchOf(own);
  const { activities, finish } = scene(own);
  const before = activities.mark();
  for (let index = 0; index < 1001; index += 1) {
    activities.start({ ...effect, key: `${index}` }, before);
    await finish(done({ result: 'withdrawn' }));
  }
  assert.equal(activities.start({ ...effect, key: '1' }, before), 'outdated');
  assert.equal(activities.start({ ...effect, key: '0' }, before), 'started');
});
