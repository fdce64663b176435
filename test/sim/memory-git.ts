/**
 * Git in memory, in the weakest form that the port allows: every stage of a push is a call of its own that the turnstile may hold, several pushes
 * of one repository may be under way at once, and the server may keep an answer to itself. Only the compare-and-swap of the branch is exact.
 */
import type { FileEdit } from '../../src/api/file-edit.ts';
import { done, type Outcome, terminal, transient } from '../../src/api/outcome.ts';
import type { CommitSha, Repository } from '../../src/api/repository.ts';
import type { CommitPlan, Committed, FileChange, GitPort, Pushed, PushPlan } from '../../src/ports/git.ts';
import type { GitRemotes, RemoteCommit } from './git-remotes.ts';
import type { Turnstile } from './turnstile.ts';

/** What a remote does with a write that is handed over. */
export type HandOver =
  | 'carried out'
  /** Not carried out, and the caller hears of a failure. */
  | 'failed'
  /** Carried out, and the caller hears of a failure. */
  | 'answer lost'
  /** The caller hears of a failure, and it is carried out later, if the branch is still where it was. */
  | 'late';

/** What goes wrong, asked at each call. */
export interface GitFaults {
  /** A reason why the remote cannot be asked now. */
  failure(url: string, what: 'fetch' | 'read' | 'push'): Outcome<never> | undefined;
  handOver(url: string): HandOver;
  /** Right before a compare-and-swap; may write to the branch. */
  beforeSwap(url: string, branch: string): void;
  /** A refusal by the server of a commit that changes these paths. */
  refuses(url: string, paths: readonly string[]): string | undefined;
}

/** Nothing goes wrong. */
export const noGitFaults: GitFaults = {
  failure: () => undefined,
  handOver: () => 'carried out',
  beforeSwap: () => undefined,
  refuses: () => undefined,
};

/** Hears of guards, which are where a push is decided for the last time. */
export interface PushWatcher {
  /** The guard of this run is being asked; the result hears its answer. */
  guardAsked(plan: PushPlan): (answer: boolean) => void;
  /** A push of this run has looked at the branch. */
  looked?(plan: PushPlan): void;
}

/** What the adapter needs. */
export interface MemoryGitOptions {
  readonly remotes: GitRemotes;
  readonly turnstile: Turnstile;
  readonly faults?: GitFaults;
  readonly watcher?: PushWatcher;
  /** Whether pushes of one repository wait for each other, as a queue would have them; otherwise they race. */
  readonly serial?: boolean;
}

type Edited =
  | { readonly ok: true; readonly files: ReadonlyMap<string, string>; readonly changes: readonly FileChange[] }
  | { readonly ok: false; readonly outcome: Outcome<never> };

const RACES = 3;

const editOn = (files: ReadonlyMap<string, string>, edit: FileEdit): Edited => {
  const seen = new Map<string, string>();
  for (const path of edit.reads) {
    const text = files.get(path);
    if (text !== undefined) seen.set(path, text);
  }
  const result = edit.apply(seen);
  if (!result.ok) {
    const { code, message, file, line } = result.refusal;
    return { ok: false, outcome: terminal(code, `${file}${line === undefined ? '' : `:${line}`}: ${message}`) };
  }
  const changes = [...result.writes]
    .filter(([path, text]) => files.get(path) !== text)
    .map(([path, after]) => {
      const before = files.get(path);
      return before === undefined ? { path, after } : { path, before, after };
    });
  return { ok: true, changes, files: new Map([...files, ...result.writes]) };
};

type Look =
  | { readonly outcome: Outcome<Pushed> }
  | { readonly tip: RemoteCommit; readonly made: RemoteCommit; readonly paths: readonly string[] };

const shown = (outcome: Outcome<unknown>): string =>
  outcome.outcome === 'done' ? JSON.stringify(outcome.value).slice(0, 120) : `${outcome.outcome} ${outcome.reason.code}`;

const short = (url: string): string => url.split('/').at(-1) ?? url;

/** Makes the adapter. */
export const createMemoryGit = ({ remotes, turnstile, faults = noGitFaults, watcher, serial = false }: MemoryGitOptions): GitPort => {
  const branchTip = (repository: Repository, branch: string): Outcome<RemoteCommit> => {
    if (!remotes.has(repository.url))
      return transient('GitRepositoryMissing', `there is no repository ${repository.url}, or access to it is missing`);
    const tip = remotes.tip(repository.url, branch);
    return tip ? done(tip) : terminal('GitBranchMissing', `${repository.url} has no branch ${branch}`);
  };

  const baseOf = (repository: Repository, base: CommitSha): Outcome<RemoteCommit> => {
    const failed = faults.failure(repository.url, 'read');
    if (failed) return failed;
    const commit = remotes.commit(base);
    return commit ? done(commit) : transient('GitBaseMissing', `commit ${base} is not there`);
  };

  const find = (repository: Repository, plan: PushPlan): RemoteCommit | undefined => {
    for (const commit of remotes.history(repository.url, plan.branch)) {
      if (commit.sha === plan.since) return undefined;
      if (commit.run === plan.run) return commit;
      if (plan.since === undefined && commit.time < plan.notBefore - 1000) return undefined;
    }
    return undefined;
  };

  /** Looks for the run, and makes its commit on the tip when it is not there. */
  const look = (repository: Repository, plan: PushPlan, races: number): Look => {
    const failed = faults.failure(repository.url, 'fetch');
    if (failed) return { outcome: failed };
    const tip = branchTip(repository, plan.branch);
    if (tip.outcome !== 'done') return { outcome: tip };
    const found = find(repository, plan);
    const edited = editOn(tip.value.files, plan.edit);
    if (found) {
      if (edited.ok && edited.changes.length === 0) {
        return { outcome: done({ result: 'landed', commit: found.sha, base: found.parent ?? found.sha, found: true, races }) };
      }
      return { outcome: done({ result: 'overwritten', commit: found.sha, tip: tip.value.sha }) };
    }
    if (!edited.ok) return { outcome: edited.outcome };
    if (edited.changes.length === 0) return { outcome: done({ result: 'unchanged', tip: tip.value.sha }) };
    const time = Math.max(plan.time, tip.value.time);
    const made = remotes.make({ parent: tip.value.sha, files: edited.files, message: plan.message, time });
    return { tip: tip.value, made, paths: edited.changes.map((change) => change.path) };
  };

  const swap = (repository: Repository, plan: PushPlan, looked: Extract<Look, { tip: RemoteCommit }>): Outcome<boolean> => {
    const failed = faults.failure(repository.url, 'push');
    if (failed) return failed;
    const refused = faults.refuses(repository.url, looked.paths);
    if (refused) return terminal('GitPushRefused', `the server refused the push: ${refused}`);
    faults.beforeSwap(repository.url, plan.branch);
    const move = { from: looked.tip.sha, to: looked.made.sha };
    const handed = faults.handOver(repository.url);
    if (handed === 'late') {
      turnstile.later(`late push ${plan.run} ${move.from.slice(0, 7)}..${move.to.slice(0, 7)}`, () => {
        remotes.compareAndSwap(repository.url, plan.branch, move);
      });
    }
    if (handed === 'late' || handed === 'failed') return transient('GitTimeout', 'the server did not answer in time');
    const swapped = remotes.compareAndSwap(repository.url, plan.branch, move);
    return handed === 'answer lost' ? transient('GitTimeout', 'the server did not answer in time') : done(swapped);
  };

  const ask = async (plan: PushPlan, guard: () => Promise<boolean>): Promise<boolean> => {
    const heard = watcher?.guardAsked(plan);
    const answer = await guard();
    heard?.(answer);
    return answer;
  };

  const land: GitPort['push'] = async (repository, plan, guard) => {
    for (let races = 0; races <= RACES; races += 1) {
      const looked = await turnstile.call({
        target: 'git',
        label: `git.push look ${short(repository.url)} ${plan.branch} ${plan.run}`,
        writes: false,
        execute: () => {
          const seen = look(repository, plan, races);
          watcher?.looked?.(plan);
          return seen;
        },
        show: (answer) =>
          'outcome' in answer ? shown(answer.outcome) : `not there, ${answer.made.sha.slice(0, 7)} made on ${answer.tip.sha.slice(0, 7)}`,
      });
      if ('outcome' in looked) return looked.outcome;
      // Objects are made and sent, and a group waits for its members: time passes between the look and the last question.
      await turnstile.call({ target: 'git', label: `git.push prepare ${plan.run}`, writes: false, execute: () => undefined });
      if (!(await ask(plan, guard))) return done({ result: 'withdrawn' });
      const swapped = await turnstile.call({
        target: 'git',
        label: `git.push swap ${short(repository.url)} ${plan.branch} ${plan.run} ${looked.tip.sha.slice(0, 7)}..${looked.made.sha.slice(0, 7)}`,
        writes: true,
        execute: () => swap(repository, plan, looked),
        show: shown,
      });
      if (swapped.outcome !== 'done') return swapped;
      if (swapped.value) return done({ result: 'landed', commit: looked.made.sha, base: looked.tip.sha, found: false, races });
    }
    return transient('GitPushConflict', `the branch moved ${RACES + 1} times while the push was made`);
  };

  const last = new Map<string, Promise<unknown>>();
  const queued = <T>(url: string, work: () => Promise<T>): Promise<T> => {
    const before = serial ? last.get(url) : undefined;
    const result = before ? before.then(work) : work();
    last.set(url, result);
    return result;
  };

  return {
    fetch: (repository, branch) =>
      turnstile.call({
        target: 'git',
        label: `git.fetch ${short(repository.url)} ${branch}`,
        writes: false,
        show: shown,
        execute: () => {
          const failed = faults.failure(repository.url, 'fetch');
          if (failed) return failed;
          const tip = branchTip(repository, branch);
          return tip.outcome === 'done' ? done({ tip: tip.value.sha }) : tip;
        },
      }),
    preview: (repository, base, edit) =>
      turnstile.call({
        target: 'git',
        label: `git.preview ${short(repository.url)} ${base.slice(0, 7)}`,
        writes: false,
        show: (outcome) =>
          outcome.outcome === 'done' ? outcome.value.map((change) => change.path).join(' ') || 'no change' : shown(outcome),
        execute: (): Outcome<readonly FileChange[]> => {
          const commit = baseOf(repository, base);
          if (commit.outcome !== 'done') return commit;
          const edited = editOn(commit.value.files, edit);
          return edited.ok ? done(edited.changes) : edited.outcome;
        },
      }),
    commit: (repository, base, plan: CommitPlan) =>
      turnstile.call({
        target: 'git',
        label: `git.commit ${short(repository.url)} ${base.slice(0, 7)} ${plan.run}`,
        writes: true,
        show: shown,
        execute: (): Outcome<Committed> => {
          const commit = baseOf(repository, base);
          if (commit.outcome !== 'done') return commit;
          const edited = editOn(commit.value.files, plan.edit);
          if (!edited.ok) return edited.outcome;
          if (edited.changes.length === 0) return done({ base, commit: base, changed: false });
          const time = Math.max(plan.time, commit.value.time);
          const made = remotes.make({ parent: base, files: edited.files, message: plan.message, time });
          return done({ base, commit: made.sha, changed: true });
        },
      }),
    push: (repository, plan, guard) => queued(repository.url, () => land(repository, plan, guard)),
  };
};
