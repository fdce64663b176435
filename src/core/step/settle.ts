/** The result of an activity, written into the status of its PromotionStep: a pure function, applied to whatever is the latest version. */
import type { PromotionStep, PromotionStepStatus } from '../../api/kinds/promotion-step.ts';
import type { Outcome } from '../../api/outcome.ts';
import type { ActivityEffect } from '../effect.ts';
import { currentIndex, fail, postpone, restart, succeed } from './progress.ts';
import { isEnded, stateOf } from './states.ts';

/** What an activity gave, in words that decisions understand. `withdrawn`: the guard said no, nothing was written and nothing is recorded. */
export type ActivityResult =
  | { readonly result: 'fetched'; readonly tip: string }
  | { readonly result: 'previewed'; readonly files: readonly string[] }
  | { readonly result: 'committed'; readonly commit: string; readonly changed: boolean }
  | { readonly result: 'landed'; readonly commit: string; readonly found: boolean; readonly races: number }
  | { readonly result: 'unchanged'; readonly tip: string }
  | { readonly result: 'overwritten'; readonly commit: string; readonly tip: string }
  | { readonly result: 'withdrawn' };

const short = (sha: string): string => sha.slice(0, 12);

const files = (paths: readonly string[]): string =>
  paths.length === 0 ? 'the files already say what is wanted' : `changes ${paths.join(', ')}`;

const landedMessage = (result: { commit: string; found: boolean; races: number }, branch: string): string => {
  if (result.found) return `commit ${short(result.commit)} was on ${branch} already`;
  const races = result.races > 0 ? ` after ${result.races} lost ${result.races === 1 ? 'race' : 'races'}` : '';
  return `commit ${short(result.commit)} is on ${branch}${races}`;
};

const settleDone = (status: PromotionStepStatus, effect: ActivityEffect, value: ActivityResult, now: number): PromotionStepStatus => {
  const { index, branch } = effect;
  switch (value.result) {
    case 'fetched': {
      // A run that had begun before may have its commit anywhere behind the tip, so that nothing can be said about where to stop looking.
      const base = status.started?.repeated ? {} : { historyBase: status.started?.historyBase ?? value.tip };
      const started = { ...status.started, ...base };
      return succeed(
        { ...status, started },
        index,
        { message: `${branch} is at ${short(value.tip)}`, outputs: { 'git.base': value.tip } },
        now,
      );
    }
    case 'previewed':
      return succeed(status, index, { message: files(value.files), outputs: { 'edit.files': value.files.join(',') } }, now);
    case 'committed': {
      const message = value.changed ? `commit ${short(value.commit)} is made` : 'nothing to commit';
      return succeed(status, index, { message, outputs: { 'git.commit': value.commit, 'git.changed': String(value.changed) } }, now);
    }
    case 'landed':
      return succeed(
        status,
        index,
        { message: landedMessage(value, branch), outputs: { 'git.commit': value.commit, 'git.branch': branch } },
        now,
      );
    case 'unchanged': {
      const message = `${branch} already says what is wanted at ${short(value.tip)}; no commit is needed`;
      return succeed(status, index, { message, outputs: { 'git.commit': value.tip, 'git.branch': branch, 'git.changed': 'false' } }, now);
    }
    case 'overwritten': {
      const message = `commit ${short(value.commit)} of this promotion is on ${branch}, but ${short(value.tip)} says something else: somebody wrote after it`;
      return fail(status, index, { code: 'Overwritten', message }, now);
    }
    case 'withdrawn':
      return status;
  }
};

/** What a first push, or a correction of the Pipeline that a promotion still follows, brings: no reason to give up before anything was done. */
const MAY_APPEAR: readonly string[] = ['GitBranchMissing', 'GitRepositoryEmpty'];

/** Whether the step still waits for this very activity: the same object, the same attempt, and nothing after it has begun. */
const awaits = (step: PromotionStep, effect: ActivityEffect): boolean =>
  step.metadata.uid === effect.stepUid &&
  (step.status?.attempt ?? 1) === effect.attempt &&
  currentIndex(step.status) === effect.index &&
  !isEnded(stateOf(step.status));

/** The status after the activity; undefined when its result no longer matters. */
export const settle = (
  step: PromotionStep,
  effect: ActivityEffect,
  outcome: Outcome<ActivityResult>,
  now: number,
): PromotionStepStatus | undefined => {
  const { status } = step;
  if (status === undefined || !awaits(step, effect)) return undefined;
  switch (outcome.outcome) {
    case 'done':
      return outcome.value.result === 'withdrawn' ? undefined : settleDone(status, effect, outcome.value, now);
    case 'terminal':
      if (effect.kind === 'GitFetch' && MAY_APPEAR.includes(outcome.reason.code)) return postpone(status, effect.index, outcome, now);
      return fail(status, effect.index, outcome.reason, now);
    case 'transient': {
      const postponed = postpone(status, effect.index, outcome, now);
      return outcome.reason.code === 'GitBaseMissing' ? restart(postponed, effect.index, now) : postponed;
    }
  }
};
