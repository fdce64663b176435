/** The Store port over a StoreCore, through a turnstile: Kubernetes' semantics, and every weakness that the port allows. */
import type { Resource } from '../../src/api/meta.ts';
import type { KindMap, KindName } from '../../src/api/registry.ts';
import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector } from '../../src/api/selector.ts';
import { selectedChange } from '../../src/api/store-semantics.ts';
import type {
  ListOptions,
  Page,
  ReadOptions,
  ReadResult,
  Store,
  StoreError,
  WatchEvent,
  WatchOptions,
  WriteResult,
} from '../../src/ports/store.ts';
import { type Change, keyOf, type StoreCore, type Written } from './store-core.ts';
import type { Snapshot } from './store-views.ts';
import type { Turnstile } from './turnstile.ts';

/** What becomes of a write. */
export type WriteFate = 'carried out' | 'refused' | 'answer lost' | 'late';
/** What becomes of a watch event. */
export type EventFate = 'delivered' | 'dropped' | 'watch ends' | 'watch expires';

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
}

const UNAVAILABLE: StoreError = { code: 'Unavailable', message: 'the store did not answer' };

/** A copy of the caller's own; the kind was the key that the object was found by. */
const copy = <K extends KindName>(_kind: K, object: Resource): KindMap[K] => JSON.parse(JSON.stringify(object));

type Matcher = (object: Resource) => boolean;

const matcher = (kind: KindName, options: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>): Matcher | StoreError => {
  const labels = parseLabelSelector(options.labelSelector ?? '');
  if (!labels.ok) return { code: 'BadRequest', message: labels.message };
  const fields = parseFieldSelector(options.fieldSelector ?? '', kind);
  if (!fields.ok) return { code: 'BadRequest', message: fields.message };
  return (object) =>
    (options.namespace === undefined || object.metadata.namespace === options.namespace) &&
    matchesLabels(labels.value, object.metadata.labels) &&
    matchesFields(fields.value, object);
};

const byName = (a: Resource, b: Resource): number => {
  const [left, right] = [`${a.metadata.namespace ?? ''}\u0000${a.metadata.name}`, `${b.metadata.namespace ?? ''}\u0000${b.metadata.name}`];
  return left < right ? -1 : left > right ? 1 : 0;
};

const place = (object: Resource): string => keyOf(object.metadata.namespace, object.metadata.name);

const shownWrite = (written: { ok: true; object: Resource } | { ok: false; error: StoreError }): string =>
  written.ok ? `rv ${written.object.metadata.resourceVersion}` : written.error.code;

/** What is said about an object in the trace. */
const summary = (object: Resource): string => {
  const status: unknown = Reflect.get(object, 'status');
  const word = typeof status === 'object' && status !== null ? (Reflect.get(status, 'state') ?? Reflect.get(status, 'phase')) : undefined;
  return `${object.kind} ${place(object)}${typeof word === 'string' ? ` ${word}` : ''} @${object.metadata.resourceVersion ?? 'any'}`;
};

const page = <K extends KindName>(kind: K, seen: Snapshot, options: ListOptions): ReadResult<Page<KindMap[K]>> => {
  const matches = matcher(kind, options);
  if (typeof matches !== 'function') return { ok: false, error: matches };
  const items = [...seen.objects.values()].filter(matches).sort(byName);
  const start = options.continue === undefined ? 0 : items.findIndex((item) => place(item) > (options.continue ?? ''));
  const rest = start < 0 ? [] : items.slice(start);
  const shown = options.limit === undefined ? rest : rest.slice(0, options.limit);
  const last = shown.at(-1);
  return {
    ok: true,
    value: {
      items: shown.map((item) => copy(kind, item)),
      resourceVersion: String(seen.revision),
      ...(shown.length < rest.length && last ? { continue: place(last) } : {}),
    },
  };
};

/** Makes the adapter. */
export const createMemoryStore = ({ core, turnstile, actor, faults = noStoreFaults }: MemoryStoreOptions): Store => {
  core.onChange(() => turnstile.poke());

  const view = (kind: KindName, options: ReadOptions | undefined): Snapshot =>
    (options?.fresh ? undefined : faults.stale(kind)) ?? { objects: core.all(kind), revision: core.revision };

  const write = <T extends KindMap[KindName]>(verb: string, object: T, carryOut: () => Written): Promise<WriteResult<T>> =>
    turnstile.call({
      target: 'store',
      label: `store.${verb} ${summary(object)}`,
      writes: true,
      show: shownWrite,
      execute: (): WriteResult<T> => {
        const fate = faults.write();
        if (fate === 'late') turnstile.later(`late ${verb} ${summary(object)}`, () => void carryOut());
        if (fate === 'refused' || fate === 'late') return { ok: false, error: UNAVAILABLE };
        faults.beforeWrite(object);
        const written = carryOut();
        if (fate === 'answer lost') return { ok: false, error: UNAVAILABLE };
        if (!written.ok) return written;
        const answer: T = JSON.parse(JSON.stringify(written.object));
        return { ok: true, object: answer, warnings: written.warnings };
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
          if (found) return { ok: true, value: copy(kind, found) };
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
          return page(kind, view(kind, options), options);
        },
      }),
    watch: <K extends KindName>(kind: K, options: WatchOptions) => watch({ core, turnstile, faults }, kind, options),
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
          return written.ok ? { ok: true, object: copy(kind, written.object), warnings: written.warnings } : written;
        },
      }),
  };
};

interface Around {
  readonly core: StoreCore;
  readonly turnstile: Turnstile;
  readonly faults: StoreFaults;
}

/** The changes of a kind after a revision, one at a time. */
class Cursor {
  readonly #core: StoreCore;
  readonly #kind: KindName;
  readonly #matches: Matcher;
  #position: number;

  constructor(core: StoreCore, kind: KindName, { from, matches }: { readonly from: number; readonly matches: Matcher }) {
    this.#core = core;
    this.#kind = kind;
    this.#matches = matches;
    const after = core.changes(kind).findIndex((change) => change.revision > from);
    this.#position = after < 0 ? core.changes(kind).length : after;
  }

  /** The next change that the selection sees, without moving past it. */
  peek(): { readonly type: Change['type']; readonly change: Change } | undefined {
    const log = this.#core.changes(this.#kind);
    for (; this.#position < log.length; this.#position += 1) {
      const change = log[this.#position];
      if (!change) return undefined;
      const before = change.before !== undefined && this.#matches(change.before);
      const type = selectedChange(change.type, { before, after: change.type !== 'DELETED' && this.#matches(change.object) });
      if (type) return { type, change };
    }
    return undefined;
  }

  skip(): void {
    this.#position += 1;
  }
}

const watch = <K extends KindName>(
  { core, turnstile, faults }: Around,
  kind: K,
  options: WatchOptions,
): AsyncIterable<WatchEvent<KindMap[K]>> => {
  type Result = IteratorResult<WatchEvent<KindMap[K]>>;
  const end: Result = { done: true, value: undefined };
  const from = options.resourceVersion === undefined ? core.revision : Number(options.resourceVersion);
  const matches = matcher(kind, options);
  const cursor = new Cursor(core, kind, { from, matches: typeof matches === 'function' ? matches : () => false });
  let failure: StoreError | undefined = typeof matches === 'function' ? undefined : matches;
  if (!(from >= core.compacted)) failure ??= { code: 'Expired', message: `resourceVersion ${options.resourceVersion} is too old` };
  let ended = false;
  options.signal.addEventListener('abort', () => turnstile.poke());

  const give = (): Result => {
    if (ended || options.signal.aborted) return end;
    if (failure) {
      ended = true;
      return { done: false, value: { type: 'ERROR', error: failure } };
    }
    const seen = cursor.peek();
    if (!seen) return end;
    const fate = faults.event();
    if (fate === 'watch ends' || fate === 'watch expires') {
      ended = true;
      return fate === 'watch ends'
        ? end
        : { done: false, value: { type: 'ERROR', error: { code: 'Expired', message: 'the watch is too old' } } };
    }
    cursor.skip();
    if (fate === 'dropped') return { done: false, value: { type: 'BOOKMARK', resourceVersion: String(seen.change.revision) } };
    const { type, change } = seen;
    return { done: false, value: { type, object: copy(kind, change.object), resourceVersion: String(change.revision) } };
  };

  return {
    [Symbol.asyncIterator]: () => ({
      next: () =>
        turnstile.call({
          target: 'watch',
          label: `watch ${kind}`,
          writes: false,
          ready: () => ended || options.signal.aborted || failure !== undefined || cursor.peek() !== undefined,
          execute: give,
          show: (result) =>
            result.done ? 'ended' : 'object' in result.value ? `${result.value.type} ${summary(result.value.object)}` : result.value.type,
        }),
      return: () => {
        ended = true;
        turnstile.poke();
        return Promise.resolve(end);
      },
    }),
  };
};
