/** Which rules belong to which kind. */
import type { KindName } from '../registry.ts';
import { BUNDLE_RULES } from './bundle.ts';
import {
  AUDIT_EVENT_RULES,
  GRAPH_RULES,
  METRIC_CHECK_RULES,
  POLICY_GATE_RULES,
  PROMOTION_STEP_RULES,
  SCHEDULE_CLOCK_RULES,
  SUBSCRIPTION_RULES,
} from './others.ts';
import { PIPELINE_RULES } from './pipeline.ts';
import type { Rule } from './rule.ts';

/** The rules of every kind of ours; Kubernetes' own kinds have none. */
export const RULES: Readonly<Partial<Record<KindName, readonly Rule[]>>> = {
  Bundle: BUNDLE_RULES,
  Pipeline: PIPELINE_RULES,
  Graph: GRAPH_RULES,
  PromotionStep: PROMOTION_STEP_RULES,
  PolicyGate: POLICY_GATE_RULES,
  Subscription: SUBSCRIPTION_RULES,
  AuditEvent: AUDIT_EVENT_RULES,
  ScheduleClock: SCHEDULE_CLOCK_RULES,
  MetricCheck: METRIC_CHECK_RULES,
};
