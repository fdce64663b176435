/**
 * Git, as far as promotions need it. A promotion is a function from a base tree to a few changed files: nothing is ever checked out.
 * A push is a compare-and-swap of the branch from the base on which the run's own commit was looked for and not found; so a run lands at most
 * once whatever crashes in between, because whoever pushed first moves the base and the loser looks again.
 */
import type { FileEdit } from '../api/file-edit.ts';
import type { Outcome } from '../api/outcome.ts';
import type { CommitSha, Repository } from '../api/repository.ts';

/** A changed file. */
export interface FileChange {
  readonly path: string;
  /** Absent for a new file. */
  readonly before?: string;
  readonly after: string;
}

/** All that a commit is a function of, besides its base. */
export interface CommitPlan {
  readonly edit: FileEdit;
  /** Identity of the run; stands in the trailer `Promoter-Run`. */
  readonly run: string;
  /** Complete message, trailers included. */
  readonly message: string;
  /** Intent time in milliseconds: author date, and committer date unless the parent's is later. */
  readonly time: number;
}

/** A commit that was made but not pushed, or the base itself when the edit changes nothing. */
export interface Committed {
  readonly base: CommitSha;
  readonly commit: CommitSha;
  readonly changed: boolean;
}

export interface PushPlan extends CommitPlan {
  readonly branch: string;
  /** The branch's tip when the run began: its commit can only lie after it. When absent, commits since `notBefore` are searched. */
  readonly since?: CommitSha;
  /** Milliseconds; no commit of this run is older. */
  readonly notBefore: number;
}

/** How a push ended well. */
export type Pushed =
  /** Our commit is on the branch; `found` when it had been there before this call. */
  | { readonly result: 'landed'; readonly commit: CommitSha; readonly base: CommitSha; readonly found: boolean; readonly races: number }
  /** The tip already says what is wanted and no commit of this run is needed. */
  | { readonly result: 'unchanged'; readonly tip: CommitSha }
  /** The run's commit is in the branch's history, but the tip says something else: somebody wrote after it. */
  | { readonly result: 'overwritten'; readonly commit: CommitSha; readonly tip: CommitSha }
  /** The guard said no right before the write. */
  | { readonly result: 'withdrawn' };

/**
 * Codes of transient outcomes: `GitUnreachable`, `GitUnauthorized` (401/403 or key refused), `GitRepositoryMissing` (access may be what is missing),
 * `GitTimeout`, `GitPushConflict` (a fourth lost race), `GitServerError`, `GitDiskFull`, `GitMirrorCorrupt`, `GitBaseMissing` (the base was rewritten
 * away: fetch again), `GitUnavailable` (git cannot be run now), and of `push` with `since` also `GitBranchMissing` and `GitRepositoryEmpty` (what was
 * there when the run began may come back). Terminal: `GitPushRefused` (protection or hook, with the server's words),
 * `GitBranchMissing`, `GitRepositoryEmpty`, `GitURLRefused`, `GitFormatUnsupported`, `NotUTF8`, `NotAFile` (a link, submodule or folder), `PathRefused`,
 * `FileTooLarge`, and the code of a refused edit, whose message names file and line.
 */
export interface GitPort {
  /** Asks the remote for the branch and brings its commits and trees; concurrent calls for one repository share one fetch. */
  fetch(repository: Repository, branch: string): Promise<Outcome<{ readonly tip: CommitSha }>>;
  /** What the edit would change at that commit; writes nothing. */
  preview(repository: Repository, base: CommitSha, edit: FileEdit): Promise<Outcome<readonly FileChange[]>>;
  /** Writes the commit into the mirror only. The same plan on the same base gives the same commit. */
  commit(repository: Repository, base: CommitSha, plan: CommitPlan): Promise<Outcome<Committed>>;
  /**
   * Lands the run on the branch: fetch, look for the run, apply the edit to the tip, push with compare-and-swap; up to 3 lost races are repeated.
   * `guard` is asked each time right before a write is handed over; false withdraws this run and holds up nobody else.
   */
  push(repository: Repository, plan: PushPlan, guard: () => Promise<boolean>): Promise<Outcome<Pushed>>;
}
