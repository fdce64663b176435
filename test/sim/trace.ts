/** What happened, in order: the last lines for people, and a hash of all of them so that two runs can be compared. */
import { hash32 } from './random.ts';

/** The record of one run. */
export interface Trace {
  /** Adds a line; the virtual time is put in front. */
  line(text: string): void;
  /** The last lines, oldest first. */
  tail(count: number): readonly string[];
  /** Changes with every line. */
  hash(): string;
}

/** How a trace is kept. */
export interface TraceOptions {
  /** Milliseconds since the start of the run. */
  readonly elapsed: () => number;
  /** Hears every line at once. */
  readonly echo?: (line: string) => void;
  /** Lines kept; 400 when absent. */
  readonly keep?: number;
}

/** Makes a trace. */
export const createTrace = ({ elapsed, echo, keep = 400 }: TraceOptions): Trace => {
  let kept: string[] = [];
  let [low, high, count] = [0, 0, 0];
  return {
    line: (text) => {
      const line = `${(elapsed() / 1000).toFixed(3).padStart(9)}s ${text}`;
      const hash = hash32(line);
      low = (Math.imul(low, 31) + hash) >>> 0;
      high = (Math.imul(high ^ hash, 0x01000193) + (low >>> 7)) >>> 0;
      count += 1;
      kept.push(line);
      if (kept.length > keep * 2) kept = kept.slice(-keep);
      echo?.(line);
    },
    tail: (wanted) => kept.slice(-wanted),
    hash: () => `${count}-${high.toString(16).padStart(8, '0')}${low.toString(16).padStart(8, '0')}`,
  };
};
