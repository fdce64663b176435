import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../test/contract/manual-clock.ts';
import type { Key } from './keys.ts';
import { createWorkQueue, type Next } from './work-queue.ts';

const key = (name: string): Key => ({ kind: 'Bundle', namespace: 'default', name });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Looks that the test ends one by one. */
const stage = (concurrency = 1) => {
  const clock = manualClock(1_000_000);
  const begun: string[] = [];
  const open: { readonly name: string; readonly fresh: boolean; readonly decided: () => void; readonly end: (next: Next) => void }[] = [];
  const queue = createWorkQueue(clock, concurrency, (looked, { fresh, decided }) => {
    begun.push(looked.name);
    return new Promise((resolve) => open.push({ name: looked.name, fresh, decided, end: resolve }));
  });
  const end = async (next: Next = { next: 'rest' }) => {
    open.shift()?.end(next);
    await turn();
  };
  return { clock, queue, begun, open, end };
};

test('a key waits once however often it is added', async () => {
  const { queue, begun, end } = stage();
  for (const name of ['a', 'b', 'b', 'b']) queue.add(key(name));
  await end();
  await end();
  await end();
  assert.deepEqual(begun, ['a', 'b']);
  assert.equal(queue.idle(), true);
});

test('a key that is added while it is looked at is looked at again, never twice at a time', async () => {
  const { queue, begun, open, end } = stage(4);
  queue.add(key('a'));
  queue.add(key('a'));
  assert.equal(open.length, 1);
  await end();
  assert.deepEqual(begun, ['a', 'a']);
});

test('only as many workers decide at a time as were asked for, but writes do not hold one', async () => {
  const { queue, begun, open } = stage(2);
  for (const name of ['a', 'b', 'c', 'd']) queue.add(key(name));
  assert.deepEqual(begun, ['a', 'b']);
  open[0]?.decided();
  assert.deepEqual(begun, ['a', 'b', 'c']);
  open[0]?.decided();
  assert.deepEqual(begun, ['a', 'b', 'c'], 'a worker is given back once');
});

test('a failed look is repeated with growing pauses, and a good one begins anew', async () => {
  const { clock, queue, open, begun, end } = stage();
  queue.add(key('a'));
  await end({ next: 'failed' });
  assert.equal(begun.length, 1);
  clock.advance(50);
  assert.equal(open[0]?.fresh, true);
  await end({ next: 'failed' });
  clock.advance(50);
  assert.equal(begun.length, 2, 'the second pause is longer');
  clock.advance(50);
  assert.equal(open[0]?.fresh, true);
  await end();
  queue.add(key('a'));
  assert.equal(open[0]?.fresh, false);
});

test('a key is looked at again at the time it named, or earlier when it is added', async () => {
  const { clock, queue, begun, end } = stage();
  queue.add(key('a'));
  await end({ next: 'at', time: clock.now() + 1000 });
  clock.advance(999);
  assert.equal(begun.length, 1);
  clock.advance(1);
  assert.equal(begun.length, 2);
  await end({ next: 'at', time: clock.now() + 1000 });
  queue.add(key('a'));
  await end();
  clock.advance(5000);
  assert.equal(begun.length, 3);
});

test('stop begins nothing new and waits for what is under way', async () => {
  const { queue, begun, end } = stage();
  queue.add(key('a'));
  queue.add(key('b'));
  let stopped = false;
  const stopping = queue.stop().then(() => {
    stopped = true;
  });
  await turn();
  assert.equal(stopped, false);
  await end();
  await stopping;
  assert.deepEqual(begun, ['a']);
});

test('what may wait is looked at when nothing else waits, and what is asked for meanwhile goes first', async () => {
  const { queue, begun, end } = stage();
  queue.add(key('busy'));
  for (const name of ['old-1', 'old-2']) queue.add(key(name), { later: true });
  queue.add(key('new'));
  queue.add(key('old-2'));
  for (let count = 0; count < 4; count += 1) await end();
  assert.deepEqual(begun, ['busy', 'new', 'old-2', 'old-1']);
});

test('a key that failed and is asked for meanwhile still waits for its pause', async () => {
  const { clock, queue, begun, end } = stage();
  queue.add(key('a'));
  queue.add(key('a'));
  await end({ next: 'failed' });
  assert.equal(begun.length, 1);
  clock.advance(50);
  assert.equal(begun.length, 2);
});
