import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Outcome } from '../../api/outcome.ts';
import { done, transient } from '../../api/outcome.ts';
import { findRuns } from './history.ts';
import type { CommitInfo } from './objects.ts';

interface Graph {
  readonly read: (oid: string) => Promise<Outcome<CommitInfo>>;
  readonly reads: () => number;
}

const graph = (commits: Readonly<Record<string, Partial<CommitInfo>>>): Graph => {
  let reads = 0;
  return {
    reads: () => reads,
    read: async (oid) => {
      reads += 1;
      const commit = commits[oid];
      return commit === undefined ? transient('GitMirrorCorrupt', oid) : done({ tree: '', parents: [], time: 1000, runs: [], ...commit });
    },
  };
};

const found = async (commits: Graph, tip: string, sought: Parameters<typeof findRuns>[1]): Promise<readonly string[]> => {
  const result = await findRuns(tip, sought, commits.read);
  return result.outcome === 'done' ? [...result.value].map(([run, one]) => `${run}@${one.commit}`).sort() : [result.reason.code];
};

const line = (length: number, runs: Readonly<Record<number, string>> = {}, step = 10): Record<string, Partial<CommitInfo>> =>
  Object.fromEntries(
    Array.from({ length }, (_, index) => [
      `c${index}`,
      {
        parents: index === 0 ? [] : [`c${index - 1}`],
        time: 1_000_000 + index * step,
        runs: runs[index] === undefined ? [] : [runs[index]],
      },
    ]),
  );

test('runs are found between the tip and where they began, each in its own place', async () => {
  const commits = graph(line(100, { 90: 'x', 95: 'y' }));
  assert.deepEqual(
    await found(commits, 'c99', [
      { run: 'x', since: 'c89', notBefore: 0 },
      { run: 'y', since: 'c94', notBefore: 0 },
      { run: 'z', since: 'c97', notBefore: 0 },
    ]),
    ['x@c90', 'y@c95'],
  );
});

test('a tip that has not moved costs one commit', async () => {
  const commits = graph(line(100));
  await found(commits, 'c99', [{ run: 'x', since: 'c99', notBefore: 0 }]);
  assert.equal(commits.reads(), 1);
});

test('the walk ends at the oldest place where a run began', async () => {
  const commits = graph(line(1000));
  await found(commits, 'c999', [
    { run: 'x', since: 'c990', notBefore: 0 },
    { run: 'y', since: 'c980', notBefore: 0 },
  ]);
  assert.ok(commits.reads() <= 20, String(commits.reads()));
});

test('when the place is not in the history, time ends the walk', async () => {
  const commits = graph(line(10_000, { 9900: 'x' }, 86_400));
  const notBefore = (1_000_000 + 9_900 * 86_400) * 1000;
  assert.deepEqual(await found(commits, 'c9999', [{ run: 'x', since: 'gone', notBefore }]), ['x@c9900']);
  assert.deepEqual(await found(commits, 'c9999', [{ run: 'never', since: 'gone', notBefore }]), []);
  assert.ok(commits.reads() < 600, String(commits.reads()));
});

test('commits of somebody whose clock is wrong do not hide a run', async () => {
  const commits = line(100, { 50: 'x' });
  for (let index = 60; index < 100; index += 1) commits[`c${index}`] = { ...commits[`c${index}`], time: 5 };
  assert.deepEqual(await found(graph(commits), 'c99', [{ run: 'x', since: 'c40', notBefore: 1_000_000_000 }]), ['x@c50']);
});

test('a run on a merged branch is found', async () => {
  const commits = graph({
    base: { time: 1 },
    left: { parents: ['base'], time: 2 },
    right: { parents: ['base'], time: 3, runs: ['x'] },
    merge: { parents: ['left', 'right'], time: 4 },
  });
  assert.deepEqual(await found(commits, 'merge', [{ run: 'x', since: 'base', notBefore: 1000 }]), ['x@right']);
});

test('in any linear history a run after its beginning is found', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 60 }), fc.nat(59), fc.nat(59), async (length, at, since) => {
      fc.pre(at < length && since < at);
      const commits = graph(line(length, { [at]: 'x' }));
      assert.deepEqual(
        await found(commits, `c${length - 1}`, [{ run: 'x', since: `c${since}`, notBefore: (1_000_000 + at * 10) * 1000 }]),
        [`x@c${at}`],
      );
    }),
    { numRuns: 100 },
  );
});

test('a commit that cannot be read ends the search with its reason', async () => {
  assert.deepEqual(await found(graph({ tip: { parents: ['gone'] } }), 'tip', [{ run: 'x', notBefore: 0 }]), ['GitMirrorCorrupt']);
});
