import type { Type } from 'typebox';
import { conditionsSchema, type TypedResource, transitionsSchema } from '../meta.ts';
import { fields, integer, list, optional, record, text, timestamp } from '../schema.ts';

/** One image of a Bundle. */
export const imageSchema = fields(
  {
    repository: text('Image repository without tag, such as `ghcr.io/acme/web` or `registry:5000/web`.', { maxLength: 512 }),
    tag: text('Tag. A tag, a digest or both must be given.', { maxLength: 256 }),
    digest: text('Digest of the form `sha256:<hex>`; written beside the tag when both are given.', { maxLength: 256 }),
  },
  'An image reference.',
);

/** Bundle.spec (spec, "Bundle"). */
export const bundleSpecSchema = fields(
  {
    type: text('What the Bundle carries: `image`, `config` or `mixed`.', { default: 'image', maxLength: 256 }),
    pipeline: text('Name of the Pipeline that promotes it.', { maxLength: 253 }),
    images: list(imageSchema, 'The images to deploy; at least one when type is `image`.', { maxItems: 64 }),
    configRef: fields(
      {
        gitRepo: text('URL of the repository that holds the configuration commit.', { maxLength: 2048 }),
        commitSHA: text('The commit; may be short, it is resolved at promotion.', { maxLength: 64 }),
      },
      'The configuration commit of a `config` Bundle.',
    ),
    provenance: fields(
      {
        commitSHA: text('Source commit that the artifacts were built from.', { maxLength: 64 }),
        ciRunURL: text('URL of the CI run.', { maxLength: 2048 }),
        author: text('Who made the change.', { maxLength: 256 }),
        timestamp: timestamp('When the image was built, ISO 8601 in UTC.'),
      },
      'Where the artifacts come from.',
    ),
    intent: fields(
      {
        targetEnvironment: text('The last environment to promote to; `prod` when absent.', { maxLength: 63 }),
        skipEnvironments: list(text('Environment name.', { maxLength: 63 }), 'Environments to skip.', { maxItems: 64 }),
        skip: list(text('Environment name.', { maxLength: 63 }), 'Another name of skipEnvironments.', { maxItems: 64 }),
      },
      'How far the Bundle is meant to go.',
    ),
    version: text('Overrides the version that is otherwise derived from the first image or the commit.', { maxLength: 128 }),
    chart: fields(
      {
        repository: text('Chart repository.', { maxLength: 2048 }),
        name: text('Chart name.', { maxLength: 253 }),
        version: text('Chart version.', { maxLength: 128 }),
      },
      'A chart version carried along with the images.',
    ),
  },
  'What to deploy. Immutable.',
);

/** What is kept of an environment's PromotionStep after its Graph was deleted. */
export const environmentRecordSchema = record(
  {
    name: text('Environment.', { maxLength: 63 }),
    state: text('Last state of its PromotionStep.', { maxLength: 64 }),
    message: text('Last message.', { maxLength: 4096 }),
    commit: optional(text('Commit that was pushed.', { maxLength: 64 })),
    prURL: optional(text('Pull request.', { maxLength: 2048 })),
    verifiedAt: optional(timestamp('When it was Verified.')),
    transitions: transitionsSchema,
  },
  'The final record of one environment.',
);
export type EnvironmentRecord = Type.Static<typeof environmentRecordSchema>;

/** Bundle.status. */
export const bundleStatusSchema = fields(
  {
    phase: text('Available, Promoting, Verified, Failed, Superseded or SkipDenied.', { maxLength: 64 }),
    version: text('The version that names branches and shows in tables.', { maxLength: 160 }),
    sequence: integer('Order among the Bundles of one Pipeline, taken before anything acts on the Bundle.', {
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
    }),
    environments: list(environmentRecordSchema, 'Final records of environments, copied before the Graph is deleted.', { maxItems: 256 }),
    conditions: conditionsSchema,
    transitions: transitionsSchema,
    observedGeneration: integer('The generation that this status speaks of.'),
  },
  'What has become of it.',
);

export type Image = Type.Static<typeof imageSchema>;
export type BundleSpec = Type.Static<typeof bundleSpecSchema>;
export type BundleStatus = Type.Static<typeof bundleStatusSchema>;
/** An immutable, versioned snapshot of what to deploy. */
export type Bundle = TypedResource<'Bundle', BundleSpec, BundleStatus>;

/** Bundle phases (spec, "Bundle phases") and SkipDenied. */
export const BUNDLE_PHASES = ['Available', 'Promoting', 'Verified', 'Failed', 'Superseded', 'SkipDenied'] as const;
export type BundlePhase = (typeof BUNDLE_PHASES)[number];
