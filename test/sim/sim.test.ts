import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkSeed } from './check-seed.ts';
import { PLANTED } from './planted.ts';
import { type RunResult, runSeed } from './simulation.ts';

/** Seeds of the run that every test run makes; `npm run sim` makes as many as it is told to. */
const SEEDS = 200;
/** On a busy machine fewer seeds do, but at least these. */
const LEAST = 60;
const PATIENCE_MS = 45_000;
/** A planted bug must be found within so many seeds. */
const WITHIN = 300;

/** The writes around which a process must have died at every moment, but for a few that a batch of seeds may miss. */
const WRITES = [
  'git.push swap',
  'store.create PromotionStep',
  'store.create AuditEvent',
  'store.updateStatus PromotionStep',
  'store.updateStatus Bundle',
];
const MOMENTS = ['no effect', 'effect without answer', 'effect and answer', 'effect after the crash'];

const said = (result: RunResult): string =>
  result.violation ? `seed ${result.seed}: ${result.violation.invariant}: ${result.violation.message}\n${result.tail.join('\n')}` : '';

describe('the controllers under a seeded scheduler', () => {
  test(`up to ${SEEDS} seeds of scenarios and faults violate no invariant`, async () => {
    let faults = 0;
    let crashes = 0;
    const points = new Set<string>();
    const end = Date.now() + PATIENCE_MS;
    let seeds = 0;
    while (seeds < SEEDS && (seeds < LEAST || Date.now() < end)) {
      seeds += 1;
      const result = await checkSeed(String(seeds), seeds, {});
      assert.equal(said(result), '');
      faults += result.faults;
      crashes += result.crashes;
      for (const point of result.crashPoints) points.add(point);
    }
    const missed = WRITES.flatMap((write) => MOMENTS.map((moment) => `${write}: ${moment}`)).filter((point) => !points.has(point));
    assert.ok(missed.length <= 3 || seeds < SEEDS, `no crash at these points: ${missed.join(', ')}`);
    assert.ok(faults > seeds * 20 && crashes > seeds, `${faults} faults and ${crashes} crashes are too few to mean anything`);
  });

  test('a seed leaves the same trace whenever it runs, and another seed another one', async () => {
    const [once, again, other] = [await runSeed('same'), await runSeed('same'), await runSeed('other')];
    assert.equal(once.hash, again.hash);
    assert.notEqual(once.hash, other.hash);
  });
});

describe('planted bugs', () => {
  for (const bug of PLANTED) {
    test(`${bug.name} is found: ${bug.story}`, async () => {
      for (let seed = 1; seed <= WITHIN; seed += 1) {
        const { violation } = await runSeed(String(seed), { wrap: bug.wrap });
        if (!violation) continue;
        assert.ok(bug.found.includes(violation.invariant), `${violation.invariant}: ${violation.message}`);
        assert.equal((await runSeed(String(seed))).violation, undefined, 'without the bug the same seed is fine');
        return;
      }
      assert.fail(`not found within ${WITHIN} seeds`);
    });
  }
});
