/** Remote repositories in memory: branches and commits, as durable and as shared as a Git server is. */
import { createHash } from 'node:crypto';
import { type CommitSha, parseCommitSha } from '../../src/api/repository.ts';

/** One commit with its whole tree. */
export interface RemoteCommit {
  readonly sha: CommitSha;
  readonly parent: CommitSha | undefined;
  readonly files: ReadonlyMap<string, string>;
  readonly message: string;
  /** Committer time in milliseconds. */
  readonly time: number;
  /** The run of its trailer. */
  readonly run: string | undefined;
}

/** A move of a branch, as the server saw it. */
export interface Landed {
  readonly url: string;
  readonly branch: string;
  readonly commit: RemoteCommit;
}

/** What a commit is made of. */
export interface NewCommit {
  readonly parent: CommitSha | undefined;
  readonly files: ReadonlyMap<string, string>;
  readonly message: string;
  readonly time: number;
}

const brand = (hex: string): CommitSha => {
  const sha = parseCommitSha(hex);
  if (!sha) throw new Error(`not a commit id: ${hex}`);
  return sha;
};

/** The value of the last `Promoter-Run` trailer. */
export const runOf = (message: string): string | undefined => /^Promoter-Run: (.+)$/m.exec(message.split('\n\n').at(-1) ?? '')?.[1]?.trim();

/** All repositories by URL. */
export class GitRemotes {
  readonly #objects = new Map<CommitSha, RemoteCommit>();
  readonly #branches = new Map<string, Map<string, CommitSha>>();
  readonly #listeners: ((landed: Landed) => void)[] = [];
  /** Accepted pushes so far. */
  pushes = 0;

  /** Hears of every move of a branch, whoever made it. */
  onLanded(listener: (landed: Landed) => void): void {
    this.#listeners.push(listener);
  }

  /** Makes a repository whose branches start with one commit of these files. */
  seed(url: string, branches: readonly string[], files: ReadonlyMap<string, string>): void {
    const commit = this.make({ parent: undefined, files, message: 'Manifests as they were', time: 0 });
    this.#branches.set(url, new Map(branches.map((branch) => [branch, commit.sha])));
  }

  /** Whether the repository exists. */
  has(url: string): boolean {
    return this.#branches.has(url);
  }

  /** The branch's tip, if there is such a branch. */
  tip(url: string, branch: string): RemoteCommit | undefined {
    const sha = this.#branches.get(url)?.get(branch);
    return sha === undefined ? undefined : this.#objects.get(sha);
  }

  /** A commit by its id. */
  commit(sha: string): RemoteCommit | undefined {
    const parsed = parseCommitSha(sha);
    return parsed && this.#objects.get(parsed);
  }

  /** The branch's commits, newest first. */
  history(url: string, branch: string): readonly RemoteCommit[] {
    const commits: RemoteCommit[] = [];
    for (let commit = this.tip(url, branch); commit; commit = commit.parent && this.#objects.get(commit.parent)) commits.push(commit);
    return commits;
  }

  /** Writes a commit object; no branch moves. The same content gives the same commit. */
  make({ parent, files, message, time }: NewCommit): RemoteCommit {
    const digest = createHash('sha1').update(JSON.stringify([parent ?? '', message, time]));
    const before = parent === undefined ? undefined : this.#objects.get(parent)?.files;
    const paths = [...files].filter(([path, text]) => before?.get(path) !== text);
    const sha = brand(digest.update(JSON.stringify(paths)).digest('hex'));
    const commit: RemoteCommit = { sha, parent, files, message, time, run: runOf(message) };
    this.#objects.set(sha, commit);
    return commit;
  }

  /** Moves a branch if it still is where it is expected; whether it did. */
  compareAndSwap(url: string, branch: string, move: { readonly from: CommitSha; readonly to: CommitSha }): boolean {
    const branches = this.#branches.get(url);
    const commit = this.#objects.get(move.to);
    if (!branches || !commit || branches.get(branch) !== move.from) return false;
    branches.set(branch, move.to);
    this.pushes += 1;
    for (const listener of this.#listeners) listener({ url, branch, commit });
    return true;
  }

  /** Somebody moves a branch to any commit, history or not. */
  reset(url: string, branch: string, sha: string): void {
    const commit = this.commit(sha);
    if (commit) this.#branches.get(url)?.set(branch, commit.sha);
  }

  /** Somebody rewrites the history: the branch is moved back by some commits, never behind the first one. */
  rewind(url: string, branch: string, commits: number): void {
    const history = this.history(url, branch);
    const commit = history[Math.min(commits, history.length - 1)];
    if (!commit) return;
    this.#branches.get(url)?.set(branch, commit.sha);
    for (const listener of this.#listeners) listener({ url, branch, commit });
  }

  /** A commit of somebody else on top of the branch. */
  writeOutside(
    url: string,
    branch: string,
    change: { readonly message: string; readonly time: number; readonly edit: (files: Map<string, string>) => void },
  ): void {
    const tip = this.tip(url, branch);
    if (!tip) return;
    const files = new Map(tip.files);
    change.edit(files);
    const commit = this.make({ parent: tip.sha, files, message: change.message, time: Math.max(change.time, tip.time) });
    this.compareAndSwap(url, branch, { from: tip.sha, to: commit.sha });
  }
}
