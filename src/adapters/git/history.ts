/** Looks for commits of runs between a tip and the places where the runs began. */
import type { Outcome } from '../../api/outcome.ts';
import { done } from '../../api/outcome.ts';
import type { CommitInfo } from './objects.ts';

/** A run to look for. */
export interface SoughtRun {
  readonly run: string;
  /** Its commit lies after this one, if that is in the history at all. */
  readonly since?: string;
  /** Milliseconds; its commit is not older. */
  readonly notBefore: number;
}

/** A run's commit. */
export interface FoundRun {
  readonly commit: string;
  readonly info: CommitInfo;
}

/** Clocks of others may be wrong, so the walk ends only after this many commits in a row that are too old. */
const patience = 64;
/** Seconds by which our own clock may have been set back between start and commit. */
const slack = 86_400;

/**
 * One walk for all runs, newest first. It does not go past a run's start once every other start has been met; in histories where a start
 * is missing (rewritten) or bypassed (merged), time ends it. Whatever carries a run's name is its commit, so going too far is harmless.
 */
export async function findRuns(
  tip: string,
  sought: readonly SoughtRun[],
  readCommit: (oid: string) => Promise<Outcome<CommitInfo>>,
): Promise<Outcome<ReadonlyMap<string, FoundRun>>> {
  const found = new Map<string, FoundRun>();
  const wanted = new Set(sought.map((one) => one.run));
  const oldest = Math.min(...sought.map((one) => one.notBefore)) / 1000 - slack;
  const unmet = new Set(sought.map((one) => one.since ?? ''));
  const seen = new Set([tip]);
  let frontier: { readonly oid: string; readonly info: CommitInfo }[] = [];
  let tooOld = 0;
  const add = async (oid: string): Promise<Outcome<CommitInfo>> => {
    const info = await readCommit(oid);
    if (info.outcome === 'done') frontier = insert(frontier, { oid, info: info.value });
    return info;
  };
  const start = await add(tip);
  if (start.outcome !== 'done') return start;
  for (let next = frontier.shift(); next !== undefined && wanted.size > found.size; next = frontier.shift()) {
    unmet.delete(next.oid);
    if (unmet.size === 0 && sought.some((one) => one.since === next?.oid)) continue;
    for (const run of next.info.runs) if (wanted.has(run) && !found.has(run)) found.set(run, { commit: next.oid, info: next.info });
    tooOld = next.info.time < oldest ? tooOld + 1 : 0;
    if (tooOld > patience) break;
    for (const parent of next.info.parents) {
      if (seen.has(parent)) continue;
      seen.add(parent);
      const info = await add(parent);
      if (info.outcome !== 'done') return info;
    }
  }
  return done(found);
}

/** Newest first; equal times keep the order in which they were met, so that children come before parents. */
function insert<T extends { readonly info: CommitInfo }>(sorted: readonly T[], item: T): T[] {
  const at = sorted.findIndex((other) => other.info.time < item.info.time);
  return sorted.toSpliced(at < 0 ? sorted.length : at, 0, item);
}
