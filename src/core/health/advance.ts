/**
 * The health record of a step, moved on by one observation (spec, "PromotionStep states" and "bake"). Healthy time is contiguous and observed: a
 * rollout or a short gap pauses the window, ill health or a long gap starts it again.
 */
import type { HealthRecord } from '../../api/kinds/promotion-step.ts';
import type { Reason } from '../../api/outcome.ts';
import { sentence } from '../sentence.ts';
import { fromTimestamp, toTimestamp } from '../time.ts';
import type { Observation } from './observe.ts';
import type { HealthTarget } from './target.ts';

/** How often an environment under check is looked at when nothing announces a change. */
const LOOK_EVERY_MS = 10_000;
/** Bounds on how often a healthy record is written while nothing else changes, so that a restart knows until when health was observed. */
const WRITE_AT_LEAST_MS = 20_000;
const WRITE_AT_MOST_MS = 300_000;
/** How many times a window is written. */
const WRITES_PER_WINDOW = 60;
/** Looks that may be late before the time between two writes counts as a gap. */
const LATE_LOOKS = 2.5;

/** The rules that apply to one environment. */
export interface HealthRules {
  readonly target: HealthTarget;
  readonly bake: { readonly minutes: number; readonly policy: string } | undefined;
  /** When the running controller began to observe, in milliseconds: nothing was observed between an earlier record and then. */
  readonly observingSince: number;
}

/** Where the health check stands. */
export type HealthVerdict =
  | { readonly verdict: 'wait'; readonly lookAgainAt: number }
  | { readonly verdict: 'verified' }
  /** No healthy observation in time, or none possible. */
  | { readonly verdict: 'failed' }
  | { readonly verdict: 'alarm' };

export interface Advanced {
  readonly record: HealthRecord;
  readonly verdict: HealthVerdict;
  readonly reason: Reason;
}

const seconds = (milliseconds: number): string => `${Math.ceil(milliseconds / 1000)}s`;

const windowOf = (rules: HealthRules): number => (rules.bake?.minutes ?? 0) * 60_000;

const writeEvery = (rules: HealthRules): number => {
  const wanted = Math.max(WRITE_AT_LEAST_MS, Math.min(WRITE_AT_MOST_MS, windowOf(rules) / WRITES_PER_WINDOW));
  return Math.min(wanted, rules.target.timeoutMs / 4);
};

/** Start of the observed healthy time: moved forward by a pause, set anew after ill health or a long gap. */
const healthyStart = (record: HealthRecord, rules: HealthRules, now: number): number => {
  const since = fromTimestamp(record.healthySince);
  const last = fromTimestamp(record.lastHealthyAt);
  if (since === undefined || last === undefined) return now;
  const gap = Math.max(0, now - last);
  if (gap > writeEvery(rules) + LATE_LOOKS * LOOK_EVERY_MS && !record.paused) return now;
  return record.paused || last < rules.observingSince ? since + gap : since;
};

const healthy = (record: HealthRecord, seen: Observation, rules: HealthRules, now: number): Advanced => {
  const start = healthyStart(record, rules, now);
  const settle = seen.proven ? 0 : rules.target.settleMs;
  const left = start + Math.max(windowOf(rules), settle) - now;
  const { paused: _, ...rest } = record;
  const due = now - (fromTimestamp(record.lastHealthyAt) ?? 0) >= writeEvery(rules) || record.healthySince !== toTimestamp(start);
  const reason = left <= 0 ? seen.reason : { code: rules.bake ? 'Baking' : 'Settling', message: `${seen.reason.message}; must hold` };
  const next: HealthRecord = {
    ...rest,
    everHealthy: record.everHealthy === true || now - start >= settle,
    proven: seen.proven,
    healthySince: toTimestamp(start),
    reason: reason.code,
    message: sentence(reason.message),
    ...(due || left <= 0 ? { lastHealthyAt: toTimestamp(now) } : {}),
  };
  if (left <= 0) return { record: next, verdict: { verdict: 'verified' }, reason };
  const until = { ...reason, message: `${reason.message} for another ${seconds(left)}` };
  return { record: next, verdict: { verdict: 'wait', lookAgainAt: now + Math.min(left, LOOK_EVERY_MS) }, reason: until };
};

/** What a record keeps of its window: a rollout inside it pauses it, what nobody saw leaves it, everything else ends it. */
const keptWindow = (record: HealthRecord, seen: Observation): HealthRecord => {
  if (seen.verdict === 'unknown') return record;
  if (seen.verdict === 'progressing' && record.everHealthy && record.healthySince !== undefined) return { ...record, paused: true };
  const { healthySince: _, paused: __, ...rest } = record;
  return rest;
};

const notHealthy = (record: HealthRecord, seen: Observation, rules: HealthRules, now: number): Advanced => {
  const next: HealthRecord = { ...keptWindow(record, seen), reason: seen.reason.code, message: sentence(seen.reason.message) };
  if (seen.verdict === 'impossible') return { record: next, verdict: { verdict: 'failed' }, reason: seen.reason };
  const alarm = seen.verdict === 'unhealthy' && record.everHealthy === true && rules.bake?.policy === 'fail-on-alarm';
  if (alarm) return { record: next, verdict: { verdict: 'alarm' }, reason: seen.reason };
  const from = Math.max(fromTimestamp(record.since) ?? now, fromTimestamp(record.lastHealthyAt) ?? 0, rules.observingSince);
  const deadline = from + rules.target.timeoutMs;
  if (now >= deadline) {
    const message = `no healthy observation for ${seconds(rules.target.timeoutMs)}: ${seen.reason.message}`;
    return { record: next, verdict: { verdict: 'failed' }, reason: { code: 'HealthTimeout', message } };
  }
  return { record: next, verdict: { verdict: 'wait', lookAgainAt: Math.min(deadline, now + LOOK_EVERY_MS) }, reason: seen.reason };
};

/** Moves the record on by one observation. */
export const advanceHealth = (record: HealthRecord, seen: Observation, rules: HealthRules, now: number): Advanced =>
  seen.verdict === 'healthy' ? healthy(record, seen, rules, now) : notHealthy(record, seen, rules, now);
