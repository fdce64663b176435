/** What every resource carries, in the words of Kubernetes. */
import type { Type } from 'typebox';
import { integer, list, optional, record, text, timestamp } from './schema.ts';

/** The API group of all our kinds. */
export const GROUP = 'promoter.io';
/** The API version string of all our kinds. */
export const API_VERSION = 'promoter.io/v1alpha1';

/** Names an owner; when the owner is gone, what it owns is deleted. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** Kubernetes' ObjectMeta, as far as this service uses it. Timestamps have one-second precision. */
export interface ObjectMeta {
  name: string;
  /** Absent on cluster-scoped kinds. */
  namespace?: string;
  generateName?: string;
  uid?: string;
  /** Opaque; compare for equality only. */
  resourceVersion?: string;
  /** Grows only when the spec changes. */
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
}

/** Any resource: what the store needs to know of it. */
export interface Resource {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A resource with a spec and a status, both absent until written. */
export interface TypedResource<Kind extends string, Spec, Status> extends Resource {
  kind: Kind;
  spec?: Spec;
  status?: Status;
}

/** A Kubernetes condition. */
export const conditionSchema = record(
  {
    type: text('What the condition speaks of, in CamelCase.', { maxLength: 316 }),
    status: text('True, False or Unknown.', { maxLength: 16 }),
    reason: text('A code in CamelCase for programs.', { maxLength: 1024 }),
    message: text('A sentence for people.', { maxLength: 32768 }),
    lastTransitionTime: timestamp('When the status last changed.'),
    observedGeneration: optional(integer('The generation that the condition was computed from.')),
  },
  'One observation about a resource.',
);
export type Condition = Type.Static<typeof conditionSchema>;

/** The conditions of a status. */
export const conditionsSchema = list(conditionSchema, 'Observations about the resource.', { maxItems: 32 });

/**
 * One move of a phase or state. The journal of them is what AuditEvents follow from: a transition that is persisted and has no AuditEvent
 * yet gets one on the next pass.
 */
export const transitionSchema = record(
  {
    at: timestamp('When it happened.'),
    from: text('The state before; empty at the start.', { maxLength: 64 }),
    to: text('The state after.', { maxLength: 64 }),
    reason: text('A code in CamelCase.', { maxLength: 256 }),
    message: text('A sentence for people.', { maxLength: 4096 }),
    attempt: optional(integer('The attempt of the run it belongs to, from 1.')),
  },
  'One transition, in the order they happened.',
);
export type Transition = Type.Static<typeof transitionSchema>;

/** The journal of transitions of a status. */
export const transitionsSchema = list(transitionSchema, 'Every transition so far, oldest first.', { maxItems: 256 });

/** Names one resource. `namespace` is empty for cluster-scoped kinds. */
export interface Ref<Kind extends string = string> {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}
