/** Follows one kind: lists it, watches from there, and lists again whenever the watch ends or is too old. */
import type { KindMap } from '../api/registry.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { Change } from './interest.ts';

/** The kinds whose changes matter to decisions. */
export const WATCHED = ['Pipeline', 'Bundle', 'Graph', 'PromotionStep', 'PolicyGate', 'Deployment'] as const;
export type Watched = (typeof WATCHED)[number];

export interface WatcherPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Watcher {
  /** Whether the first list has been handled. */
  synced(): boolean;
  /** Lists again, so that a change that no watch reported is seen. */
  resync(): Promise<void>;
  stop(): void;
}

const PAGE = 500;
const RETRY_MS = 1000;

/** Starts following; `handle` is called for every listed and every changed object. */
export const startWatcher = (ports: WatcherPorts, kind: Watched, handle: (change: Change) => void): Watcher => {
  const { store, clock, log } = ports;
  const ending = new AbortController();
  let synced = false;

  const list = async (): Promise<string | undefined> => {
    let token: string | undefined;
    let version: string | undefined;
    do {
      const page = await store.list<Watched>(kind, { limit: PAGE, ...(token === undefined ? {} : { continue: token }) });
      if (ending.signal.aborted) return undefined;
      if (!page.ok) {
        log.warn('listing failed', { kind, code: page.error.code, reason: page.error.message });
        return undefined;
      }
      for (const object of page.value.items) handle({ type: 'ADDED', object });
      version ??= page.value.resourceVersion;
      token = page.value.continue;
    } while (token !== undefined);
    synced = true;
    return version;
  };

  const follow = async (resourceVersion: string): Promise<void> => {
    for await (const event of store.watch<Watched>(kind, { resourceVersion, signal: ending.signal })) {
      if (ending.signal.aborted || event.type === 'ERROR') return;
      if (event.type !== 'BOOKMARK') handle({ type: event.type, object: event.object as KindMap[Watched] });
    }
  };

  const pause = () => new Promise<void>((resolve) => void clock.at(clock.now() + RETRY_MS, resolve));

  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const version = await list();
      if (version !== undefined) await follow(version);
      if (!ending.signal.aborted) await pause();
    }
  };

  void run().catch((error: unknown) => log.error('a watcher ended by a bug', { kind, error }));
  return {
    synced: () => synced,
    resync: async () => void (await list()),
    stop: () => ending.abort(),
  };
};
