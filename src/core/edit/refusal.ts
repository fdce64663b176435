/** How parts of an edit say no. */
import type { EditRefusal } from '../../api/file-edit.ts';

/** A part of an edit: its value, or the refusal of the whole edit. */
export type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: EditRefusal };

/** What a refusal says. */
export interface RefusalText {
  readonly code: string;
  readonly message: string;
  readonly file: string;
  /** From 1. */
  readonly line?: number;
}

/** Makes a refusal whose message ends with the place, so that it names file and line wherever it is shown alone. */
export const refuse = ({ code, message, file, line }: RefusalText): { readonly ok: false; readonly refusal: EditRefusal } => ({
  ok: false,
  refusal: {
    code,
    message: `${message} (${file}${line === undefined ? '' : `, line ${line}`})`,
    file,
    ...(line === undefined ? {} : { line }),
  },
});

/** Makes a value. */
export const got = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

/** Runs a part for every item and joins the lists that they give; the first refusal ends it. */
export const gather = <I, T>(items: Iterable<I>, part: (item: I) => Attempt<readonly T[]>): Attempt<readonly T[]> => {
  const all: T[] = [];
  for (const item of items) {
    const attempt = part(item);
    if (!attempt.ok) return attempt;
    for (const value of attempt.value) all.push(value);
  }
  return got(all);
};
