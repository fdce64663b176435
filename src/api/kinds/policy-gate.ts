import type { Type } from 'typebox';
import { conditionsSchema, type TypedResource } from '../meta.ts';
import { duration, fields, integer, list, stringMap, text, timestamp } from '../schema.ts';

/** PolicyGate.spec (spec, "PolicyGate"). */
export const policyGateSpecSchema = fields(
  {
    expression: text('CEL; the gate passes when it evaluates to true.', { maxLength: 8192 }),
    message: text('Explanation for people, shown wherever the gate blocks.', { maxLength: 4096 }),
    recheckInterval: duration('How often it is evaluated again, such as `5m`, `30s` or `1h`; at every tick of the clock in any case.', {
      maxLength: 1024,
    }),
    appliesTo: list(
      text('Environment name.', { maxLength: 63 }),
      'Environments the gate blocks, besides those of its label and annotation.',
      { maxItems: 256 },
    ),
  },
  'A condition that holds promotions.',
);

/** PolicyGate.status. */
export const policyGateStatusSchema = fields(
  {
    result: text('PASS, FAIL or ERROR.', { maxLength: 16 }),
    message: text('Why.', { maxLength: 4096 }),
    values: stringMap('The attributes that were read, with their values.'),
    lastEvaluated: timestamp('When it was last evaluated.'),
    since: timestamp('Since when the result has been the same.'),
    conditions: conditionsSchema,
    observedGeneration: integer('The generation that this status speaks of.'),
  },
  'The last evaluation.',
);

export type PolicyGateSpec = Type.Static<typeof policyGateSpecSchema>;
export type PolicyGateStatus = Type.Static<typeof policyGateStatusSchema>;
/** A policy gate: a CEL expression that blocks a promotion until it is true. */
export type PolicyGate = TypedResource<'PolicyGate', PolicyGateSpec, PolicyGateStatus>;
