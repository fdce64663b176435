/** Rate limits: a bucket of tokens for each key, refilled evenly. */
import type { Clock } from '../ports/clock.ts';

/** Whether a request may pass, and if not, when the next one may. */
export type Permit = { readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number };

/** Takes one token of the key's bucket. */
export type TakeToken = (key: string) => Permit;

interface Bucket {
  tokens: number;
  at: number;
}

const MINUTE = 60_000;
/** Buckets that are full again say nothing; they are dropped when so many have gathered. */
const MAX_BUCKETS = 10_000;

/** Makes a limit of so many a minute for each key, that many of them at once; 0 is no limit. */
export const createTokenBuckets = (perMinute: number, clock: Pick<Clock, 'now'>): TakeToken => {
  if (perMinute <= 0) return () => ({ ok: true });
  const buckets = new Map<string, Bucket>();
  const filled = ({ tokens, at }: Bucket, now: number): number =>
    Math.min(perMinute, tokens + (Math.max(0, now - at) * perMinute) / MINUTE);
  const sweep = (now: number): void => {
    for (const [key, bucket] of buckets) if (filled(bucket, now) >= perMinute) buckets.delete(key);
    // Still too many: the oldest go first, which is the order of insertion.
    for (const key of buckets.keys()) {
      if (buckets.size < MAX_BUCKETS) break;
      buckets.delete(key);
    }
  };
  return (key) => {
    const now = clock.now();
    const tokens = filled(buckets.get(key) ?? { tokens: perMinute, at: now }, now);
    if (!buckets.has(key) && buckets.size >= MAX_BUCKETS) sweep(now);
    if (tokens < 1) {
      buckets.set(key, { tokens, at: now });
      return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(((1 - tokens) * MINUTE) / perMinute / 1000)) };
    }
    buckets.set(key, { tokens: tokens - 1, at: now });
    return { ok: true };
  };
};
