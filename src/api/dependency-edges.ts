/**
 * Who waits for whom: the dependencies of a Pipeline's environments, before target and skips. They follow from the order of the list, from
 * `dependsOn` and from `wave`; names are not checked here, so that an unknown one can be reported together with who used it.
 */
import type { ResolvedEnvironment } from './resolve.ts';

/** What the order depends on. */
export type OrderedEnvironment = Pick<ResolvedEnvironment, 'name' | 'dependsOn' | 'wave'>;

/** One environment and the names it waits for, without repetitions. */
export interface Dependencies {
  readonly environment: string;
  readonly dependsOn: readonly string[];
}

interface Waves {
  /** Positions of the members, in list order, by wave number above 0. */
  readonly members: ReadonlyMap<number, readonly number[]>;
  /** Wave numbers, ascending. */
  readonly numbers: readonly number[];
}

const wavesOf = (environments: readonly OrderedEnvironment[]): Waves => {
  const members = new Map<number, number[]>();
  for (const [index, { wave }] of environments.entries()) {
    if (wave > 0) members.set(wave, [...(members.get(wave) ?? []), index]);
  }
  return { members, numbers: [...members.keys()].sort((a, b) => a - b) };
};

/** The lowest wave follows the wave-0 environment listed before its first member; every other wave follows the next lower one that exists. */
const waveEdges = (environments: readonly OrderedEnvironment[], waves: Waves, wave: number): readonly number[] => {
  const lower = waves.numbers.findLast((number) => number < wave);
  if (lower !== undefined) return waves.members.get(lower) ?? [];
  const first = waves.members.get(wave)?.[0] ?? 0;
  const before = environments.slice(0, first).findLastIndex((environment) => environment.wave <= 0);
  return before < 0 ? [] : [before];
};

/**
 * The previous environment. Where that one belongs to a wave, all of the highest wave that is completely listed before this one take its place;
 * a wave that goes on further down cannot be waited for as a whole, so then the previous environment stays a dependency by itself.
 */
const sequentialEdges = (environments: readonly OrderedEnvironment[], waves: Waves, index: number): readonly number[] => {
  const previous = environments[index - 1];
  if (previous === undefined) return [];
  if (previous.wave <= 0) return [index - 1];
  const isWhole = (wave: number): boolean => (waves.members.get(wave) ?? []).every((member) => member < index);
  const last = waves.numbers.findLast(isWhole);
  const whole = last === undefined ? [] : (waves.members.get(last) ?? []);
  return isWhole(previous.wave) ? whole : [...whole, index - 1];
};

/** The dependencies of every environment, in list order. An explicit `dependsOn` replaces the sequential default and is added to the wave's. */
export const dependencyEdges = (environments: readonly OrderedEnvironment[]): readonly Dependencies[] => {
  const waves = wavesOf(environments);
  return environments.map(({ name, dependsOn = [], wave }, index) => {
    const implied =
      wave > 0 ? waveEdges(environments, waves, wave) : dependsOn.length > 0 ? [] : sequentialEdges(environments, waves, index);
    const names = implied.flatMap((position) => environments[position]?.name ?? []);
    return { environment: name, dependsOn: [...new Set([...dependsOn, ...names])] };
  });
};
