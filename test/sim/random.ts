/** Seeded randomness: every choice of a simulation comes from here, so a seed is the whole run. */

/** A stream of pseudo-random choices. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number;
  /** True with that probability; draws nothing when it is 0. */
  chance(probability: number): boolean;
  /** One of the items; throws when there is none. */
  pick<T>(items: readonly T[]): T;
  /** A stream of its own: what it draws does not move this one. The same label gives the same stream. */
  fork(label: string): Random;
}

/** A 32-bit hash of a text (FNV-1a with a final mix). */
export const hash32 = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

const rotl = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

/** A xoshiro128** stream for a label such as a seed. */
export const createRandom = (label: string): Random => {
  let [a, b, c, d] = [hash32(`${label}/a`), hash32(`${label}/b`), hash32(`${label}/c`), hash32(`${label}/d`) | 1];
  const next32 = (): number => {
    const result = Math.imul(rotl(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotl(d, 11);
    return result;
  };
  const next = () => next32() / 0x1_0000_0000;
  const below = (end: number) => Math.floor(next() * end);
  return {
    next,
    below,
    between: (from, to) => from + below(to - from + 1),
    chance: (probability) => probability > 0 && next() < probability,
    pick: <T>(items: readonly T[]): T => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    fork: (name) => createRandom(`${label}/${name}`),
  };
};
