/** Admission of the smaller kinds. */
import { STEP_STATES } from '../kinds/promotion-step.ts';
import { immutableSpec } from './bundle.ts';
import { branch, DNS_LABEL, duration, gitUrl, webAddress } from './checks.ts';
import { celList, filled, oneOf, pattern, type Rule, required } from './rule.ts';

/** Admission of PolicyGates. Expressions that are wrong are admitted: the gate then shows a CEL error and stays closed. */
export const POLICY_GATE_RULES: readonly Rule[] = [
  {
    at: '',
    rule: String.raw`has(self.spec) && has(self.spec.expression) && self.spec.expression.matches(r'\S')`,
    message: 'spec.expression must not be empty',
    fieldPath: '.spec.expression',
    reason: 'FieldValueRequired',
  },
  ...duration('spec', 'recheckInterval', 'positive', 'spec.recheckInterval must be a valid Go duration'),
];

const typed = (type: string, path: string): Rule => ({
  at: 'spec',
  rule: `!has(self.type) || self.type != '${type}' || (${filled(path)})`,
  message: `spec.${path} must not be empty when spec.type is '${type}'`,
  fieldPath: `.${path}`,
  reason: 'FieldValueRequired',
});

/** Admission of Subscriptions. */
export const SUBSCRIPTION_RULES: readonly Rule[] = [
  required('', 'spec.type', 'spec.type must be given: image or git'),
  required('', 'spec.pipeline', 'spec.pipeline must not be empty'),
  {
    ...oneOf('spec', 'type', ['image', 'git']),
    rule: `!(${filled('type')}) || self.type in ${celList(['image', 'git'])}`,
  },
  typed('image', 'image.registry'),
  typed('git', 'git.repoURL'),
  {
    at: 'spec.image',
    // Either answer will do; what is refused is a pattern that cannot be compiled.
    rule: "!has(self.tagFilter) || ''.matches(self.tagFilter) || !''.matches(self.tagFilter)",
    message: 'must be a regular expression in the syntax of RE2',
    messageExpression: `"must be a regular expression in the syntax of RE2; got '" + self.tagFilter + "'"`,
    fieldPath: '.tagFilter',
  },
  ...duration('spec.image', 'interval', 'interval'),
  gitUrl('spec.git', 'repoURL'),
  branch('spec.git', 'branch'),
  ...duration('spec.git', 'interval', 'interval'),
];

/** Admission of the ScheduleClock. */
export const SCHEDULE_CLOCK_RULES: readonly Rule[] = duration('spec', 'interval', 'positive');

/** Admission of MetricChecks. */
export const METRIC_CHECK_RULES: readonly Rule[] = [
  required('', 'spec.query', 'spec.query must not be empty'),
  required('', 'spec.prometheusURL', 'spec.prometheusURL must not be empty'),
  webAddress('spec', 'prometheusURL', 'base'),
  oneOf('spec', 'provider', ['prometheus']),
  pattern('spec', 'environment', DNS_LABEL),
  ...duration('spec', 'interval', 'interval'),
  oneOf('spec.threshold', 'operator', ['<', '<=', '>', '>=', '==', '!=']),
  pattern('spec.threshold', 'value', {
    pattern: '^[-+]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][-+]?[0-9]+)?$',
    accepted: 'a number such as 0.99',
  }),
  oneOf('spec', 'noData', ['fail', 'pass', 'keep']),
];

/** Admission of AuditEvents. */
export const AUDIT_EVENT_RULES: readonly Rule[] = [
  required('', 'spec.action', 'spec.action must not be empty'),
  immutableSpec('an AuditEvent is immutable'),
];

const engineKind = (kind: string): readonly Rule[] => [
  { at: '', rule: 'has(self.spec)', message: `spec of a ${kind} must be given`, fieldPath: '.spec', reason: 'FieldValueRequired' },
];

/** Admission of PromotionSteps, which only the engine writes. */
export const PROMOTION_STEP_RULES: readonly Rule[] = [...engineKind('PromotionStep'), oneOf('status', 'state', STEP_STATES)];
/** Admission of Graphs, which only the engine writes. */
export const GRAPH_RULES: readonly Rule[] = engineKind('Graph');
