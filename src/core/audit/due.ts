/** AuditEvents follow from the journals of transitions: whatever was persisted and has no event yet gets one (spec, "Events"). */

import { formatImage } from '../../api/image-reference.ts';
import type { AuditAction, AuditEvent } from '../../api/kinds/audit-event.ts';
import type { Bundle } from '../../api/kinds/bundle.ts';
import type { PromotionStep } from '../../api/kinds/promotion-step.ts';
import { API_VERSION, type Transition } from '../../api/meta.ts';
import { auditEventName, labelValue } from '../../api/names.ts';
import type { ResourceEffect } from '../effect.ts';
import { ACTION_LABEL, BUNDLE_LABEL, PIPELINE_LABEL } from '../labels.ts';
import { sentence } from '../sentence.ts';
import { startsAttempt } from '../step/attempt.ts';
import { fromTimestamp } from '../time.ts';

/** What an environment's transition into a state is recorded as. */
const STEP_ACTIONS: Readonly<Record<string, AuditAction>> = {
  Promoting: 'PromotionStarted',
  Verified: 'PromotionSucceeded',
  Failed: 'PromotionFailed',
  AbortedByAlarm: 'PromotionFailed',
  RollingBack: 'PromotionFailed',
};

const BUNDLE_ACTIONS: Readonly<Record<string, AuditAction>> = { Superseded: 'PromotionSuperseded' };

/** What is known about events that exist already. */
export interface AuditState {
  readonly existing: ReadonlySet<string>;
  /** Events older than this many milliseconds are no longer kept, so none is made for them. */
  readonly retentionMs: number;
  readonly now: number;
}

interface Entry {
  readonly action: AuditAction;
  readonly transition: Transition;
  readonly environment: string;
}

const nameOf = (bundle: Bundle, { action, transition, environment }: Entry): string =>
  auditEventName(bundle.metadata.uid ?? '', environment, String(transition.attempt ?? 1), action);

const eventOf = (bundle: Bundle, entry: Entry): AuditEvent => {
  const { action, transition, environment } = entry;
  const pipeline = bundle.spec?.pipeline ?? '';
  return {
    apiVersion: API_VERSION,
    kind: 'AuditEvent',
    metadata: {
      name: nameOf(bundle, entry),
      namespace: bundle.metadata.namespace ?? 'default',
      labels: { [PIPELINE_LABEL]: labelValue(pipeline), [BUNDLE_LABEL]: labelValue(bundle.metadata.name), [ACTION_LABEL]: action },
    },
    spec: {
      timestamp: transition.at,
      action,
      pipeline,
      bundle: bundle.metadata.name,
      environment,
      image: sentence((bundle.spec?.images ?? []).map(formatImage).join(', ')),
      message: transition.message,
      actor: 'promoter',
    },
  };
};

const counts = (transition: Transition): boolean => transition.to !== 'Promoting' || startsAttempt(transition);

const entriesOf = (
  transitions: readonly Transition[] | undefined,
  actions: Readonly<Record<string, AuditAction>>,
  environment: string,
): readonly Entry[] =>
  (transitions ?? []).filter(counts).flatMap((transition) => {
    const action = actions[transition.to];
    return action ? [{ action, transition, environment }] : [];
  });

const stepEntries = (environment: string, transitions: readonly Transition[] | undefined) =>
  entriesOf(transitions, STEP_ACTIONS, environment);

const bundleEntries = (bundle: Bundle): readonly Entry[] => [
  ...entriesOf(bundle.status?.transitions, BUNDLE_ACTIONS, ''),
  ...(bundle.status?.environments ?? []).flatMap((kept) => stepEntries(kept.name, kept.transitions)),
];

const due = (bundle: Bundle, entries: readonly Entry[], state: AuditState): ResourceEffect[] =>
  entries
    .filter((entry) => state.now - (fromTimestamp(entry.transition.at) ?? 0) < state.retentionMs)
    .map((entry) => eventOf(bundle, entry))
    .filter((event) => !state.existing.has(event.metadata.name))
    .map((object) => ({ kind: 'CreateResource', object }));

/** The events owed for the journal of one environment. */
export const stepAudits = (
  bundle: Bundle,
  environment: string,
  transitions: readonly Transition[] | undefined,
  state: AuditState,
): ResourceEffect[] => due(bundle, stepEntries(environment, transitions), state);

/** The events owed for the Bundle's own journal and for the environments whose records it keeps. */
export const bundleAudits = (bundle: Bundle, state: AuditState): ResourceEffect[] => due(bundle, bundleEntries(bundle), state);

/** The name of the event that the start of an attempt leads to: it outlives the status that says so. */
export const startedName = (bundle: Bundle, environment: string, attempt: number): string =>
  auditEventName(bundle.metadata.uid ?? '', environment, String(attempt), 'PromotionStarted');

/** Names of the events that the journals of a Bundle and of these PromotionSteps lead to, so that they can be looked for. */
export const auditNames = (bundle: Bundle, steps: readonly PromotionStep[]): readonly string[] => {
  const live = steps.flatMap((step) => stepEntries(step.spec?.environment ?? '', step.status?.transitions));
  return [...new Set([...bundleEntries(bundle), ...live].map((entry) => nameOf(bundle, entry)))];
};
