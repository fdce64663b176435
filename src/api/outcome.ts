/** How an attempt at something ended, and what happens next: the one vocabulary for expected failure. */

/** A "no" (or a "not yet") with a code for programs and a sentence for people. */
export interface Reason {
  /** CamelCase, stable. */
  readonly code: string;
  /** One sentence that says what is wrong and, where it helps, what to do. Never holds a secret. */
  readonly message: string;
}

/** It is done. */
export interface Done<T> {
  readonly outcome: 'done';
  readonly value: T;
}
/** It may work later without anybody changing anything here: network, 5xx, 401/403, rate limits, lost races. */
export interface Transient {
  readonly outcome: 'transient';
  readonly reason: Reason;
  /** When the other side named a time to wait, in milliseconds. */
  readonly retryAfterMs?: number;
}
/** It cannot work until a person changes something. */
export interface Terminal {
  readonly outcome: 'terminal';
  readonly reason: Reason;
}

/** The end of an attempt. */
export type Outcome<T> = Done<T> | Transient | Terminal;

/** Makes a successful outcome. */
export const done = <T>(value: T): Done<T> => ({ outcome: 'done', value });
/** Makes an outcome that is worth trying again. */
export const transient = (code: string, message: string, retryAfterMs?: number): Transient => ({
  outcome: 'transient',
  reason: { code, message },
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
/** Makes an outcome that no retry mends. */
export const terminal = (code: string, message: string): Terminal => ({ outcome: 'terminal', reason: { code, message } });
