/** Spans of time for tables. */

/** How long ago an RFC 3339 timestamp was, such as `5s`, `3m`, `2h10m`, `4d`; `-` when there is none. */
export const ageOf = (timestamp: string | undefined, now: number): string => {
  const then = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  if (Number.isNaN(then)) return '-';
  const seconds = Math.max(0, Math.floor((now - then) / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return minutes < 10 && seconds % 60 > 0 ? `${minutes}m${seconds % 60}s` : `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return hours < 8 && minutes % 60 > 0 ? `${hours}h${minutes % 60}m` : `${hours}h`;
  return `${Math.floor(hours / 24)}d`;
};
