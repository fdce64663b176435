/** Rate limits: a bucket of tokens for each key, refilled evenly. */
import type { Clock } from '../ports/clock.ts';

/** Whether a request may pass, and if not, when the next one may. */
export type Permit = { readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number };

/** Takes one token of the key's bucket. */
export type TakeToken = (key: string) => Permit;

const MINUTE = 60_000;
/** Buckets that are full again say nothing; they are dropped when so many have gathered. */
const MAX_BUCKETS = 10_000;
const ROUNDING = 0.001;

/** Makes a limit of so many a minute for each key, that many of them at once; 0 is no limit. */
export const createTokenBuckets = (perMinute: number, clock: Pick<Clock, 'now'>): TakeToken => {
  if (perMinute <= 0) return () => ({ ok: true });
  const share = MINUTE / perMinute;
  /** For each key, when its bucket is full again. */
  const fullAt = new Map<string, number>();
  /** Milliseconds until the bucket is full; at most a minute, also when the clock was set back. */
  const missing = (key: string, now: number): number => Math.min(MINUTE, Math.max(0, (fullAt.get(key) ?? 0) - now));
  const sweep = (now: number): void => {
    for (const key of fullAt.keys()) if (missing(key, now) === 0) fullAt.delete(key);
    // Still too many: the oldest go first, which is the order of insertion.
    for (const key of fullAt.keys()) {
      if (fullAt.size < MAX_BUCKETS) break;
      fullAt.delete(key);
    }
  };
  return (key) => {
    const now = clock.now();
    const after = missing(key, now) + share;
    // Shares of a minute are no whole numbers; what is a rounding error too early is on time.
    if (after > MINUTE + ROUNDING) return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil((after - MINUTE - ROUNDING) / 1000)) };
    if (!fullAt.has(key) && fullAt.size >= MAX_BUCKETS) sweep(now);
    fullAt.set(key, now + after);
    return { ok: true };
  };
};
