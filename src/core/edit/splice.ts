/** Changes of a text by position: everything outside the ranges stays as it is, byte for byte. */

/** Replaces [start, end) by text; an insertion when both are the same. Offsets are UTF-16 code units. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Applies splices that do not overlap; insertions at one place keep their order. Throws when two overlap, which would be a bug of the caller. */
export const applySplices = (text: string, splices: readonly Splice[]): string => {
  const parts: string[] = [];
  let at = 0;
  for (const splice of [...splices].sort((a, b) => a.start - b.start)) {
    if (splice.start < at) throw new Error('two splices of one edit overlap');
    parts.push(text.slice(at, splice.start), splice.text);
    at = splice.end;
  }
  parts.push(text.slice(at));
  return parts.join('');
};
