/** How a command ended, and the one place where that becomes words and an exit code. */
import type { Outcome, Reason } from '../api/outcome.ts';
import type { StoreError } from '../ports/store.ts';

/** The end of a command: exit code 0, or a sentence with exit code 1 (failed) or 2 (used wrongly). */
export type End = { readonly code: 0 } | { readonly code: 1 | 2; readonly message: string };

/** It worked. */
export const succeeded: End = { code: 0 };
/** It failed; the sentence says why and what to do next. Exit code 1. */
export const failed = (message: string): End => ({ code: 1, message });
/** It was called in a way that cannot work. Exit code 2. */
export const misused = (message: string): End => ({ code: 2, message });

/** A value, or the end of the command. */
export type Either<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly end: End };
/** Wraps a value. */
export const value = <T>(of: T): Either<T> => ({ ok: true, value: of });
/** Wraps an end. */
export const ends = (end: End): { readonly ok: false; readonly end: End } => ({ ok: false, end });

/** What a refused request says to a person: the message and each field. */
export const describeStoreError = (error: StoreError): string => {
  const missing = (error.causes ?? []).filter((cause) => !error.message.includes(cause.message));
  const fields = missing.map((cause) => `${cause.field}: ${cause.message}`).join('; ');
  const fault = `${error.message}${fields === '' ? '' : ` (${fields})`}`;
  if (error.code !== 'Unavailable') return fault;
  return `${fault}${/[.?!]$/.test(fault) ? '' : '.'} If that is not the server you mean, name another one with --kubeconfig.`;
};

/** The end that a refused request brings. */
export const refusedBy = (error: StoreError): End => failed(describeStoreError(error));

/** The end that a failed attempt brings. */
export const endOf = (outcome: Exclude<Outcome<unknown>, { outcome: 'done' }>): End => failed(describeReason(outcome.reason));

/** A reason as one line. */
export const describeReason = (reason: Reason): string => reason.message;
