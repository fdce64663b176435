/** Where a Bundle stands, from its PromotionSteps and from the records it keeps of those that are gone. */
import type { StepState } from '../api/kinds/promotion-step.ts';
import type { KindMap } from '../api/registry.ts';
import { landedCommit } from '../core/step/landed-commit.ts';
import { fromTimestamp } from '../core/time.ts';

/** One environment of a Bundle. */
export interface EnvironmentLine {
  readonly name: string;
  readonly state: string;
  readonly message: string;
  /** Full commit id; absent when nothing was written. */
  readonly commit?: string;
  /** When it reached its state, RFC 3339. */
  readonly at?: string;
}

const UNDER_WAY: ReadonlySet<string> = new Set<StepState>([
  'Promoting',
  'WaitingForMerge',
  'HealthChecking',
  'RollingBack',
  'Failed',
  'AbortedByAlarm',
]);

const ofStep = (step: KindMap['PromotionStep']): EnvironmentLine => {
  const at = step.status?.transitions?.at(-1)?.at ?? step.metadata.creationTimestamp;
  const commit = landedCommit(step.status);
  return {
    name: step.spec?.environment ?? '',
    state: step.status?.state ?? 'Pending',
    message: step.status?.message ?? '',
    ...(commit === undefined ? {} : { commit }),
    ...(at === undefined ? {} : { at }),
  };
};

const recordsOf = (bundle: KindMap['Bundle']): EnvironmentLine[] =>
  (bundle.status?.environments ?? []).map((record) => {
    const at = record.verifiedAt ?? record.transitions.at(-1)?.at;
    return {
      name: record.name,
      state: record.state,
      message: record.message,
      ...(record.commit === undefined ? {} : { commit: record.commit }),
      ...(at === undefined ? {} : { at }),
    };
  });

/** Every environment that the Bundle has reached, in the order it reached them; `steps` are those of its namespace. */
export const environmentsOf = (bundle: KindMap['Bundle'], steps: readonly KindMap['PromotionStep'][]): readonly EnvironmentLine[] => {
  const own = steps.filter((step) => step.spec?.bundle === bundle.metadata.name && step.metadata.namespace === bundle.metadata.namespace);
  const lines = new Map(recordsOf(bundle).map((line) => [line.name, line]));
  for (const step of own.map(ofStep)) lines.set(step.name, step);
  return [...lines.values()].toSorted((a, b) => (fromTimestamp(a.at) ?? 0) - (fromTimestamp(b.at) ?? 0));
};

/** The environments a Bundle is at work in or failed in; else the last one it was verified in; `-` before the first. */
export const standsIn = (lines: readonly EnvironmentLine[]): string => {
  const busy = lines.filter((line) => UNDER_WAY.has(line.state));
  if (busy.length > 0) return busy.map((line) => line.name).join(',');
  return lines.findLast((line) => line.state === 'Verified')?.name ?? '-';
};
