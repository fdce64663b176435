/** One request to the resource API and its end, apart from HTTP. */
import type { KindInfo } from '../api/registry.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { Query } from './query.ts';
import type { Refusal, Subject } from './refusal.ts';

/** What every request may use. */
export interface Context {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** A request whose path and parameters have been read. */
export interface Call {
  readonly info: KindInfo;
  /** Undefined for cluster-scoped kinds and for all namespaces. */
  readonly namespace: string | undefined;
  /** Undefined for collections. */
  readonly name: string | undefined;
  /** Whether the path ends in `/status`. */
  readonly status: boolean;
  readonly query: Query;
  readonly body: unknown;
  /** Media type of the body, without parameters. */
  readonly contentType: string;
}

/** The end of a request: what to send, or what was refused about what. */
export type Answer =
  | { readonly ok: true; readonly code: number; readonly body: object; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly refusal: Refusal; readonly subject: Subject };

/** What the call is about, for Status bodies. */
export const subjectOf = (call: Call, name: string = call.name ?? ''): Subject => ({ info: call.info, name });

/** Makes a successful end. */
export const answer = (code: number, body: object, warnings: readonly string[] = []): Answer => ({ ok: true, code, body, warnings });

/** Makes an unsuccessful end. */
export const refused = (call: Call, refusal: Refusal, name?: string): Answer => ({
  ok: false,
  refusal,
  subject: name === undefined ? subjectOf(call) : subjectOf(call, name),
});
