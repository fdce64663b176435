/** The Store port over a StoreCore, through a turnstile: Kubernetes' semantics, and every weakness that the port allows. */
import type { Resource } from '../../src/api/meta.ts';
import type { KindMap, KindName } from '../../src/api/registry.ts';
import type { ListOptions, Page, ReadOptions, ReadResult, Store, StoreError, WatchOptions, WriteResult } from '../../src/ports/store.ts';
import { copies, type HandOut, page } from './memory-list.ts';
import { type EventFate, summary, watch } from './memory-watch.ts';
import { keyOf, type StoreCore, type Written } from './store-core.ts';
import type { Snapshot } from './store-views.ts';
import type { Turnstile } from './turnstile.ts';

/** What becomes of a write. */
export type WriteFate = 'carried out' | 'refused' | 'answer lost' | 'late';

/** What goes wrong, asked at each call. */
export interface StoreFaults {
  /** Whether the store cannot be reached for a read. */
  unreadable(): boolean;
  /** What a read sees that did not ask for the latest version; undefined: the latest. */
  stale(kind: KindName): Snapshot | undefined;
  write(): WriteFate;
  /** Right before a write; may change the object. */
  beforeWrite(object: Resource): void;
  event(): EventFate;
}

/** Nothing goes wrong. */
export const noStoreFaults: StoreFaults = {
  unreadable: () => false,
  stale: () => undefined,
  write: () => 'carried out',
  beforeWrite: () => undefined,
  event: () => 'delivered',
};

/** What the adapter needs. */
export interface MemoryStoreOptions {
  readonly core: StoreCore;
  readonly turnstile: Turnstile;
  /** Recorded with every change. */
  readonly actor: string;
  readonly faults?: StoreFaults;
  /** Hears of every write whose caller is told that it failed. */
  readonly refused?: (object: Resource) => void;
  /** Copies when absent. */
  readonly handOut?: HandOut;
  /** Milliseconds of silence after which a watch sends a bookmark; never when absent. */
  readonly bookmarkMs?: number;
}

const UNAVAILABLE: StoreError = { code: 'Unavailable', message: 'the store did not answer' };

const shownWrite = (written: { ok: true; object: Resource } | { ok: false; error: StoreError }): string =>
  written.ok ? `rv ${written.object.metadata.resourceVersion}` : written.error.code;

/** Makes the adapter. */
export const createMemoryStore = ({
  core,
  turnstile,
  actor,
  faults = noStoreFaults,
  refused,
  handOut = copies,
  bookmarkMs,
}: MemoryStoreOptions): Store => {
  core.onChange(() => turnstile.poke());

  const view = (kind: KindName, options: ReadOptions | undefined): Snapshot =>
    (options?.fresh ? undefined : faults.stale(kind)) ?? { objects: core.all(kind), revision: core.revision };

  const attempt = (object: Resource, verb: string, carryOut: () => Written): Written => {
    const fate = faults.write();
    if (fate === 'late') turnstile.later(`late ${verb} ${summary(object)}`, () => void carryOut());
    if (fate === 'refused' || fate === 'late') return { ok: false, error: UNAVAILABLE };
    faults.beforeWrite(object);
    const written = carryOut();
    return fate === 'answer lost' ? { ok: false, error: UNAVAILABLE } : written;
  };

  const write = <T extends KindMap[KindName]>(verb: string, object: T, carryOut: () => Written): Promise<WriteResult<T>> =>
    turnstile.call({
      target: 'store',
      label: `store.${verb} ${summary(object)}`,
      writes: true,
      show: shownWrite,
      execute: (): WriteResult<T> => {
        const answer = attempt(object, verb, carryOut);
        // Of the kind that was written, because it is that object.
        if (answer.ok) return { ok: true, object: handOut.give(object.kind, answer.object) as T, warnings: answer.warnings };
        refused?.(object);
        return answer;
      },
    });

  return {
    get: <K extends KindName>(kind: K, namespace: string, name: string, options?: ReadOptions) =>
      turnstile.call({
        target: 'store',
        label: `store.get ${kind} ${keyOf(namespace, name)}${options?.fresh ? ' fresh' : ''}`,
        writes: false,
        show: (result) => (result.ok ? `rv ${result.value.metadata.resourceVersion}` : result.error.code),
        execute: (): ReadResult<KindMap[K]> => {
          if (faults.unreadable()) return { ok: false, error: UNAVAILABLE };
          const found = view(kind, options).objects.get(keyOf(namespace, name));
          if (found) return { ok: true, value: handOut.give(kind, found) };
          return { ok: false, error: { code: 'NotFound', message: `${kind} ${JSON.stringify(keyOf(namespace, name))} not found` } };
        },
      }),
    list: <K extends KindName>(kind: K, options: ListOptions = {}) =>
      turnstile.call({
        target: 'store',
        label: `store.list ${kind} ${[options.namespace, options.labelSelector, options.fieldSelector].filter(Boolean).join(' ')}${options.fresh ? ' fresh' : ''}`,
        writes: false,
        show: (result) => (result.ok ? `${result.value.items.length} at rv ${result.value.resourceVersion}` : result.error.code),
        execute: (): ReadResult<Page<KindMap[K]>> => {
          if (faults.unreadable()) return { ok: false, error: UNAVAILABLE };
          return page({ core, kind, options, handOut }, () => view(kind, options));
        },
      }),
    watch: <K extends KindName>(kind: K, options: WatchOptions) =>
      watch({ core, turnstile, handOut, bookmarkMs, fate: faults.event }, kind, options),
    create: (object, options) => write('create', object, () => core.create(object, actor, options)),
    update: (object, options) => write('update', object, () => core.update(object, actor, options)),
    updateStatus: (object, options) => write('updateStatus', object, () => core.updateStatus(object, actor, options)),
    delete: <K extends KindName>(kind: K, namespace: string, name: string, options = {}) =>
      turnstile.call({
        target: 'store',
        label: `store.delete ${kind} ${keyOf(namespace, name)}`,
        writes: true,
        show: shownWrite,
        execute: (): WriteResult<KindMap[K]> => {
          const carryOut = () => core.delete(kind, namespace, name, { actor, options });
          const fate = faults.write();
          if (fate === 'late') turnstile.later(`late delete ${kind} ${keyOf(namespace, name)}`, () => void carryOut());
          if (fate === 'refused' || fate === 'late') return { ok: false, error: UNAVAILABLE };
          const written = carryOut();
          if (fate === 'answer lost') return { ok: false, error: UNAVAILABLE };
          return written.ok ? { ok: true, object: handOut.give(kind, written.object), warnings: written.warnings } : written;
        },
      }),
  };
};
