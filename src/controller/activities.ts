/** Slow effects: at most one per key, outside the workers; the result is settled into the PromotionStep before the key is free again. */
import type { Outcome } from '../api/outcome.ts';
import type { ActivityEffect } from '../core/effect.ts';
import { type ActivityResult, settle } from '../core/step/settle.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';

export interface ActivitiesPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Carries the effect out. */
  readonly run: (effect: ActivityEffect) => Promise<Outcome<ActivityResult>>;
  /** Called when the result is settled, or when the activity was withdrawn and nothing was written. */
  readonly ended: (effect: ActivityEffect, withdrawn: boolean) => void;
}

export interface Activities {
  /** A moment in the order of ends; taken before a World is gathered. */
  mark(): number;
  /** Begins it unless one of the same key is under way or has ended since the mark: the World that asked for it is then out of date. */
  start(effect: ActivityEffect, since: number): 'started' | 'outdated';
  /** How many are under way. */
  running(): number;
  /** Resolves when none is under way, or after the time in milliseconds. Nothing new begins. */
  stop(graceMs: number): Promise<void>;
}

/** How an attempt to write a result ended. */
type Recorded = 'recorded' | 'conflict' | 'invalid' | 'unavailable';

const RETRY_MS = 1000;

/** How many ends are remembered; a look that takes longer than so many ends repeats an effect, which then meets itself. */
const ENDS_KEPT = 1000;

/** The latest ends, in order. */
const createEnds = () => {
  const ends = new Map<string, number>();
  let count = 0;
  return {
    mark: () => count,
    add: (key: string): void => {
      count += 1;
      ends.delete(key);
      ends.set(key, count);
      for (const [oldest] of ends) {
        if (ends.size <= ENDS_KEPT) break;
        ends.delete(oldest);
      }
    },
    after: (key: string, since: number): boolean => (ends.get(key) ?? 0) > since,
  };
};

/** Makes the set of activities. */
export const createActivities = (ports: ActivitiesPorts): Activities => {
  const { store, clock, log } = ports;
  const running = new Map<string, Promise<void>>();
  const ends = createEnds();
  let stopped = false;

  const pause = () => new Promise<void>((resolve) => void clock.at(clock.now() + RETRY_MS, resolve));

  /** Writes the result into the latest version; false when the store did not take it this time. */
  const tryRecord = async (effect: ActivityEffect, outcome: Outcome<ActivityResult>): Promise<Recorded> => {
    const read = await store.get('PromotionStep', effect.step.namespace, effect.step.name, { fresh: true });
    if (!read.ok) return read.error.code === 'NotFound' ? 'recorded' : 'unavailable';
    const status = settle(read.value, effect, outcome, clock.now());
    if (status === undefined) return 'recorded';
    const written = await store.updateStatus({ ...read.value, status });
    if (written.ok || written.error.code === 'NotFound') return 'recorded';
    if (written.error.code === 'Conflict') return 'conflict';
    if (written.error.code === 'Invalid') return 'invalid';
    log.warn('the result of an activity could not be recorded yet', { key: effect.key, code: written.error.code });
    return 'unavailable';
  };

  const record = async (effect: ActivityEffect, outcome: Outcome<ActivityResult>): Promise<void> => {
    for (;;) {
      const result = await tryRecord(effect, outcome);
      if (result === 'recorded') return;
      if (result === 'invalid') {
        log.error('the store refuses the result of an activity', { key: effect.key });
        return pause();
      }
      if (result === 'unavailable') await pause();
      if (stopped && result === 'unavailable') return;
    }
  };

  const perform = async (effect: ActivityEffect): Promise<void> => {
    let withdrawn = false;
    try {
      const outcome = await ports.run(effect);
      withdrawn = outcome.outcome === 'done' && outcome.value.result === 'withdrawn';
      const how =
        outcome.outcome === 'done' ? { result: outcome.value.result } : { code: outcome.reason.code, reason: outcome.reason.message };
      log.info('activity ended', { activity: effect.kind, run: effect.key, outcome: outcome.outcome, ...how });
      await record(effect, outcome);
    } catch (error) {
      log.error('an activity ended by a bug', { run: effect.key, error });
      await pause();
    } finally {
      running.delete(effect.key);
      ends.add(effect.key);
      ports.ended(effect, withdrawn);
    }
  };

  return {
    mark: ends.mark,
    start: (effect, since) => {
      if (ends.after(effect.key, since)) return 'outdated';
      if (!stopped && !running.has(effect.key)) running.set(effect.key, perform(effect));
      return 'started';
    },
    running: () => running.size,
    stop: async (graceMs) => {
      stopped = true;
      const deadline = new Promise<void>((resolve) => void clock.at(clock.now() + graceMs, resolve));
      await Promise.race([Promise.all(running.values()), deadline]);
    },
  };
};
