import type { Log } from '../src/ports/log.ts';

const shown = (_: string, value: unknown): unknown => (value instanceof Error ? value.stack : value);

/** Passes warnings and errors on as one line each, and drops the rest. */
export const quietLog = (tell: (line: string) => void): Log => {
  const line = (level: string) => (message: string, fields?: Readonly<Record<string, unknown>>) =>
    tell(`${level}: ${message} ${JSON.stringify(fields ?? {}, shown)}`);
  return { debug: () => undefined, info: () => undefined, warn: line('warning'), error: line('error') };
};
