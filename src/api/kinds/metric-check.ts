import type { Type } from 'typebox';
import { conditionsSchema, type TypedResource } from '../meta.ts';
import { duration, fields, integer, text, timestamp } from '../schema.ts';

/** MetricCheck.spec. */
export const metricCheckSpecSchema = fields(
  {
    pipeline: text('Pipeline it belongs to; all of the namespace when absent.', { maxLength: 253 }),
    environment: text('Environment whose gates may read it.', { maxLength: 63 }),
    provider: text('Where the number comes from.', { default: 'prometheus', maxLength: 32 }),
    prometheusURL: text('Base URL of Prometheus.', { maxLength: 2048 }),
    query: text('PromQL; {{environment}}, {{pipeline}} and {{bundle.version}} are filled in.', { maxLength: 8192 }),
    interval: duration('How often it is asked.', { default: '1m' }),
    threshold: fields(
      { operator: text('One of < <= > >= == !=.', { maxLength: 8 }), value: text('Number to compare with, as text.', { maxLength: 64 }) },
      'When the check passes.',
    ),
    noData: text('`fail`, `pass` or `keep`: what no data means.', { default: 'fail', maxLength: 16 }),
    secretRef: fields({ name: text('Name of the Secret.', { maxLength: 253 }) }, 'Credentials for Prometheus.'),
  },
  'A number that gates can read.',
);
/** MetricCheck.status. */
export const metricCheckStatusSchema = fields(
  {
    value: text('The last value, as text.', { maxLength: 64 }),
    result: text('Pass, Fail or Unknown.', { maxLength: 16 }),
    lastEvaluated: timestamp('When it was last asked.'),
    message: text('Why.', { maxLength: 4096 }),
    conditions: conditionsSchema,
    observedGeneration: integer('The generation that this status speaks of.'),
  },
  'The last value.',
);

export type MetricCheckSpec = Type.Static<typeof metricCheckSpecSchema>;
export type MetricCheckStatus = Type.Static<typeof metricCheckStatusSchema>;
/** A metric query whose result gates can read. */
export type MetricCheck = TypedResource<'MetricCheck', MetricCheckSpec, MetricCheckStatus>;
