/** Follows resources of one kind for as long as the process runs: a list, then what changes, again from a list whenever the connection is lost. */
import type { KindMap, KindName } from '../api/registry.ts';
import type { Clock } from '../ports/clock.ts';
import type { ListOptions, Store, StoreError } from '../ports/store.ts';

/** One thing to show. */
export interface Change<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

/** Who wants to know. */
export interface Follower<T> {
  readonly changed: (change: Change<T>) => void;
  /** The connection is lost; it is tried again by itself. Called once for each loss. */
  readonly lost: (error: StoreError) => void;
}

const RETRY_MS = 1000;
const keyOf = (object: { readonly metadata: { readonly namespace?: string; readonly name: string } }): string =>
  `${object.metadata.namespace ?? ''}/${object.metadata.name}`;

const pause = (clock: Clock, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    // The timer of the clock holds no process open; a command that waits for a server must stay.
    const held = setInterval(() => {}, RETRY_MS);
    const finish = (): void => {
      clearInterval(held);
      cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.at(clock.now() + RETRY_MS, finish);
    signal.addEventListener('abort', finish);
  });

/** What has been shown, so that a new list after a lost connection tells only what is new. */
class Shown<K extends KindName> {
  readonly #objects = new Map<string, KindMap[K]>();
  readonly #changed: (change: Change<KindMap[K]>) => void;

  constructor(changed: (change: Change<KindMap[K]>) => void) {
    this.#changed = changed;
  }

  put(object: KindMap[K]): void {
    const before = this.#objects.get(keyOf(object));
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    this.#objects.set(keyOf(object), object);
    this.#changed({ type: before === undefined ? 'ADDED' : 'MODIFIED', object });
  }

  remove(object: KindMap[K]): void {
    if (this.#objects.delete(keyOf(object))) this.#changed({ type: 'DELETED', object });
  }

  replace(objects: readonly KindMap[K][]): void {
    const present = new Set(objects.map(keyOf));
    for (const [key, object] of this.#objects) if (!present.has(key)) this.remove(object);
    for (const object of objects) this.put(object);
  }
}

/** Ends when the signal is aborted. */
export const follow = async <K extends KindName>(
  source: { readonly store: Store; readonly clock: Clock; readonly signal: AbortSignal },
  kind: K,
  options: ListOptions,
  follower: Follower<KindMap[K]>,
): Promise<void> => {
  const { store, clock, signal } = source;
  const shown = new Shown<K>(follower.changed);
  let connected = true;
  const lose = (error: StoreError): void => {
    if (connected && !signal.aborted && error.code !== 'Expired') follower.lost(error);
    connected = false;
  };
  while (!signal.aborted) {
    const list = await store.list(kind, options);
    if (list.ok) {
      connected = true;
      shown.replace(list.value.items);
      const { limit: _limit, continue: _continue, fresh: _fresh, ...where } = options;
      for await (const event of store.watch(kind, { ...where, resourceVersion: list.value.resourceVersion, signal })) {
        if (event.type === 'ADDED' || event.type === 'MODIFIED') shown.put(event.object);
        else if (event.type === 'DELETED') shown.remove(event.object);
        else if (event.type === 'ERROR') lose(event.error);
      }
    } else lose(list.error);
    if (!signal.aborted) await pause(clock, signal);
  }
};
