import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createTokenBuckets } from './token-bucket.ts';

const clockAt = (start: number) => {
  let now = start;
  return {
    now: () => now,
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
  };
};

it('a burst of the whole limit passes, then one more for each share of a minute', () => {
  const clock = clockAt(0);
  const take = createTokenBuckets(60, clock);
  for (let count = 0; count < 60; count++) assert.equal(take('a').ok, true);
  assert.deepEqual(take('a'), { ok: false, retryAfterSeconds: 1 });
  clock.advance(999);
  assert.equal(take('a').ok, false);
  clock.advance(1);
  assert.equal(take('a').ok, true);
  assert.equal(take('a').ok, false);
});

it('the time to wait is what is needed, in whole seconds', () => {
  const clock = clockAt(0);
  const take = createTokenBuckets(2, clock);
  take('a');
  take('a');
  assert.deepEqual(take('a'), { ok: false, retryAfterSeconds: 30 });
  clock.advance(10_000);
  assert.deepEqual(take('a'), { ok: false, retryAfterSeconds: 20 });
});

it('keys do not share, 0 is no limit, and a clock that goes back takes nothing away', () => {
  const clock = clockAt(100_000);
  const take = createTokenBuckets(1, clock);
  assert.equal(take('a').ok, true);
  assert.equal(take('b').ok, true);
  clock.advance(-50_000);
  assert.equal(take('a').ok, false);
  const free = createTokenBuckets(0, clock);
  for (let count = 0; count < 1000; count++) assert.equal(free('a').ok, true);
});

it('a flood of keys does not grow without bound, and does not free who is held back', () => {
  const clock = clockAt(0);
  const take = createTokenBuckets(1, clock);
  for (let count = 0; count < 25_000; count++) {
    take(`key-${count}`);
    clock.advance(10);
  }
  take('held');
  assert.equal(take('held').ok, false);
});
