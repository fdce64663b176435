import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Coalescer } from './coalescer.ts';
import { Serial, SharedLock } from './serial.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('serial tasks never overlap and keep their order, errors included', async () => {
  const serial = new Serial();
  const seen: string[] = [];
  const task = (name: string) => async () => {
    seen.push(`${name}+`);
    await turn();
    seen.push(`${name}-`);
    if (name === 'b') throw new Error(name);
  };
  await Promise.allSettled(['a', 'b', 'c'].map((name) => serial.run(task(name))));
  assert.deepEqual(seen, ['a+', 'a-', 'b+', 'b-', 'c+', 'c-']);
});

test('whoever wants to be alone waits for those inside and is not overtaken', async () => {
  const lock = new SharedLock();
  const seen: string[] = [];
  const task = (name: string) => async () => {
    seen.push(`${name}+`);
    await turn();
    await turn();
    seen.push(`${name}-`);
  };
  await Promise.all([
    lock.shared(task('a')),
    lock.shared(task('b')),
    lock.exclusive(task('X')),
    lock.shared(task('c')),
    lock.exclusive(task('Y')),
  ]);
  assert.deepEqual(seen, ['a+', 'b+', 'a-', 'b-', 'X+', 'X-', 'c+', 'c-', 'Y+', 'Y-']);
  assert.equal(lock.quiet, true);
});

test('everybody who asks during a run shares the next one', async () => {
  const runs: string[][] = [];
  const coalescer = new Coalescer(new Serial(), async (keys) => {
    runs.push([...keys]);
    await turn();
    return runs.length;
  });
  const first = coalescer.ask(['a']);
  await turn();
  const later = Promise.all([coalescer.ask(['b']), coalescer.ask(['b', 'c']), coalescer.ask(['d'])]);
  assert.equal(await first, 1);
  assert.deepEqual(await later, [2, 2, 2]);
  assert.deepEqual(runs, [['a'], ['b', 'c', 'd']]);
});
