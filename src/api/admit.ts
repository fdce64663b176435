/** What a store asks before it keeps an object: the rules and defaults of its kind. */
import type { Resource } from './meta.ts';

/** An object on its way in. */
export interface AdmitRequest {
  readonly operation: 'create' | 'update';
  /** As it would be stored; may be kept or copied, never changed. */
  readonly object: Resource;
  /** What is stored now; absent on create. */
  readonly old?: Resource;
  /** Set when only the status is being written; metadata and spec are then those of `old`. */
  readonly subresource?: 'status';
}

/** The object with defaults applied, or why it is refused. */
export type AdmitResult =
  | { readonly ok: true; readonly object: Resource; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly message: string; readonly causes: readonly { readonly field: string; readonly message: string }[] };

/** Applies defaults and rules; pure and synchronous. */
export type Admit = (request: AdmitRequest) => AdmitResult;
