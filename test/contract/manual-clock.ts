/** A clock that moves only when it is told to. */
import type { Clock } from '../../src/ports/clock.ts';

/** A clock and the hand that moves it. */
export interface ManualClock extends Clock {
  /** Moves by milliseconds; callbacks that fall due run in order. */
  advance(milliseconds: number): void;
}

/** Starts at the given time in milliseconds. */
export const manualClock = (start: number): ManualClock => {
  let now = start;
  let timers: { readonly time: number; readonly callback: () => void }[] = [];
  return {
    now: () => now,
    at: (time, callback) => {
      const timer = { time, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance: (milliseconds) => {
      const end = now + milliseconds;
      for (;;) {
        const due = timers.filter(({ time }) => time <= end).sort((left, right) => left.time - right.time)[0];
        if (!due) break;
        timers = timers.filter((other) => other !== due);
        now = Math.max(now, due.time);
        due.callback();
      }
      now = end;
    },
  };
};
