/** The states of a PromotionStep and every arrow between them (spec, "PromotionStep states"). A state changes here and nowhere else. */

import { type PromotionStepStatus, STEP_STATES, type StepState } from '../../api/kinds/promotion-step.ts';
import type { Transition } from '../../api/meta.ts';
import type { Reason } from '../../api/outcome.ts';
import { withCondition } from '../conditions.ts';
import { sentence } from '../sentence.ts';
import { toTimestamp } from '../time.ts';

/** From each state: where it may go, and what brings it there. */
export const STEP_ARROWS: Readonly<Record<StepState, Readonly<Partial<Record<StepState, string>>>>> = {
  Pending: { Promoting: 'its Bundle is Promoting and the step was created', Failed: 'the environment asks for what cannot be done' },
  Promoting: {
    WaitingForMerge: 'its pull request is open',
    HealthChecking: 'the change is on the target branch',
    Verified: 'its sequence ended without a health check',
    Failed: 'a step of the sequence failed for good',
  },
  WaitingForMerge: {
    Promoting: 'the pull request was merged and more steps follow',
    HealthChecking: 'the pull request was merged',
    Failed: 'a step of the sequence failed for good',
  },
  HealthChecking: {
    Promoting: 'healthy, and more steps follow',
    Verified: 'healthy for as long as asked',
    Failed: 'health timed out, or an alarm rang in the bake',
    AbortedByAlarm: 'an alarm rang in the bake and onHealthFailure is abort',
    RollingBack: 'an alarm rang in the bake and onHealthFailure is rollback',
  },
  Verified: {},
  Failed: { Promoting: 'a person asked for another attempt' },
  AbortedByAlarm: {},
  RollingBack: {},
};

/** The state of a status; Pending before the first write, and for a word that is none. */
export const stateOf = (status: PromotionStepStatus | undefined): StepState =>
  STEP_STATES.find((state) => state === status?.state) ?? 'Pending';

/** States in which the promotion ended without success. */
export const isFailed = (state: StepState): boolean => ['Failed', 'AbortedByAlarm', 'RollingBack'].includes(state);

/** States that nothing leaves by itself. */
export const isEnded = (state: StepState): boolean => state === 'Verified' || isFailed(state);

/** The status after a move; a move without an arrow is a bug. */
export const moveState = (status: PromotionStepStatus, to: StepState, reason: Reason, now: number): PromotionStepStatus => {
  const from = stateOf(status);
  if (STEP_ARROWS[from][to] === undefined) throw new Error(`no arrow from ${from} to ${to}`);
  const transition: Transition = {
    at: toTimestamp(now),
    from,
    to,
    reason: reason.code,
    message: sentence(reason.message),
    attempt: status.attempt ?? 1,
  };
  return {
    ...status,
    state: to,
    reason: reason.code,
    message: sentence(reason.message),
    transitions: [...(status.transitions ?? []), transition],
    conditions: withCondition(status.conditions, { type: 'Ready', status: to === 'Verified' ? 'True' : 'False', reason }, now),
  };
};
