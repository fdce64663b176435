import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NOW } from '../../../test/fixtures/worlds.ts';
import type { HealthRecord } from '../../api/kinds/promotion-step.ts';
import { resolveEnvironment } from '../../api/resolve.ts';
import { type Advanced, advanceHealth, type HealthRules } from './advance.ts';
import type { Observation } from './observe.ts';
import { healthTarget } from './target.ts';

const MINUTE = 60_000;
const TARGET = healthTarget(resolveEnvironment({}, { name: 'test' }, 'default'), 'web');
const at = (milliseconds: number): string => new Date(NOW + milliseconds).toISOString();
const BEGUN: HealthRecord = { since: at(0) };

const rulesOf = (minutes = 0, policy = 'reset-on-alarm', changes: Partial<HealthRules> = {}): HealthRules => ({
  target: TARGET,
  bake: minutes > 0 ? { minutes, policy } : undefined,
  observingSince: NOW - 1000,
  ...changes,
});

type Seen = 'healthy' | 'unproven' | Exclude<Observation['verdict'], 'healthy'>;

const observation = (seen: Seen): Observation => ({
  verdict: seen === 'unproven' ? 'healthy' : seen,
  proven: seen === 'healthy',
  reason: { code: `Saw-${seen}`, message: `it is ${seen}` },
});

/** What follows from looks at these times (milliseconds from the start), one after the other. */
const looks = (rules: HealthRules, seen: readonly (readonly [number, Seen])[], from: HealthRecord = BEGUN): Advanced => {
  let last: Advanced | undefined;
  for (const [time, what] of seen) last = advanceHealth(last?.record ?? from, observation(what), rules, NOW + time);
  assert.ok(last);
  return last;
};

/** A look every ten seconds, both ends included. */
const every = (from: number, to: number, seen: Seen): (readonly [number, Seen])[] =>
  Array.from({ length: Math.floor((to - from) / 10_000) + 1 }, (_, index) => [from + index * 10_000, seen]);

test('proven health without a bake is Verified at once, unproven health after it held', () => {
  assert.equal(looks(rulesOf(), [[100, 'healthy']]).verdict.verdict, 'verified');
  const first = looks(rulesOf(), [[100, 'unproven']]);
  assert.deepEqual(first.verdict, { verdict: 'wait', lookAgainAt: NOW + 10_100 });
  assert.equal(first.reason.code, 'Settling');
  assert.equal(
    looks(rulesOf(), [
      [100, 'unproven'],
      [10_100, 'unproven'],
    ]).verdict.verdict,
    'verified',
  );
  assert.equal(
    looks(rulesOf(), [
      [100, 'unproven'],
      [5000, 'healthy'],
    ]).verdict.verdict,
    'verified',
    'once proven it need not hold',
  );
});

test('a rollout before the window began restarts the time that unproven health must hold', () => {
  const seen = looks(rulesOf(), [
    [100, 'unproven'],
    [5000, 'progressing'],
    [9000, 'unproven'],
    [12_000, 'unproven'],
  ]);
  assert.equal(seen.verdict.verdict, 'wait');
  assert.equal(seen.record.healthySince, at(9000));
});

test('a bake ends after its minutes of healthy looks, and asks for a look at its end', () => {
  const rules = rulesOf(1);
  const almost = looks(rules, every(0, 50_000, 'healthy'));
  assert.deepEqual(almost.verdict, { verdict: 'wait', lookAgainAt: NOW + 60_000 });
  assert.match(almost.reason.message, /for another 10s$/);
  assert.doesNotMatch(almost.record.message ?? '', /another/, 'what is written does not change at every look');
  assert.equal(looks(rules, every(0, 60_000, 'healthy')).verdict.verdict, 'verified');
});

test('ill health in the bake starts it again, or is an alarm; before the first healthy look it is neither', () => {
  const reset = looks(rulesOf(1), [...every(0, 50_000, 'healthy'), [55_000, 'unhealthy'], [60_000, 'healthy']]);
  assert.deepEqual([reset.verdict.verdict, reset.record.healthySince], ['wait', at(60_000)]);
  const rules = rulesOf(1, 'fail-on-alarm');
  assert.equal(
    looks(rules, [
      [0, 'healthy'],
      [10_000, 'unhealthy'],
    ]).verdict.verdict,
    'alarm',
  );
  assert.equal(
    looks(rules, [
      [0, 'unhealthy'],
      [10_000, 'unhealthy'],
    ]).verdict.verdict,
    'wait',
  );
  assert.equal(
    looks(rules, [
      [0, 'unproven'],
      [5000, 'unhealthy'],
    ]).verdict.verdict,
    'wait',
    'unproven health had not held yet',
  );
  assert.equal(
    looks(rules, [
      [0, 'unproven'],
      [10_000, 'unproven'],
      [15_000, 'unhealthy'],
    ]).verdict.verdict,
    'alarm',
  );
});

test('a rollout, another version or an outage of the view is never an alarm', () => {
  const rules = rulesOf(30, 'fail-on-alarm');
  for (const seen of ['progressing', 'contradicted', 'unknown'] as const) {
    assert.equal(
      looks(rules, [
        [0, 'healthy'],
        [10_000, seen],
        [20_000, seen],
      ]).verdict.verdict,
      'wait',
      seen,
    );
  }
});

test('a rollout inside the window pauses it, however long; another version starts it again', () => {
  const rules = rulesOf(1);
  const paused = [...every(0, 40_000, 'healthy'), ...every(50_000, 250_000, 'progressing'), ...every(260_000, 270_000, 'healthy')];
  const during = looks(rules, paused);
  assert.equal(during.verdict.verdict, 'wait');
  assert.equal(during.record.paused, undefined);
  assert.equal(
    looks(rules, [...paused, ...every(280_000, 290_000, 'healthy')]).verdict.verdict,
    'verified',
    'what was healthy before counts',
  );
  const contradicted = looks(rules, [...every(0, 50_000, 'healthy'), [55_000, 'contradicted'], [60_000, 'healthy']]);
  assert.equal(contradicted.record.healthySince, at(60_000));
});

test('a view that is lost for a moment does not start the window again, one that is lost for long does', () => {
  const moment = looks(rulesOf(5), [...every(0, 100_000, 'healthy'), [110_000, 'unknown'], [120_000, 'healthy']]);
  assert.equal(moment.record.healthySince, at(0));
  const long = looks(rulesOf(5), [...every(0, 100_000, 'healthy'), ...every(110_000, 300_000, 'unknown'), [310_000, 'healthy']]);
  assert.equal(long.record.healthySince, at(310_000));
});

test('a long gap starts the window again, a restart pauses it', () => {
  const rules = rulesOf(5);
  const baked = looks(rules, every(0, 200_000, 'healthy'));
  const gap = looks(rules, [[4 * MINUTE + 7_200_000, 'healthy']], baked.record);
  assert.equal(gap.record.healthySince, at(4 * MINUTE + 7_200_000));
  const restarted = rulesOf(5, 'reset-on-alarm', { observingSince: NOW + 215_000 });
  const back = looks(restarted, [[220_000, 'healthy']], baked.record);
  const counted = 220_000 - (Date.parse(back.record.healthySince ?? '') - NOW);
  assert.ok(counted <= 200_000 && counted >= 180_000, `counts ${counted} ms of 200 s`);
});

test('without a healthy look it fails after the timeout, counted from the last healthy one or since somebody could look', () => {
  const rules = rulesOf();
  assert.deepEqual(looks(rules, [[595_000, 'unhealthy']]).verdict, { verdict: 'wait', lookAgainAt: NOW + 600_000 });
  const failed = looks(rules, [[600_000, 'unhealthy']]);
  assert.deepEqual([failed.verdict.verdict, failed.reason.code], ['failed', 'HealthTimeout']);
  assert.match(failed.reason.message, /no healthy observation for 600s: it is unhealthy/);
  for (const seen of ['progressing', 'contradicted', 'unknown'] as const)
    assert.equal(looks(rules, [[600_000, seen]]).verdict.verdict, 'failed');
  const later = rulesOf(0, '', { observingSince: NOW + 3_600_000 });
  assert.equal(looks(later, [[3_600_100, 'unhealthy']]).verdict.verdict, 'wait', 'downtime does not condemn');
  assert.equal(looks(later, [[4_200_000, 'unhealthy']]).verdict.verdict, 'failed');
  const baking = looks(rulesOf(60), [...every(0, 5 * MINUTE, 'healthy'), [14 * MINUTE, 'unhealthy']]);
  assert.equal(baking.verdict.verdict, 'wait', 'counted from the last healthy look');
});

test('with a timeout that is shorter than a write apart, a healthy look is not forgotten', () => {
  const rules = rulesOf(5, 'reset-on-alarm', { target: { ...TARGET, timeoutMs: 15_000 } });
  assert.equal(
    looks(rules, [
      [0, 'healthy'],
      [10_000, 'healthy'],
      [16_000, 'unhealthy'],
    ]).verdict.verdict,
    'wait',
  );
});

test('what can never be seen fails at once, with its reason', () => {
  const seen = looks(rulesOf(), [[0, 'impossible']]);
  assert.deepEqual([seen.verdict.verdict, seen.reason.code], ['failed', 'Saw-impossible']);
});

test('healthy looks of a long bake seldom change the record', () => {
  const rules = rulesOf(24 * 60);
  let record = BEGUN;
  let writes = 0;
  for (let time = 0; time < 24 * 60 * MINUTE; time += 10_000) {
    const next = advanceHealth(record, observation('healthy'), rules, NOW + time);
    assert.equal(next.verdict.verdict, 'wait');
    if (JSON.stringify(next.record) !== JSON.stringify(record)) writes += 1;
    record = next.record;
  }
  assert.ok(writes <= 1000, `${writes} writes`);
});

test('a clock that went back harms nothing', () => {
  const seen = looks(rulesOf(1), [
    [50_000, 'healthy'],
    [0, 'healthy'],
  ]);
  assert.equal(seen.verdict.verdict, 'wait');
  assert.equal(looks(rulesOf(1), every(10_000, 110_000, 'healthy'), seen.record).verdict.verdict, 'verified');
});

test('whatever is seen and whenever: Verified only after as much healthy time as asked, and a look within the timeout', () => {
  const verdicts = fc.constantFrom<Seen>(
    'healthy',
    'healthy',
    'healthy',
    'unproven',
    'unhealthy',
    'progressing',
    'contradicted',
    'unknown',
  );
  const script = fc.array(fc.tuple(verdicts, fc.constantFrom(0, 1, 4000, 10_000, 10_000, 10_000, 90_000, 700_000)), { maxLength: 60 });
  fc.assert(
    fc.property(script, fc.constantFrom(0, 1, 5), (seen, minutes) => {
      const rules = rulesOf(minutes);
      let record = BEGUN;
      let now = NOW;
      /** Time since the first of the last healthy looks, pauses and all: never less than what may be counted. */
      let healthyFrom: number | undefined;
      for (const [what, late] of seen) {
        const { verdict, record: next, reason } = advanceHealth(record, observation(what), rules, now);
        if (what === 'unhealthy' || what === 'contradicted') healthyFrom = undefined;
        else if (what === 'healthy' || what === 'unproven') healthyFrom ??= now;
        assert.notEqual(reason.message, '');
        if (verdict.verdict === 'verified') {
          assert.ok(what === 'healthy' || what === 'unproven');
          assert.ok(healthyFrom !== undefined && now - healthyFrom >= minutes * MINUTE, 'Verified too early');
        }
        if (verdict.verdict !== 'wait') return;
        assert.ok(verdict.lookAgainAt > now && verdict.lookAgainAt <= now + 10_000);
        record = next;
        now = verdict.lookAgainAt + late;
      }
    }),
    { numRuns: 500 },
  );
});
