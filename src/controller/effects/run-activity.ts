/** Carries out one activity through its port. The record of effects is a table: a kind without an entry does not compile. */
import { done, type Outcome, terminal } from '../../api/outcome.ts';
import { type CommitSha, parseCommitSha } from '../../api/repository.ts';
import { compileEdit } from '../../core/edit/compile-edit.ts';
import type { ActivityEffect, CommitIntent } from '../../core/effect.ts';
import type { ActivityResult } from '../../core/step/settle.ts';
import type { CommitPlan, GitPort } from '../../ports/git.ts';

type Of<Kind extends ActivityEffect['kind']> = Extract<ActivityEffect, { kind: Kind }>;

/** The ports of activities, and the question that is asked right before a write is handed over. */
export interface ActivityPorts {
  readonly git: GitPort;
  readonly stillWanted: () => Promise<boolean>;
}

const map = <A, B>(outcome: Outcome<A>, change: (value: A) => B): Outcome<B> =>
  outcome.outcome === 'done' ? done(change(outcome.value)) : outcome;

const planOf = (intent: CommitIntent): CommitPlan => ({
  edit: compileEdit(intent.edit),
  run: intent.run,
  message: intent.message,
  time: intent.time,
});

const noBase = (base: string): Outcome<never> => terminal('BaseInvalid', `${JSON.stringify(base)} is no commit`);

const withBase = <T>(text: string, run: (base: CommitSha) => Promise<Outcome<T>>): Promise<Outcome<T>> => {
  const base = parseCommitSha(text);
  return base === undefined ? Promise.resolve(noBase(text)) : run(base);
};

const fetch = async (effect: Of<'GitFetch'>, { git }: ActivityPorts): Promise<Outcome<ActivityResult>> =>
  map(await git.fetch(effect.repository, effect.branch), ({ tip }) => ({ result: 'fetched', tip }));

const preview = async (effect: Of<'GitPreview'>, { git }: ActivityPorts): Promise<Outcome<ActivityResult>> =>
  map(await withBase(effect.base, (base) => git.preview(effect.repository, base, compileEdit(effect.edit))), (changes) => ({
    result: 'previewed',
    files: changes.map((change) => change.path),
  }));

const commit = async (effect: Of<'GitCommit'>, { git }: ActivityPorts): Promise<Outcome<ActivityResult>> =>
  map(await withBase(effect.base, (base) => git.commit(effect.repository, base, planOf(effect))), (made) => ({
    result: 'committed',
    commit: made.commit,
    changed: made.changed,
  }));

const push = async (effect: Of<'GitPush'>, { git, stillWanted }: ActivityPorts): Promise<Outcome<ActivityResult>> => {
  const since = parseCommitSha(effect.since ?? '');
  const plan = { ...planOf(effect), branch: effect.branch, notBefore: effect.notBefore, ...(since ? { since } : {}) };
  return map(await git.push(effect.repository, plan, stillWanted), (pushed) => pushed);
};

/** Runs the activity to its end. */
export const runActivity = (effect: ActivityEffect, ports: ActivityPorts): Promise<Outcome<ActivityResult>> => {
  switch (effect.kind) {
    case 'GitFetch':
      return fetch(effect, ports);
    case 'GitPreview':
      return preview(effect, ports);
    case 'GitCommit':
      return commit(effect, ports);
    case 'GitPush':
      return push(effect, ports);
  }
};
