import type { Clock } from '../ports/clock.ts';

/** Node's timers hold at most this many milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  at: (time, callback) => {
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      const left = time - Date.now();
      timer = setTimeout(left > LONGEST_MS ? wait : callback, Math.min(Math.max(0, left), LONGEST_MS));
      timer.unref();
    };
    wait();
    return () => clearTimeout(timer);
  },
};
