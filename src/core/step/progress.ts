/** Moving the records of a step's sequence: pure functions from status to status. */
import type { PromotionStepStatus, StepRecord } from '../../api/kinds/promotion-step.ts';
import type { Reason } from '../../api/outcome.ts';
import { sentence } from '../sentence.ts';
import { toTimestamp } from '../time.ts';
import { attemptStart } from './attempt.ts';
import { moveState, stateOf } from './states.ts';

/** The first record that has not succeeded; -1 when all have. */
export const currentIndex = (status: PromotionStepStatus | undefined): number =>
  (status?.steps ?? []).findIndex((record) => record.state !== 'Succeeded');

/** A record that has not been tried. */
export const freshRecord = (name: string): StepRecord => ({ name, state: 'Pending', attempts: 0 });

const replace = (status: PromotionStepStatus, index: number, record: StepRecord): PromotionStepStatus => ({
  ...status,
  steps: (status.steps ?? []).map((old, at) => (at === index ? record : old)),
});

const withoutFailure = (record: StepRecord): StepRecord => {
  const { nextTryAt: _, reason: __, ...rest } = record;
  return rest;
};

/** When what happened, for the evidence: the start of the attempt, each step that ended, and the end. */
const timingOf = (status: PromotionStepStatus, now: number): Record<string, string> => {
  const started = attemptStart(status.transitions)?.at;
  const ended = (status.steps ?? []).flatMap((record) =>
    record.finishedAt === undefined ? [] : [[record.name, record.finishedAt] as const],
  );
  return { ...(started === undefined ? {} : { started }), ...Object.fromEntries(ended), verified: toTimestamp(now) };
};

/** The status when the step at the index begins: each runs in a state of its own. */
export const enter = (status: PromotionStepStatus, index: number, now: number): PromotionStepStatus => {
  const record = status.steps?.[index];
  if (record === undefined) {
    const evidence = { ...status.evidence, timing: timingOf(status, now) };
    return moveState({ ...status, evidence }, 'Verified', { code: 'Verified', message: 'all steps have succeeded' }, now);
  }
  const running = replace(status, index, { ...record, state: 'Running', startedAt: record.startedAt ?? toTimestamp(now) });
  if (record.name === 'health-check') {
    const reason = { code: 'HealthChecking', message: 'the change is on the target branch; health is being checked' };
    const moved = stateOf(status) === 'HealthChecking' ? running : moveState(running, 'HealthChecking', reason, now);
    return { ...moved, health: { since: toTimestamp(now) } };
  }
  if (stateOf(status) === 'HealthChecking') {
    return moveState(running, 'Promoting', { code: 'Promoting', message: `healthy; ${record.name} is next` }, now);
  }
  return { ...running, reason: 'Promoting', message: `${record.name} is next` };
};

/** The record at the index succeeded, and the next one begins. */
export const succeed = (
  status: PromotionStepStatus,
  index: number,
  gained: { readonly message: string; readonly outputs: Readonly<Record<string, string>> },
  now: number,
): PromotionStepStatus => {
  const record = status.steps?.[index];
  if (record === undefined) return status;
  const finished: StepRecord = {
    ...withoutFailure(record),
    state: 'Succeeded',
    attempts: record.attempts + 1,
    startedAt: record.startedAt ?? toTimestamp(now),
    finishedAt: toTimestamp(now),
    message: sentence(gained.message),
    ...(Object.keys(gained.outputs).length > 0 ? { outputs: { ...gained.outputs } } : {}),
  };
  const next = replace({ ...status, outputs: { ...status.outputs, ...gained.outputs } }, index, finished);
  return enter(next, index + 1, now);
};

/** Retries of a transient failure: doubling from one second, at most 30 s apart (spec, "Failed step retry"). */
const MIN_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 30_000;
const backoff = (attempts: number): number => Math.min(MAX_BACKOFF_MS, 1000 * 2 ** Math.min(attempts - 1, 10));

/** The record at the index failed and is tried again; the PromotionStep keeps its state. */
export const postpone = (
  status: PromotionStepStatus,
  index: number,
  failure: { readonly reason: Reason; readonly retryAfterMs?: number },
  now: number,
): PromotionStepStatus => {
  const record = status.steps?.[index];
  if (record === undefined) return status;
  const attempts = record.attempts + 1;
  const nextTryAt = toTimestamp(now + Math.min(Math.max(failure.retryAfterMs ?? backoff(attempts), MIN_BACKOFF_MS), MAX_BACKOFF_MS));
  const failed: StepRecord = {
    ...record,
    state: 'Failed',
    attempts,
    startedAt: record.startedAt ?? toTimestamp(now),
    nextTryAt,
    reason: failure.reason.code,
    message: sentence(failure.reason.message),
  };
  return { ...replace(status, index, failed), reason: failure.reason.code, message: sentence(failure.reason.message) };
};

const failRecord = (status: PromotionStepStatus, index: number, reason: Reason, now: number): PromotionStepStatus => {
  const record = status.steps?.[index];
  if (record === undefined) return status;
  return replace(status, index, {
    ...withoutFailure(record),
    state: 'Failed',
    attempts: record.attempts + 1,
    startedAt: record.startedAt ?? toTimestamp(now),
    finishedAt: toTimestamp(now),
    reason: reason.code,
    message: sentence(reason.message),
  });
};

/** The record at the index failed for good, and with it the PromotionStep. */
export const fail = (status: PromotionStepStatus, index: number, reason: Reason, now: number): PromotionStepStatus =>
  moveState(failRecord(status, index, reason, now), 'Failed', reason, now);

/** The sequence starts over, because what the mirror knew of the base is gone; its first step waits as long as the failed one would have. */
export const restart = (status: PromotionStepStatus, failed: number, now: number): PromotionStepStatus => {
  const nextTryAt = status.steps?.[failed]?.nextTryAt;
  const steps = (status.steps ?? []).map((record) => ({ ...freshRecord(record.name), attempts: record.attempts }));
  const begun = enter({ ...status, steps }, 0, now);
  return { ...begun, steps: (begun.steps ?? []).map((record, at) => (at === 0 && nextTryAt ? { ...record, nextTryAt } : record)) };
};

/** An alarm ended the promotion: the record at the index failed, and people decide what comes next. */
export const abort = (status: PromotionStepStatus, index: number, reason: Reason, now: number): PromotionStepStatus =>
  moveState(failRecord(status, index, reason, now), 'AbortedByAlarm', reason, now);
