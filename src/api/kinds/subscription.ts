import type { Type } from 'typebox';
import { conditionsSchema, type TypedResource } from '../meta.ts';
import { duration, fields, integer, text, timestamp } from '../schema.ts';

/** Subscription.spec (spec, "Subscription"). */
export const subscriptionSpecSchema = fields(
  {
    type: text('`image` or `git`.', { maxLength: 32 }),
    pipeline: text('Target Pipeline.', { maxLength: 253 }),
    image: fields(
      {
        registry: text('Registry repository to watch.', { maxLength: 512 }),
        tagFilter: text('Regular expression (RE2) on tags.', { maxLength: 1024 }),
        interval: duration('Polling interval.', { default: '5m' }),
      },
      'For type `image`.',
    ),
    git: fields(
      {
        repoURL: text('Repository to watch.', { maxLength: 2048 }),
        branch: text('Branch to watch.', { default: 'main', maxLength: 244 }),
        pathGlob: text('Only commits that touch a matching path count.', { maxLength: 1024 }),
        interval: duration('Polling interval.', { default: '5m' }),
      },
      'For type `git`.',
    ),
  },
  'A source that Bundles are created from.',
);

/** Subscription.status. */
export const subscriptionStatusSchema = fields(
  {
    lastSeen: text('The newest tag or commit that was handled.', { maxLength: 256 }),
    lastChecked: timestamp('When the source was last asked.'),
    lastBundle: text('The last Bundle that was created.', { maxLength: 253 }),
    conditions: conditionsSchema,
    observedGeneration: integer('The generation that this status speaks of.'),
  },
  'What was seen.',
);

export type SubscriptionSpec = Type.Static<typeof subscriptionSpecSchema>;
export type SubscriptionStatus = Type.Static<typeof subscriptionStatusSchema>;
/** Watches a registry or a repository and creates Bundles. */
export type Subscription = TypedResource<'Subscription', SubscriptionSpec, SubscriptionStatus>;
