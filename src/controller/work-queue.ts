/**
 * The queue of one kind: every key at most once waiting and at most once in work; a key that is added while it is in work is looked at again.
 * `concurrency` workers gather and decide at a time (the default of the specification is 1). A worker is free again as soon as its decision stands: while
 * the writes of one key become durable, the next key is looked at, so that the writes of many keys share a commit.
 */
import type { Clock } from '../ports/clock.ts';
import { type Key, keyText } from './keys.ts';

/** What to do with the key after a look at it. */
export type Next = { readonly next: 'rest' } | { readonly next: 'at'; readonly time: number } | { readonly next: 'failed' };

/** How a key shall be looked at. */
export interface Look {
  /** Read the latest: the last look failed, or what it saw is known to be out of date. */
  readonly fresh: boolean;
  /** To be called when the worker is no longer needed. */
  readonly decided: () => void;
}

/** One look at a key. Rejects only for a bug, which counts as a failed look. */
export type Work = (key: Key, look: Look) => Promise<Next>;

/** When a key that is added is looked at. */
export interface AddOptions {
  /** Only when nothing else waits. */
  readonly later?: boolean;
  readonly fresh?: boolean;
}

/** Keys whose writes may be under way at a time, besides those that workers look at. */
const MAX_WRITING = 256;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 30_000;

export interface WorkQueue {
  /** Looks at the key as soon as there is a free worker. */
  add(key: Key, options?: AddOptions): void;
  /** Looks at the key, fresh, at that time (milliseconds) at the latest. */
  addAt(key: Key, time: number): void;
  /** Nothing waits, and nothing is in work; keys with a time in the future do not count. */
  idle(): boolean;
  /** Ends: nothing new begins. Resolves when what is in work has ended. */
  stop(): Promise<void>;
}

/** Keys to be looked at later: one time a key, the latest that was asked for. */
const createTimers = (clock: Clock, due: (key: Key) => void) => {
  const cancels = new Map<string, () => void>();
  const cancel = (text: string): void => {
    cancels.get(text)?.();
    cancels.delete(text);
  };
  return {
    cancel,
    set: (key: Key, time: number): void => {
      const text = keyText(key);
      cancel(text);
      const stop = clock.at(time, () => {
        cancels.delete(text);
        due(key);
      });
      cancels.set(text, stop);
    },
    clear: (): void => {
      for (const stop of cancels.values()) stop();
      cancels.clear();
    },
  };
};

/** How often in a row each key failed, and how long that makes it wait, in milliseconds. */
const createBackoff = () => {
  const failures = new Map<string, number>();
  return {
    count: (text: string): number => failures.get(text) ?? 0,
    clear: (text: string): void => void failures.delete(text),
    next: (text: string): number => {
      const count = (failures.get(text) ?? 0) + 1;
      failures.set(text, count);
      return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(count - 1, 12));
    },
  };
};

/** Workers: each is given back once, whoever asks first. */
const createWorkers = (total: number, free: () => void) => {
  let busy = 0;
  return {
    available: () => busy < total,
    take: (): (() => void) => {
      busy += 1;
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        busy -= 1;
        free();
      };
    },
  };
};

/** Makes a queue. */
export const createWorkQueue = (clock: Clock, concurrency: number, work: Work): WorkQueue => {
  const waiting = new Map<string, Key>();
  const later = new Map<string, Key>();
  const working = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const fresh = new Set<string>();
  const backoff = createBackoff();
  const timers = createTimers(clock, (key) => add(key));
  const workers = createWorkers(concurrency, () => pump());
  let stopped = false;

  const settle = (key: Key, next: Next): void => {
    const text = keyText(key);
    working.delete(text);
    const wanted = again.delete(text);
    if (stopped) return;
    if (next.next === 'failed') {
      // Whoever asked meanwhile waits as well: the look's own first write may be what woke it.
      timers.set(key, clock.now() + backoff.next(text));
      return;
    }
    backoff.clear(text);
    if (next.next === 'at') timers.set(key, next.time);
    if (wanted) waiting.set(text, key);
  };

  const look = async (key: Key): Promise<void> => {
    const text = keyText(key);
    const decided = workers.take();
    let next: Next = { next: 'failed' };
    try {
      next = await work(key, { fresh: fresh.delete(text) || backoff.count(text) > 0, decided });
    } finally {
      settle(key, next);
      decided();
      pump();
    }
  };

  const take = (queue: Map<string, Key>): void => {
    for (const [text, key] of queue) {
      if (stopped || !workers.available() || working.size >= concurrency + MAX_WRITING) return;
      queue.delete(text);
      timers.cancel(text);
      working.set(text, look(key));
    }
  };

  const pump = (): void => {
    take(waiting);
    if (waiting.size === 0) take(later);
  };

  const add = (key: Key, options: AddOptions = {}): void => {
    if (stopped) return;
    const text = keyText(key);
    if (options.fresh) fresh.add(text);
    if (working.has(text)) again.add(text);
    else if (options.later && !waiting.has(text)) later.set(text, key);
    else {
      later.delete(text);
      waiting.set(text, key);
    }
    pump();
  };

  return {
    add,
    addAt: (key, time) => {
      if (stopped) return;
      fresh.add(keyText(key));
      timers.set(key, time);
    },
    idle: () => waiting.size + later.size + working.size === 0,
    stop: async () => {
      stopped = true;
      for (const queue of [waiting, later]) queue.clear();
      timers.clear();
      await Promise.all(working.values());
    },
  };
};
