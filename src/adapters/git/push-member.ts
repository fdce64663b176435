/** One run that waits to be pushed, and the batches in which runs wait. */
import type { Outcome } from '../../api/outcome.ts';
import type { Pushed, PushPlan } from '../../ports/git.ts';

/** A run on its way to the remote. */
export interface PushMember {
  readonly plan: PushPlan;
  readonly guard: () => Promise<boolean>;
  /** Gives the caller its result; only the first call counts. */
  readonly settle: (outcome: Outcome<Pushed>) => void;
  /** Gives the caller the error of a guard or edit that threw. */
  readonly fail: (error: unknown) => void;
  readonly settled: () => boolean;
  /** Lost races so far. */
  readonly races: number;
}

/** Runs that are tried in one push. */
export interface Batch {
  readonly members: PushMember[];
  /** A part of a refused batch takes in nobody else. */
  readonly closed: boolean;
  /** The tips must come from the remote in this very attempt. */
  readonly fetchFirst: boolean;
}

/** Makes a member and the promise of its result. */
export function newMember(
  plan: PushPlan,
  guard: () => Promise<boolean>,
): { readonly member: PushMember; readonly result: Promise<Outcome<Pushed>> } {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome<Pushed>>();
  let settled = false;
  const once =
    <T>(use: (value: T) => void) =>
    (value: T): void => {
      settled = true;
      use(value);
    };
  return { member: { plan, guard, settle: once(resolve), fail: once(reject), settled: () => settled, races: 0 }, result: promise };
}

/** Two halves, by branch first, so that branches are told apart before commits are. */
export function halves(members: readonly PushMember[]): readonly (readonly PushMember[])[] {
  const sorted = [...Map.groupBy(members, (member) => member.plan.branch).values()].flat();
  const middle = Math.ceil(sorted.length / 2);
  return [sorted.slice(0, middle), sorted.slice(middle)];
}
