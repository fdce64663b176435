/**
 * The queue of one kind: every key at most once waiting and at most once in work; a key that is added while it is in work is looked at again.
 * `concurrency` keys are worked on at a time (the default of the specification is 1).
 */
import type { Clock } from '../ports/clock.ts';
import { type Key, keyText } from './keys.ts';

/** What to do with the key after a look at it. */
export type Next = { readonly next: 'rest' } | { readonly next: 'at'; readonly time: number } | { readonly next: 'failed' };

const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 30_000;

interface Waiting {
  readonly time: number;
  readonly cancel: () => void;
}

export interface WorkQueue {
  /** Looks at the key as soon as there is a free worker. */
  add(key: Key): void;
  /** Nothing waits, and nothing is in work; keys with a time in the future do not count. */
  idle(): boolean;
  /** Ends: nothing new begins. Resolves when what is in work has ended. */
  stop(): Promise<void>;
}

/** Makes a queue; `work` never rejects for an expected failure, and what it rejects with counts as a failed look. */
export const createWorkQueue = (clock: Clock, concurrency: number, work: (key: Key, failures: number) => Promise<Next>): WorkQueue => {
  const waiting = new Map<string, Key>();
  const working = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const timers = new Map<string, Waiting>();
  const failures = new Map<string, number>();
  let stopped = false;

  const schedule = (key: Key, time: number): void => {
    const text = keyText(key);
    timers.get(text)?.cancel();
    const cancel = clock.at(time, () => {
      timers.delete(text);
      add(key);
    });
    timers.set(text, { time, cancel });
  };

  const backOff = (key: Key): void => {
    const text = keyText(key);
    const count = (failures.get(text) ?? 0) + 1;
    failures.set(text, count);
    schedule(key, clock.now() + Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(count - 1, 12)));
  };

  const look = async (key: Key): Promise<void> => {
    const text = keyText(key);
    let next: Next = { next: 'failed' };
    try {
      next = await work(key, failures.get(text) ?? 0);
    } finally {
      working.delete(text);
      if (!stopped) {
        if (next.next === 'failed') backOff(key);
        else failures.delete(text);
        if (next.next === 'at') schedule(key, next.time);
        if (again.delete(text)) waiting.set(text, key);
        pump();
      }
    }
  };

  const pump = (): void => {
    for (const [text, key] of waiting) {
      if (stopped || working.size >= concurrency) return;
      waiting.delete(text);
      timers.get(text)?.cancel();
      timers.delete(text);
      working.set(text, look(key));
    }
  };

  const add = (key: Key): void => {
    if (stopped) return;
    const text = keyText(key);
    if (working.has(text)) again.add(text);
    else {
      waiting.set(text, key);
      pump();
    }
  };

  return {
    add,
    idle: () => waiting.size === 0 && working.size === 0,
    stop: async () => {
      stopped = true;
      waiting.clear();
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
      await Promise.all(working.values());
    },
  };
};
