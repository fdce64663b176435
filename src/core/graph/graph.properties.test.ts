import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { OrderedEnvironment } from '../../api/dependency-edges.ts';
import { type GraphPlan, planGraph } from './plan-graph.ts';
import { graphProblems } from './validate-graph.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'prod'] as const;

/** Pipelines of up to seven environments; mostly sensible ones, because those with cycles end early. */
const pipelines = fc
  .record({
    names: fc.shuffledSubarray([...NAMES]),
    waves: fc.array(fc.constantFrom(0, 0, 0, 1, 2, 5), { minLength: 7, maxLength: 7 }),
    sortWaves: fc.boolean(),
    references: fc.array(fc.option(fc.array(fc.nat(6), { maxLength: 3 }), { nil: undefined, freq: 1 }), { minLength: 7, maxLength: 7 }),
    backwards: fc.integer({ min: 0, max: 9 }),
  })
  .map(({ names, waves, sortWaves, references, backwards }): readonly OrderedEnvironment[] => {
    const ordered = sortWaves ? waves.toSorted((x, y) => x - y) : waves;
    return names.map((name, index) => {
      const before = backwards > 0 ? names.slice(0, index) : names;
      const named = (references[index] ?? []).flatMap((reference) => before[reference] ?? []);
      return { name, wave: ordered[index] ?? 0, dependsOn: named.length > 0 ? named : undefined };
    });
  });

const inputs = pipelines.chain((environments) =>
  fc.record({
    environments: fc.constant(environments),
    targetEnvironment: fc.constantFrom(undefined, 'prod', ...environments.map(({ name }) => name)),
    skip: fc.subarray(environments.map(({ name }) => name)),
  }),
);
type Input = { environments: readonly OrderedEnvironment[]; targetEnvironment: string | undefined; skip: readonly string[] };

const planOf = ({ targetEnvironment, ...rest }: Input): GraphPlan =>
  planGraph(targetEnvironment === undefined ? rest : { ...rest, targetEnvironment });

/**
 * The same rules said another way: as a relation between two positions of the list, reachability by repeated squaring of a matrix, and no
 * ordering at all. Returns who must be there and whom each waits for, directly or not.
 */
const reference = ({ environments, targetEnvironment = 'prod', skip }: Input): ReadonlyMap<string, ReadonlySet<string>> | 'cycle' => {
  const n = environments.length;
  const at = (index: number): OrderedEnvironment => environments[index] ?? { name: '', wave: 0, dependsOn: undefined };
  const indices = Array.from({ length: n }, (_, index) => index);
  const waveComplete = (wave: number, by: number): boolean => indices.every((k) => at(k).wave !== wave || k < by);
  const waits = (i: number, j: number): boolean => {
    const from = at(i);
    const to = at(j);
    if (from.dependsOn?.includes(to.name)) return true;
    if (from.wave > 0) {
      const hasLower = indices.some((k) => at(k).wave > 0 && at(k).wave < from.wave);
      if (hasLower) return to.wave > 0 && to.wave < from.wave && !indices.some((k) => at(k).wave > to.wave && at(k).wave < from.wave);
      const first = indices.find((k) => at(k).wave === from.wave) ?? 0;
      return to.wave === 0 && j < first && !indices.some((k) => k > j && k < first && at(k).wave === 0);
    }
    if (from.dependsOn || i === 0) return false;
    if (at(i - 1).wave === 0) return j === i - 1;
    if (j === i - 1 && !waveComplete(to.wave, i)) return true;
    return to.wave > 0 && waveComplete(to.wave, i) && !indices.some((k) => at(k).wave > to.wave && waveComplete(at(k).wave, i));
  };
  const reach = indices.map((i) => indices.map((j) => waits(i, j)));
  for (const k of indices) for (const i of indices) for (const j of indices) if (reach[i]?.[k] && reach[k]?.[j]) (reach[i] ?? [])[j] = true;
  if (indices.some((i) => reach[i]?.[i])) return 'cycle';
  const goal = environments.findIndex(({ name }) => name === targetEnvironment);
  const root = (i: number): boolean => (targetEnvironment === 'prod' ? goal < 0 || i <= goal : i === goal);
  const there = indices.filter((j) => !skip.includes(at(j).name) && indices.some((i) => root(i) && (i === j || reach[i]?.[j])));
  return new Map(there.map((i) => [at(i).name, new Set(there.filter((j) => reach[i]?.[j]).map((j) => at(j).name))]));
};

/** Whom each node waits for, directly or not, by following the planned edges. */
const reachable = (plan: Extract<GraphPlan, { ok: true }>): ReadonlyMap<string, ReadonlySet<string>> => {
  const all = new Map<string, ReadonlySet<string>>();
  for (const node of plan.nodes) all.set(node.id, new Set(node.dependsOn.flatMap((id) => [id, ...(all.get(id) ?? [])])));
  return all;
};

const sorted = (map: ReadonlyMap<string, ReadonlySet<string>>) =>
  [...map].map(([name, set]) => [name, [...set].sort()] as const).sort(([x], [y]) => (x < y ? -1 : 1));

describe('any planned graph', () => {
  it('has every dependency before its dependents, so no cycle, and each node once', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const plan = planOf(input);
        if (!plan.ok) return;
        const seen = new Set<string>();
        for (const node of plan.nodes) {
          assert.ok(
            node.dependsOn.every((id) => seen.has(id)),
            `${node.id} comes before something it depends on, or that is not there`,
          );
          assert.ok(!seen.has(node.id));
          seen.add(node.id);
        }
      }),
      { numRuns: 500 },
    );
  });
  it('agrees with the reference model: who is there, and whom each waits for, whatever is skipped', () => {
    let planned = 0;
    fc.assert(
      fc.property(inputs, (input) => {
        const plan = planOf(input);
        const expected = reference(input);
        if (!plan.ok) {
          if (plan.reason.code === 'Cycle') assert.equal(expected, 'cycle');
          else if (plan.reason.code === 'TargetSkipped') assert.ok(input.skip.includes(input.targetEnvironment ?? 'prod'));
          else {
            assert.equal(plan.reason.code, 'NothingToPromote');
            assert.ok(expected !== 'cycle' && expected.size === 0);
          }
          return;
        }
        assert.ok(expected !== 'cycle');
        assert.deepEqual(sorted(reachable(plan)), sorted(expected));
        planned += 1;
      }),
      { numRuns: 1500 },
    );
    assert.ok(planned > 300, `only ${planned} pipelines could be planned`);
  });
  it('finds a problem exactly when there is a cycle', () => {
    fc.assert(
      fc.property(pipelines, (environments) => {
        const cyclic = reference({ environments, targetEnvironment: undefined, skip: [] }) === 'cycle';
        const problems = graphProblems(environments);
        assert.equal(problems.length > 0, cyclic);
        for (const { message } of problems) {
          const path = /cycle: (.*) \(/.exec(message)?.[1]?.split(' → ') ?? [];
          assert.ok(path.length > 1 && path.at(0) === path.at(-1), message);
        }
      }),
      { numRuns: 500 },
    );
  });
});
