/** What the contract of the store is written with: objects that every admission lets pass, and readers of watches. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Bundle } from '../../src/api/kinds/bundle.ts';
import type { ConfigMap, Deployment } from '../../src/api/kinds/native.ts';
import { API_VERSION, type ObjectMeta, type OwnerReference, type Resource } from '../../src/api/meta.ts';
import type { KindMap, KindName } from '../../src/api/registry.ts';
import type { ReadResult, Store, WatchEvent, WatchOptions, WriteResult } from '../../src/ports/store.ts';

/** A store, and what of its surroundings a test may touch. */
export interface StoreUnderTest extends AsyncDisposable {
  readonly store: Store;
  /** Lets time pass (milliseconds). Absent where nobody can. */
  readonly advance?: (milliseconds: number) => Promise<void>;
}

/** Bounds that make limits testable; a store that cannot be bounded ignores them and says so by `bounded: false`. */
export interface StoreSettings {
  readonly historySize?: number;
  readonly watchBuffer?: number;
}

/** Makes an empty store. */
export type MakeStore = (settings?: StoreSettings) => Promise<StoreUnderTest>;

/** Which parts of the contract a store can be asked for. */
export interface Capabilities {
  /** Heeds StoreSettings. */
  readonly bounded: boolean;
}

type Meta = Partial<ObjectMeta>;

export const configMap = (name: string, metadata: Meta = {}, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop', ...metadata },
  data,
});

export const deployment = (name: string, replicas: number, metadata: Meta = {}): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'shop', ...metadata },
  spec: { replicas },
});

export const bundle = (name: string, pipeline: string, metadata: Meta = {}): Bundle => ({
  apiVersion: API_VERSION,
  kind: 'Bundle',
  metadata: { name, namespace: 'shop', labels: { 'promoter.io/pipeline': pipeline }, ...metadata },
  spec: { type: 'image', pipeline, images: [{ repository: 'ghcr.io/acme/web', tag: name }] },
});

/** The object of a write that must have gone well. */
export const written = <T extends Resource>(result: WriteResult<T>): T => {
  assert.ok(result.ok, result.ok ? '' : `${result.error.code}: ${result.error.message}`);
  return result.object;
};

/** The value of a read that must have gone well. */
export const value = <T>(result: ReadResult<T>): T => {
  assert.ok(result.ok, result.ok ? '' : `${result.error.code}: ${result.error.message}`);
  return result.value;
};

/** The code of a refusal; `ok` when there was none. */
export const codeOf = (result: { readonly ok: boolean; readonly error?: { readonly code: string } }): string =>
  result.ok ? 'ok' : (result.error?.code ?? 'none');

/** A reference to an owner. */
export const ownedBy = (owner: Resource, more: Partial<OwnerReference> = {}): { ownerReferences: OwnerReference[] } => ({
  ownerReferences: [{ apiVersion: owner.apiVersion, kind: owner.kind, name: owner.metadata.name, uid: owner.metadata.uid ?? '', ...more }],
});

export const namesOf = (page: { readonly items: readonly Resource[] }): readonly string[] =>
  page.items.map(({ metadata }) => metadata.name);

/** The version that a watch may start from. */
export const versionNow = async (store: Store): Promise<string> => value(await store.list('ConfigMap', { limit: 1 })).resourceVersion;

const PATIENCE = 5000;

const within = async <T>(what: string, promise: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), PATIENCE);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Asks again and again until the answer is yes. */
export const eventually = async (what: string, ask: () => Promise<boolean>): Promise<void> => {
  const end = Date.now() + PATIENCE;
  while (!(await ask())) {
    assert.ok(Date.now() < end, `waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
};

/** Whether an object is gone. */
export const isGone = async <K extends KindName>(store: Store, kind: K, name: string, namespace = 'shop'): Promise<boolean> =>
  codeOf(await store.get(kind, namespace, name)) === 'NotFound';

/** A watch that is read by hand. */
export interface Reader<K extends KindName> extends Disposable {
  /** The next event, bookmarks included; undefined when the watch has ended. */
  next(): Promise<WatchEvent<KindMap[K]> | undefined>;
  /** The next events but bookmarks, each as `TYPE name`. */
  take(count: number): Promise<readonly string[]>;
}

/** Starts a watch. */
export const watching = <K extends KindName>(store: Store, kind: K, options: Omit<WatchOptions, 'signal'> = {}): Reader<K> => {
  const controller = new AbortController();
  const iterator = store.watch(kind, { ...options, signal: controller.signal })[Symbol.asyncIterator]();
  const next = async () => {
    const step = await within(`an event of ${kind}`, iterator.next());
    return step.done ? undefined : step.value;
  };
  return {
    next,
    take: async (count) => {
      const seen: string[] = [];
      while (seen.length < count) {
        const event = await next();
        assert.ok(event, `the watch ended after ${seen.join(', ')}`);
        if (event.type === 'ERROR') seen.push(`ERROR ${event.error.code}`);
        else if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.metadata.name}`);
      }
      return seen;
    },
    [Symbol.dispose]: () => controller.abort(),
  };
};

/** Registers tests that only a bounded store can show; for others they do not exist. */
export const ifBounded =
  (bounded: boolean) =>
  (name: string, body: () => Promise<void>): void => {
    if (bounded) it(name, body);
  };
