/** What becomes of runs after a look or a push. */
import type { Outcome } from '../../api/outcome.ts';
import { done, terminal, transient } from '../../api/outcome.ts';
import type { CommitSha } from '../../api/repository.ts';
import { parseCommitSha } from '../../api/repository.ts';
import type { FoundRun } from './history.ts';
import type { EditOnCommit } from './push-chain.ts';
import type { PushMember } from './push-member.ts';

/** Lost races after which a run gives up until the next reconcile. */
const racesAllowed = 3;

/** A branch's part of the push. */
export interface Chain {
  readonly branch: string;
  readonly base: CommitSha;
  head: CommitSha;
  readonly links: { readonly member: PushMember; readonly commit: CommitSha; readonly base: CommitSha; readonly changed: boolean }[];
}

/** A run whose commit was there before: landed when the tip still says what it wanted, else overwritten. */
export function settleFound(
  seen: { readonly member: PushMember; readonly run: FoundRun; readonly tip: CommitSha; readonly races: number },
  edit: Outcome<EditOnCommit>,
): void {
  const commit = parseCommitSha(seen.run.commit);
  const base = parseCommitSha(seen.run.info.parents[0] ?? '') ?? commit;
  if (commit === undefined || base === undefined) return;
  const saysSo = edit.outcome === 'done' && edit.value.state === 'edited' && edit.value.writes.size === 0;
  seen.member.settle(
    done(saysSo ? { result: 'landed', commit, base, found: true, races: seen.races } : { result: 'overwritten', commit, tip: seen.tip }),
  );
}

/** Everything in the chain is on the branch now. */
export function settleChain(chain: Chain): void {
  for (const { member, commit, base, changed } of chain.links)
    member.settle(
      done(changed ? { result: 'landed', commit, base, found: false, races: member.races } : { result: 'unchanged', tip: chain.head }),
    );
}

/** A lock of the branch that somebody holds, or left behind. */
const isLocked = (words: string): boolean => /\.lock\b.*File exists/.test(words);

/** Members that try again. A tip that was a few seconds old when the push began is not a lost race but a look that was saved in vain. */
export function lostRace(members: readonly PushMember[], asked: boolean, words: string): readonly PushMember[] {
  return members.flatMap((member) => {
    const races = member.races + (asked ? 1 : 0);
    if (races <= racesAllowed) return [{ ...member, races }];
    const what = isLocked(words)
      ? `is locked on the server, also at the ${races}th try`
      : `moved ${races} times while it was being written`;
    member.settle(transient('GitPushConflict', `the branch "${member.plan.branch}" ${what} (${words})`));
    return [];
  });
}

/** The server's no, which no retry mends. */
export function refusal(branch: string, words: string): Outcome<never> {
  return terminal('GitPushRefused', `the server refused the push to "${branch}": ${words}`);
}
