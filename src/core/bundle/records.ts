/** The final record of each environment, kept in the Bundle because its Graph and PromotionSteps may go. */
import type { EnvironmentRecord } from '../../api/kinds/bundle.ts';
import type { PromotionStep } from '../../api/kinds/promotion-step.ts';
import { landedCommit } from '../step/landed-commit.ts';
import { stateOf } from '../step/states.ts';

const verifiedAt = (step: PromotionStep): string | undefined =>
  step.status?.transitions?.findLast((transition) => transition.to === 'Verified')?.at;

/** The record of one PromotionStep as it stands. */
export const recordOf = (step: PromotionStep): EnvironmentRecord => {
  const status = step.status;
  const commit = landedCommit(status);
  const verified = verifiedAt(step);
  return {
    name: step.spec?.environment ?? '',
    state: stateOf(status),
    message: status?.message ?? '',
    ...(commit ? { commit } : {}),
    ...(status?.prURL ? { prURL: status.prURL } : {}),
    ...(verified ? { verifiedAt: verified } : {}),
    transitions: status?.transitions ?? [],
  };
};

/** The order in which the environments were entered. */
const startOf = (record: EnvironmentRecord): string => `${record.transitions[0]?.at ?? ''} ${record.name}`;

/** What was kept, brought up to date with the steps that still exist. A record never goes back to fewer transitions. */
export const mergeRecords = (kept: readonly EnvironmentRecord[] | undefined, steps: readonly PromotionStep[]): EnvironmentRecord[] => {
  const records = new Map((kept ?? []).map((record) => [record.name, record]));
  for (const step of steps) {
    const record = recordOf(step);
    const before = records.get(record.name);
    if (!before || before.transitions.length <= record.transitions.length) records.set(record.name, record);
  }
  return [...records.values()].sort((a, b) => (startOf(a) < startOf(b) ? -1 : 1));
};
