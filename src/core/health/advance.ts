/**
 * The health record of a step, moved on by one observation (spec, "PromotionStep states" and "bake"). Healthy time is what was observed without
 * a gap: time in which nobody looked is never counted.
 */
import type { HealthRecord } from '../../api/kinds/promotion-step.ts';
import type { Reason } from '../../api/outcome.ts';
import { fromTimestamp, toTimestamp } from '../time.ts';
import type { Observation } from './observe.ts';
import type { HealthTarget } from './target.ts';

/** How often an environment under check is looked at when nothing announces a change. */
const LOOK_EVERY_MS = 10_000;
/** How often a healthy record is written while nothing else changes, so that a restart knows until when health was observed. */
const WRITE_EVERY_MS = 20_000;
/** Two observations further apart than this leave a gap. */
const GAP_MS = 45_000;

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
  | { readonly verdict: 'timeout' }
  | { readonly verdict: 'alarm' };

export interface Advanced {
  readonly record: HealthRecord;
  readonly verdict: HealthVerdict;
  readonly reason: Reason;
}

const seconds = (milliseconds: number): string => `${Math.ceil(milliseconds / 1000)}s`;

/** Start of the observed healthy time: moved forward by any gap, set anew after ill health. */
const healthyStart = (record: HealthRecord, rules: HealthRules, now: number): number => {
  const since = fromTimestamp(record.healthySince);
  const last = fromTimestamp(record.lastHealthyAt);
  if (since === undefined || last === undefined) return now;
  const gap = now - last;
  return gap > GAP_MS || last < rules.observingSince ? since + Math.max(0, gap) : since;
};

const healthy = (record: HealthRecord, seen: Observation, rules: HealthRules, now: number): Advanced => {
  const start = healthyStart(record, rules, now);
  const needed = Math.max((rules.bake?.minutes ?? 0) * 60_000, seen.proven ? 0 : rules.target.settleMs);
  const left = start + needed - now;
  const due = now - (fromTimestamp(record.lastHealthyAt) ?? 0) >= WRITE_EVERY_MS || record.healthySince !== toTimestamp(start);
  const reason = left <= 0 ? seen.reason : { code: rules.bake ? 'Baking' : 'Settling', message: `${seen.reason.message}; must hold` };
  const next: HealthRecord = {
    ...record,
    everHealthy: true,
    proven: seen.proven,
    healthySince: toTimestamp(start),
    reason: reason.code,
    message: reason.message,
    ...(due || left <= 0 ? { lastHealthyAt: toTimestamp(now), lastObservedAt: toTimestamp(now) } : {}),
  };
  if (left <= 0) return { record: next, verdict: { verdict: 'verified' }, reason };
  const until = { ...reason, message: `${reason.message} for another ${seconds(left)}` };
  return { record: next, verdict: { verdict: 'wait', lookAgainAt: now + Math.min(left, LOOK_EVERY_MS) }, reason: until };
};

const notHealthy = (record: HealthRecord, seen: Observation, rules: HealthRules, now: number): Advanced => {
  const { healthySince: _, ...rest } = record;
  const kept = seen.verdict === 'unknown' ? record : rest;
  const next: HealthRecord = { ...kept, reason: seen.reason.code, message: seen.reason.message };
  const alarm = seen.verdict === 'unhealthy' && record.everHealthy === true && rules.bake?.policy === 'fail-on-alarm';
  if (alarm) return { record: next, verdict: { verdict: 'alarm' }, reason: seen.reason };
  const from = Math.max(fromTimestamp(record.since) ?? now, fromTimestamp(record.lastHealthyAt) ?? 0);
  const deadline = from + rules.target.timeoutMs;
  if (now >= deadline) {
    const message = `no healthy observation for ${seconds(rules.target.timeoutMs)}: ${seen.reason.message}`;
    return { record: next, verdict: { verdict: 'timeout' }, reason: { code: 'HealthTimeout', message } };
  }
  return { record: next, verdict: { verdict: 'wait', lookAgainAt: Math.min(deadline, now + LOOK_EVERY_MS) }, reason: seen.reason };
};

/** Moves the record on by one observation. */
export const advanceHealth = (record: HealthRecord, seen: Observation, rules: HealthRules, now: number): Advanced =>
  seen.verdict === 'healthy' ? healthy(record, seen, rules, now) : notHealthy(record, seen, rules, now);
