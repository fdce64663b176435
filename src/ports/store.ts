/**
 * The store: Kubernetes' semantics and no more. No snapshot over kinds, no transaction over objects, timestamps of one second.
 * Writes are durable when they are acknowledged. Reads may be stale unless `fresh` is asked for.
 */
import type { Resource } from '../api/meta.ts';
import type { KindMap, KindName } from '../api/registry.ts';

/** Why a request was not carried out; the codes are Kubernetes' status reasons. */
export type StoreErrorCode =
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Invalid'
  | 'BadRequest'
  | 'Forbidden'
  | 'Expired'
  | 'TooLarge'
  | 'Unavailable';

/** One field that was refused. */
export interface FieldCause {
  /** Path such as `spec.environments[0].name`. */
  readonly field: string;
  readonly message: string;
}

/** A refused request. */
export interface StoreError {
  readonly code: StoreErrorCode;
  readonly message: string;
  readonly causes?: readonly FieldCause[];
}

/** The end of a write. */
export type WriteResult<T extends Resource> =
  | { readonly ok: true; readonly object: T; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly error: StoreError };

/** The end of a read. */
export type ReadResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: StoreError };

export interface ReadOptions {
  /** Read the latest version rather than one that may be stale. */
  readonly fresh?: boolean;
}

export interface ListOptions extends ReadOptions {
  /** All namespaces when absent. */
  readonly namespace?: string;
  /** Kubernetes' syntax: `a=b,c!=d,e in (f,g),h,!i`. */
  readonly labelSelector?: string;
  /** `metadata.name`, `metadata.namespace` and, for our kinds, `spec.*` and `status.*` scalars, with `=`, `==` and `!=`. */
  readonly fieldSelector?: string;
  /** Page size; everything when absent. */
  readonly limit?: number;
  /** From an earlier page. */
  readonly continue?: string;
}

/** One page. Items are ordered by namespace, then name. */
export interface Page<T> {
  readonly items: readonly T[];
  /** A watch from here sees everything that happened after this list. */
  readonly resourceVersion: string;
  /** Present when there is more. */
  readonly continue?: string;
}

export interface WriteOptions {
  /** Everything is checked and nothing is written. */
  readonly dryRun?: boolean;
}

export interface DeleteOptions extends WriteOptions {
  /** Refuse with Conflict when the object is another one or has changed. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** What becomes of what it owns; `background` when absent. */
  readonly propagation?: 'background' | 'foreground' | 'orphan';
}

/** One thing that happened. A BOOKMARK carries only a resourceVersion; after an ERROR the watch ends. */
export type WatchEvent<T extends Resource> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T; readonly resourceVersion: string }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }
  | { readonly type: 'ERROR'; readonly error: StoreError };

export interface WatchOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Start after this version; a version that is no longer kept gives ERROR with code Expired. From now on when absent. */
  readonly resourceVersion?: string;
  /** Ends the watch. */
  readonly signal: AbortSignal;
}

/** Reads and writes resources. Every method may also answer Unavailable; none throws for an expected failure. */
export interface Store {
  get<K extends KindName>(kind: K, namespace: string, name: string, options?: ReadOptions): Promise<ReadResult<KindMap[K]>>;
  list<K extends KindName>(kind: K, options?: ListOptions): Promise<ReadResult<Page<KindMap[K]>>>;
  watch<K extends KindName>(kind: K, options: WatchOptions): AsyncIterable<WatchEvent<KindMap[K]>>;
  /** Status of kinds with a status subresource is dropped. AlreadyExists when the name is taken. */
  create<T extends KindMap[KindName]>(object: T, options?: WriteOptions): Promise<WriteResult<T>>;
  /** Writes metadata and spec; status is kept. A resourceVersion that is given must match, else Conflict. No write when nothing changes. */
  update<T extends KindMap[KindName]>(object: T, options?: WriteOptions): Promise<WriteResult<T>>;
  /** Writes status only. A resourceVersion that is given must match, else Conflict. No write when nothing changes. */
  updateStatus<T extends KindMap[KindName]>(object: T, options?: WriteOptions): Promise<WriteResult<T>>;
  /** The object as it was, or with its deletionTimestamp while finalizers hold it. */
  delete<K extends KindName>(kind: K, namespace: string, name: string, options?: DeleteOptions): Promise<WriteResult<KindMap[K]>>;
}
