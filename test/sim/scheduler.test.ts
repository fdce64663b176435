import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from './random.ts';
import { Livelock, type Pace, Scheduler, WORLD } from './scheduler.ts';
import { createTrace } from './trace.ts';

const prompt: Pace = { latency: () => 0, answerDelay: () => undefined };

const world = (seed: string, pace: Pace = prompt, patience = 1000) => {
  const trace = createTrace({ elapsed: () => scheduler.now() });
  const scheduler: Scheduler = new Scheduler({ random: createRandom(seed), trace, pace, start: 0, patience });
  return { scheduler, trace };
};

const call = (label: string, execute: () => string) => ({ target: 'store' as const, label, writes: true, execute });

const finish = async (scheduler: Scheduler): Promise<void> => {
  while ((await scheduler.step()) !== undefined);
};

test('timers go off in the order of their times, and time jumps to them', async () => {
  const { scheduler } = world('a');
  const seen: number[] = [];
  for (const time of [300, 100, 200]) scheduler.clock(1).at(time, () => seen.push(scheduler.now()));
  const cancel = scheduler.clock(1).at(150, () => seen.push(-1));
  cancel();
  await finish(scheduler);
  assert.deepEqual(seen, [100, 200, 300]);
});

test('the seed decides the order of calls, and the same seed gives the same trace', async () => {
  const runOnce = async (seed: string) => {
    const { scheduler, trace } = world(seed);
    const order: string[] = [];
    const port = scheduler.turnstile(1);
    const loop = async (name: string) => {
      for (let round = 0; round < 5; round += 1) order.push(await port.call(call(`${name}${round}`, () => `${name}${round}`)));
    };
    void loop('a');
    void loop('b');
    await finish(scheduler);
    return { order: order.join(' '), hash: trace.hash() };
  };
  assert.deepEqual(await runOnce('1'), await runOnce('1'));
  const orders = new Set<string>();
  for (const seed of ['1', '2', '3', '4', '5']) orders.add((await runOnce(seed)).order);
  assert.ok(orders.size > 2, [...orders].join('\n'));
});

test('after a crash nothing is answered, effects in flight land if they are meant to, and timers are gone', async () => {
  for (const lands of [true, false]) {
    const { scheduler } = world('crash');
    const effects: string[] = [];
    const answers: string[] = [];
    const port = scheduler.turnstile(1);
    for (const name of ['a', 'b']) {
      void port
        .call(
          call(name, () => {
            effects.push(name);
            return name;
          }),
        )
        .then((answer) => answers.push(answer));
    }
    scheduler.clock(1).at(50, () => answers.push('timer'));
    scheduler.revoke(1, () => lands);
    await finish(scheduler);
    assert.deepEqual([effects.length, answers], [lands ? 2 : 0, []]);
  }
});

test('an effect whose answer is held has happened when the process dies before it hears of it', async () => {
  const { scheduler } = world('held', { latency: () => 0, answerDelay: () => 1000 });
  let effects = 0;
  let answers = 0;
  void scheduler
    .turnstile(1)
    .call(
      call('write', () => {
        effects += 1;
        return '';
      }),
    )
    .then(() => {
      answers += 1;
    });
  await scheduler.step();
  scheduler.revoke(1, () => true);
  await finish(scheduler);
  assert.deepEqual([effects, answers], [1, 0]);
});

test('a call that is not ready waits, and work without any advance of time ends as a livelock', async () => {
  const { scheduler } = world('livelock');
  let open = false;
  let opened = false;
  const port = scheduler.turnstile(1);
  void port.call({ ...call('gate', () => 'gate'), ready: () => open }).then(() => {
    opened = true;
  });
  assert.equal(await scheduler.step(), undefined);
  scheduler.after(10, 'opens', () => {
    open = true;
  });
  await finish(scheduler);
  assert.ok(opened);
  const spin = async () => {
    for (;;) await port.call(call('spin', () => ''));
  };
  void spin();
  await assert.rejects(finish(scheduler), Livelock);
  assert.equal(WORLD, 0);
});
