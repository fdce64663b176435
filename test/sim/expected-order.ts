/** What the specification says about the order of environments, written a second time and in another way than the code under test does it. */
import type { Environment, PipelineSpec } from '../../src/api/kinds/pipeline.ts';

/** Direct dependencies by environment. */
export type Order = ReadonlyMap<string, ReadonlySet<string>>;

const nameOf = (environment: Environment): string => environment.name ?? '';
const waveOf = (environment: Environment): number => environment.wave ?? 0;

const inWave = (environments: readonly Environment[], wave: number): string[] =>
  environments.filter((other) => waveOf(other) === wave).map(nameOf);

/** Dependencies that follow from the place in the list. */
const sequential = (environments: readonly Environment[], index: number): string[] => {
  const before = environments.slice(0, index);
  const previous = before.at(-1);
  if (!previous) return [];
  if (waveOf(previous) === 0) return [nameOf(previous)];
  return inWave(before, Math.max(...before.map(waveOf)));
};

/** Dependencies that follow from the wave. */
const fromWave = (environments: readonly Environment[], index: number): string[] => {
  const own = environments[index];
  const lower = environments.map(waveOf).filter((wave) => wave > 0 && own !== undefined && wave < waveOf(own));
  if (lower.length > 0) return inWave(environments, Math.max(...lower));
  const before = environments.slice(0, index).findLast((other) => waveOf(other) === 0);
  return before ? [nameOf(before)] : [];
};

const fullOrder = (environments: readonly Environment[]): Order =>
  new Map(
    environments.map((environment, index) => {
      const explicit = environment.dependsOn ?? [];
      const implied = waveOf(environment) > 0 ? fromWave(environments, index) : explicit.length > 0 ? [] : sequential(environments, index);
      return [nameOf(environment), new Set([...explicit, ...implied])];
    }),
  );

const withAncestors = (names: Iterable<string>, order: Order): Set<string> => {
  const reached = new Set<string>();
  const queue = [...names];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    queue.push(...(order.get(name) ?? []));
  }
  return reached;
};

/** A skipped environment's successors inherit what it waited for. */
const inherit = (names: ReadonlySet<string>, order: Order, skipped: ReadonlySet<string>): ReadonlySet<string> => {
  const result = new Set<string>();
  for (const name of names) {
    if (!skipped.has(name)) result.add(name);
    else for (const inherited of inherit(order.get(name) ?? new Set(), order, skipped)) result.add(inherited);
  }
  return result;
};

/** How far a Bundle goes. */
export interface Intended {
  readonly target: string | undefined;
  readonly skip: readonly string[];
}

/** The environments that a Bundle shall reach, with what each waits for. */
export const expectedOrder = (pipeline: PipelineSpec | undefined, intended: Intended): Order => {
  const environments = pipeline?.environments ?? [];
  const full = fullOrder(environments);
  const names = environments.map(nameOf);
  const target = intended.target ?? 'prod';
  const position = names.indexOf(target);
  const wanted = target === 'prod' ? names.slice(0, position < 0 ? names.length : position + 1) : [target];
  const reached = withAncestors(wanted, full);
  const skipped = new Set(intended.skip);
  return new Map(
    names
      .filter((name) => reached.has(name) && !skipped.has(name))
      .map((name) => [name, inherit(full.get(name) ?? new Set(), full, skipped)]),
  );
};
