/** Times in status are RFC 3339 texts with milliseconds; decisions count in milliseconds since the epoch. */

/** The text of a time. */
export const toTimestamp = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** The time of a text; undefined when it is absent or none. */
export const fromTimestamp = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
};
