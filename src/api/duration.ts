/** Durations in Go's syntax, the only form of a duration that any resource or flag takes. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const NUMBER = '(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)';
const UNIT = '(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h)';

/** The same grammar as a regular expression for admission rules; anchored. Length is bounded by the field's `maxLength`. */
export const DURATION_PATTERN = `^[-+]?(0|(${NUMBER.replaceAll('?:', '')}${UNIT.replaceAll('?:', '')})+)$`;

const WHOLE = new RegExp(`^[-+]?(?:0|(?:${NUMBER}${UNIT})+)$`);
const PART = new RegExp(`(${NUMBER})(${UNIT})`, 'g');

/** The longest text of a duration that is admitted. */
export const MAX_DURATION_TEXT = 64;

const MANY: readonly (readonly [number, string])[] = [
  [5, 'h'],
  [7, 'm($|[^s])'],
  [9, 's'],
  [12, 'ms'],
  [15, '[u\u00b5\u03bc]s'],
  [18, 'ns'],
];

/**
 * Finds numbers so long that what is asked of the duration might not fit Go's 64-bit nanoseconds; without them, a text of
 * `MAX_DURATION_TEXT` characters always fits, however many numbers it adds up. Each such number alone is more than ten years.
 */
export const OVERLONG_DURATION_PATTERN = `(^|[^0-9.])0*(${MANY.map(([digits, unit]) => `[1-9][0-9]{${digits},}([.][0-9]*)?${unit}`).join('|')})`;

/** Longer durations do not fit Go's 64-bit nanoseconds and are refused, as Go does. */
const MAX_MS = 2 ** 63 / 1e6;

/** How to write a duration, for messages that refuse one. */
export const DURATION_HINT = 'a Go duration such as 30s, 5m, 1h30m or 100ms';

/**
 * Milliseconds (fractions kept) of a duration in Go's syntax: an optional sign and numbers with a unit of ns, us, ms, s, m or h, such as
 * `1h30m`, `1.5h` or `-100ms`; `0` alone needs no unit. Undefined for everything else: no unit, `1d`, spaces, empty, beyond 292 years.
 */
export const parseDuration = (text: string): number | undefined => {
  if (text.length > 256 || !WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(PART)) total += Number(number) * (UNIT_MS[unit ?? ''] ?? 0);
  if (total >= MAX_MS) return undefined;
  return text.startsWith('-') && total !== 0 ? -total : total;
};

/** Like parseDuration for what is waited for: undefined also for zero and negative durations. */
export const parseInterval = (text: string): number | undefined => {
  const ms = parseDuration(text);
  return ms !== undefined && ms > 0 ? ms : undefined;
};

const trimmed = (value: number, digits: number): string => {
  const fixed = value.toFixed(digits);
  return fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed;
};

const below = (ns: number): string => {
  if (ns < 1e3) return `${ns}ns`;
  if (ns < 1e6) return `${trimmed(ns / 1e3, 3)}\u00b5s`;
  return `${trimmed(ns / 1e6, 6)}ms`;
};

/** A duration in milliseconds as Go prints it: `1h30m0s`, `1.5s`, `100ms`, `0s`; to the nanosecond. */
export const formatDuration = (ms: number): string => {
  const sign = ms < 0 ? '-' : '';
  const absolute = Math.abs(ms);
  if (absolute < 1000) {
    const ns = Math.round(absolute * 1e6);
    if (ns === 0) return '0s';
    if (ns < 1e9) return sign + below(ns);
  }
  let whole = Math.floor(absolute / 1000);
  let fraction = Math.round((absolute - whole * 1000) * 1e6) / 1e9;
  if (fraction >= 1) {
    whole += 1;
    fraction = 0;
  }
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const seconds = `${trimmed((whole % 60) + fraction, 9)}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : sign + seconds;
};
