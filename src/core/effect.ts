/**
 * The closed union of everything that can be done outside. Decisions return effects as data; controller/effects/ is their one interpreter.
 * Resource writes are quick and meet themselves when repeated; an activity is slow, runs outside the worker, at most one per key, and its result
 * is settled into the status of its PromotionStep at once.
 */
import type { Ref } from '../api/meta.ts';
import type { Reason } from '../api/outcome.ts';
import type { KindMap, KindName } from '../api/registry.ts';
import type { Repository } from '../api/repository.ts';

/** Writes to the store. */
export type ResourceEffect =
  /** Success too when it exists already and belongs to the same owner: names are deterministic. */
  | { readonly kind: 'CreateResource'; readonly object: KindMap[KindName] }
  /** Metadata and spec, compare-and-swap on resourceVersion. */
  | { readonly kind: 'UpdateResource'; readonly object: KindMap[KindName] }
  /** Status, compare-and-swap on resourceVersion. */
  | { readonly kind: 'UpdateStatus'; readonly object: KindMap[KindName] }
  /** NotFound is success. With a resourceVersion, only while nothing has changed. */
  | { readonly kind: 'DeleteResource'; readonly ref: Ref<KindName>; readonly uid: string; readonly resourceVersion?: string };

/** A pure edit as data; core/edit compiles it. */
export type EditSpec =
  | { readonly edit: 'overlay'; readonly path: string; readonly images: readonly ImageChange[] }
  | { readonly edit: 'chart'; readonly file: string; readonly valuePath: string; readonly images: readonly ImageChange[] }
  /** One after the other, each on the result of the one before. */
  | { readonly edit: 'sequence'; readonly edits: readonly EditSpec[] };

/** The image a manifest shall name. At least one of tag and digest is given. */
export interface ImageChange {
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** What every activity carries. */
export interface ActivityBase {
  /** Identity of the effect: run and step. At most one activity per key is under way. */
  readonly key: string;
  /** The PromotionStep whose status takes the result. */
  readonly step: Ref<'PromotionStep'>;
  /** That very PromotionStep, and the attempt: another one of the same name does not take the result. */
  readonly stepUid: string;
  readonly attempt: number;
  /** Index in status.steps. */
  readonly index: number;
  readonly repository: Repository;
  readonly branch: string;
}

/** Slow effects. */
export type ActivityEffect =
  | (ActivityBase & { readonly kind: 'GitFetch' })
  | (ActivityBase & { readonly kind: 'GitPreview'; readonly base: string; readonly edit: EditSpec })
  | (ActivityBase & { readonly kind: 'GitCommit'; readonly base: string } & CommitIntent)
  | (ActivityBase & { readonly kind: 'GitPush'; readonly since?: string; readonly notBefore: number } & CommitIntent);

/** All that a promotion's commit is a function of, besides its base. */
export interface CommitIntent {
  readonly edit: EditSpec;
  readonly run: string;
  readonly message: string;
  /** Milliseconds. */
  readonly time: number;
}

export type Effect = ResourceEffect | ActivityEffect;

/** What a decision is: what to do, why it stands where it stands, and when to look again if nothing changes before. */
export interface Decision {
  readonly writes: readonly ResourceEffect[];
  readonly activity?: ActivityEffect;
  readonly reason: Reason;
  /** Milliseconds since the epoch. */
  readonly lookAgainAt?: number;
}
