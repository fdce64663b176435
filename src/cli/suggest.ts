/** Guesses what somebody meant to type. */

/** Number of letters to insert, delete, replace or swap to get from one word to the other. */
const distance = (a: string, b: string): number => {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? a.length;
};

/** The known word nearest to the given one; undefined when none is near (a third of its letters, at least one). */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const ranked = known
    .map((candidate) => ({ candidate, off: distance(word.toLowerCase().slice(0, 64), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.off - b.off);
  const best = ranked[0];
  return best !== undefined && best.off <= limit ? best.candidate : undefined;
};

/** ` Did you mean X?`, or nothing. */
export const didYouMean = (word: string, known: readonly string[]): string => {
  const guess = nearest(word, known);
  return guess === undefined ? '' : ` Did you mean ${guess}?`;
};
