/** Follows one kind: lists it, watches from there, and lists again whenever the watch ends or is too old. Nothing but `stop` ends it. */
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

/** Hears what a watcher sees. */
export interface WatcherEars {
  /** An object that was listed, or that changed. */
  changed(change: Change): void;
  /** A list was complete; `again` when changes may have been missed before it, deletions above all. */
  listed(kind: Watched, names: ReadonlySet<string>, again: boolean): void;
}

export interface Watcher {
  /** Whether the first list has been handled. */
  synced(): boolean;
  /** Lists again, so that a change that no watch reported is seen. Never rejects. */
  resync(): Promise<void>;
  stop(): void;
}

const PAGE = 500;
const RETRY_MS = 1000;

/** Starts following. */
export const startWatcher = (ports: WatcherPorts, kind: Watched, ears: WatcherEars): Watcher => {
  const { store, clock, log } = ports;
  const ending = new AbortController();
  let synced = false;
  /** What each list under way has come upon. What changes meanwhile counts too: a page that was read before does not show it. */
  const lists = new Set<Set<string>>();

  const tell = (change: Change): void => {
    const name = `${change.object.metadata.namespace ?? 'default'}/${change.object.metadata.name}`;
    for (const names of lists) {
      if (change.type === 'DELETED') names.delete(name);
      else names.add(name);
    }
    ears.changed(change);
  };

  /** Tells of every page; the version to watch from, undefined when the list could not be completed. */
  const readAll = async (): Promise<string | undefined> => {
    let token: string | undefined;
    let version: string | undefined;
    do {
      const page = await store.list<Watched>(kind, { limit: PAGE, ...(token === undefined ? {} : { continue: token }) });
      if (ending.signal.aborted) return undefined;
      if (!page.ok) {
        log.warn('listing failed', { kind, code: page.error.code, reason: page.error.message });
        return undefined;
      }
      for (const object of page.value.items) tell({ type: 'ADDED', object });
      version ??= page.value.resourceVersion;
      token = page.value.continue;
    } while (token !== undefined);
    return version;
  };

  const list = async (): Promise<string | undefined> => {
    if (ending.signal.aborted) return undefined;
    const names = new Set<string>();
    lists.add(names);
    try {
      const version = await readAll();
      if (version === undefined) return undefined;
      ears.listed(kind, names, synced);
      synced = true;
      return version;
    } finally {
      lists.delete(names);
    }
  };

  const follow = async (resourceVersion: string): Promise<void> => {
    for await (const event of store.watch<Watched>(kind, { resourceVersion, signal: ending.signal })) {
      if (ending.signal.aborted || event.type === 'ERROR') return;
      if (event.type !== 'BOOKMARK') tell({ type: event.type, object: event.object });
    }
  };

  const pause = () => new Promise<void>((resolve) => void clock.at(clock.now() + RETRY_MS, resolve));

  /** A bug while one object is handled must not leave the kind unwatched: the next list begins anew. */
  const guarded = async (body: () => Promise<void>): Promise<void> => {
    try {
      await body();
    } catch (error) {
      log.error('following a kind failed by a bug', { kind, error });
    }
  };

  const round = async (): Promise<void> => {
    const version = await list();
    if (version !== undefined) await follow(version);
  };

  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await guarded(round);
      if (!ending.signal.aborted) await pause();
    }
  };

  void run();
  return {
    synced: () => synced,
    resync: () => guarded(async () => void (await list())),
    stop: () => ending.abort(),
  };
};
