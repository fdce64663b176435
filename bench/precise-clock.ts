import { systemClock } from '../src/adapters/system-clock.ts';
import type { Clock } from '../src/ports/clock.ts';

/** The machine's clock with fractions of a millisecond, so that processes can be timed. */
export const preciseClock: Clock = { now: () => performance.timeOrigin + performance.now(), at: systemClock.at };
