/** Carries out one activity through its port. The record of effects is a table: a kind without an entry does not compile. */

import type { FileEdit } from '../../api/file-edit.ts';
import type { Ref } from '../../api/meta.ts';
import { done, type Outcome, terminal } from '../../api/outcome.ts';
import { type CommitSha, parseCommitSha } from '../../api/repository.ts';
import type { ActivityEffect, CommitIntent, EditSpec } from '../../core/effect.ts';
import type { ActivityResult } from '../../core/step/settle.ts';
import type { CommitPlan, GitPort } from '../../ports/git.ts';

type Of<Kind extends ActivityEffect['kind']> = Extract<ActivityEffect, { kind: Kind }>;

/** The ports of activities, and the question that is asked right before a write is handed over. */
export interface ActivityPorts {
  readonly git: GitPort;
  /** Compiles the edit of a PromotionStep. */
  readonly compile: (step: string, spec: EditSpec) => FileEdit;
  readonly stillWanted: () => Promise<boolean>;
}

const map = <A, B>(outcome: Outcome<A>, change: (value: A) => B): Outcome<B> =>
  outcome.outcome === 'done' ? done(change(outcome.value)) : outcome;

const editOf = (effect: { readonly step: Ref; readonly edit: EditSpec }, { compile }: ActivityPorts): FileEdit =>
  compile(`${effect.step.namespace}/${effect.step.name}`, effect.edit);

const planOf = (effect: CommitIntent & { readonly step: Ref }, ports: ActivityPorts): CommitPlan => ({
  edit: editOf(effect, ports),
  run: effect.run,
  message: effect.message,
  time: effect.time,
});

const noBase = (base: string): Outcome<never> => terminal('BaseInvalid', `${JSON.stringify(base)} is no commit`);

const withBase = <T>(text: string, run: (base: CommitSha) => Promise<Outcome<T>>): Promise<Outcome<T>> => {
  const base = parseCommitSha(text);
  return base === undefined ? Promise.resolve(noBase(text)) : run(base);
};

const fetch = async (effect: Of<'GitFetch'>, { git }: ActivityPorts): Promise<Outcome<ActivityResult>> =>
  map(await git.fetch(effect.repository, effect.branch), ({ tip }) => ({ result: 'fetched', tip }));

const preview = async (effect: Of<'GitPreview'>, ports: ActivityPorts): Promise<Outcome<ActivityResult>> =>
  map(await withBase(effect.base, (base) => ports.git.preview(effect.repository, base, editOf(effect, ports))), (changes) => ({
    result: 'previewed',
    files: changes.map((change) => change.path),
  }));

const commit = async (effect: Of<'GitCommit'>, ports: ActivityPorts): Promise<Outcome<ActivityResult>> =>
  map(await withBase(effect.base, (base) => ports.git.commit(effect.repository, base, planOf(effect, ports))), (made) => ({
    result: 'committed',
    commit: made.commit,
    changed: made.changed,
  }));

const push = async (effect: Of<'GitPush'>, ports: ActivityPorts): Promise<Outcome<ActivityResult>> => {
  const since = parseCommitSha(effect.since ?? '');
  const plan = { ...planOf(effect, ports), branch: effect.branch, notBefore: effect.notBefore, ...(since ? { since } : {}) };
  return map(await ports.git.push(effect.repository, plan, ports.stillWanted), (pushed) => pushed);
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
