/** Conditions: a list in which each type stands once and the transition time moves only when the status does. */
import type { Condition } from '../api/meta.ts';
import type { Reason } from '../api/outcome.ts';
import { sentence } from './sentence.ts';
import { toTimestamp } from './time.ts';

/** What a condition shall say. */
export interface WantedCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: Reason;
  readonly generation?: number | undefined;
}

/** The list with that condition in it; the transition time stays when the status does. */
export const withCondition = (conditions: readonly Condition[] | undefined, wanted: WantedCondition, now: number): Condition[] => {
  const present = (conditions ?? []).find((condition) => condition.type === wanted.type);
  const next: Condition = {
    type: wanted.type,
    status: wanted.status,
    reason: wanted.reason.code,
    message: sentence(wanted.reason.message),
    lastTransitionTime: present && present.status === wanted.status ? present.lastTransitionTime : toTimestamp(now),
    ...(wanted.generation === undefined ? {} : { observedGeneration: wanted.generation }),
  };
  const others = (conditions ?? []).filter((condition) => condition.type !== wanted.type);
  return [...others, next].sort((a, b) => (a.type < b.type ? -1 : 1));
};

/** The condition of that type. */
export const conditionOf = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type);
