/** Labels and annotations of the interface. */

/** On a Bundle: the Pipeline it belongs to; on AuditEvents, Graphs and PromotionSteps: the same. */
export const PIPELINE_LABEL = 'promoter.io/pipeline';
/** On what the engine makes: the Bundle it is for. */
export const BUNDLE_LABEL = 'promoter.io/bundle';
/** On PromotionSteps: the environment. */
export const ENVIRONMENT_LABEL = 'promoter.io/environment';
/** On AuditEvents: the action. */
export const ACTION_LABEL = 'promoter.io/action';
/** On PolicyGates, as label or annotation: the environments that the gate blocks. */
export const APPLIES_TO_LABEL = 'promoter.io/applies-to';
/** On PolicyGates: `skip-permission` marks a gate that grants skips and never blocks. */
export const TYPE_LABEL = 'promoter.io/type';
