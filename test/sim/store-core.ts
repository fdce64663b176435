/** The durable state of a store in memory: objects, revisions, the log of changes and the collection of what lost its owner. Synchronous. */
import type { Admit } from '../../src/api/admit.ts';
import type { OwnerReference, Resource } from '../../src/api/meta.ts';
import { KINDS, type KindName } from '../../src/api/registry.ts';
import {
  type Conclusion,
  concludeUpdate,
  describe,
  FOREGROUND_FINALIZER,
  isKindName,
  ORPHAN_FINALIZER,
  type Prepared,
  prepareCreate,
  prepareDelete,
  prepareStatusUpdate,
  prepareUpdate,
  type Refusal,
  servedKind,
  withFinalizers,
  withOwners,
  withoutContent,
} from '../../src/api/store-semantics.ts';
import type { DeleteOptions, StoreError, WriteOptions } from '../../src/ports/store.ts';

/** One durable change. */
export interface Change {
  readonly revision: number;
  readonly kind: KindName;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly before: Resource | undefined;
  /** The object after the change; of a deletion, as it was last. */
  readonly object: Resource;
  /** Who asked for it. */
  readonly actor: string;
}

/** The end of a write. */
export type Written =
  | { readonly ok: true; readonly object: Resource; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly error: StoreError };

/** What the core is given. */
export interface StoreCoreOptions {
  readonly now: () => number;
  readonly uid: () => string;
  /** Carries out what the store does by itself, later or at once. */
  readonly defer: (label: string, effect: () => void) => void;
  readonly admit?: Admit;
  /** Changes kept for watches; all when absent. */
  readonly keep?: number;
}

/** Characters that an object may have as JSON. */
const MAX_SIZE = 1_500_000;

/** Identity of an object within its kind. */
export const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;

const COLLECTOR = 'garbage collector';

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
};

const failed = (error: Refusal | StoreError): Written => ({ ok: false, error });

/** A copy without undefined fields; undefined when the object is too large. */
const copyOf = (object: Resource): Resource | undefined => {
  const text = JSON.stringify(object);
  return text.length > MAX_SIZE ? undefined : JSON.parse(text);
};

const tooLarge = (object: Resource): Written =>
  failed({ code: 'TooLarge', message: `${describe(object)} has more than ${MAX_SIZE} characters` });

/** See the head of this file. */
export class StoreCore {
  readonly #options: StoreCoreOptions;
  readonly #objects = new Map<KindName, Map<string, Resource>>();
  readonly #listeners: ((change: Change) => void)[] = [];
  readonly log = new Map<KindName, Change[]>();
  #sweeping = false;
  /** Counts every durable change. */
  revision = 1;
  /** Watches from below this revision have expired. */
  compacted = 0;

  constructor(options: StoreCoreOptions) {
    this.#options = options;
    this.#ensureNamespace('default');
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#options.now();
  }

  /** Hears of every change when it is durable. */
  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener);
  }

  /** All objects of a kind by key, unordered. */
  all(kind: KindName): ReadonlyMap<string, Resource> {
    return this.#objects.get(kind) ?? new Map();
  }

  /** One object as it is now. */
  get(kind: KindName, namespace: string, name: string): Resource | undefined {
    return this.#objects.get(kind)?.get(keyOf(namespace, name));
  }

  /** The changes of a kind, oldest first. */
  changes(kind: KindName): readonly Change[] {
    return this.log.get(kind) ?? [];
  }

  /** Forgets the changes up to now, so that older watches expire. */
  compact(): void {
    this.compacted = this.revision;
  }

  create(given: Resource, actor: string, options: WriteOptions = {}): Written {
    const copied = copyOf(given);
    if (!copied) return tooLarge(given);
    const prepared = prepareCreate(copied, { uid: this.#options.uid(), now: this.#options.now() });
    if (!prepared.ok) return failed(prepared.error);
    const admitted = this.#admit(prepared, { operation: 'create' });
    if (!admitted.ok) return admitted;
    const { object } = admitted;
    const { namespace = '', name } = object.metadata;
    if (this.get(kindOf(object), namespace, name)) return failed({ code: 'AlreadyExists', message: `${describe(object)} exists already` });
    if (this.get('Namespace', '', namespace)?.metadata.deletionTimestamp) {
      return failed({ code: 'Forbidden', message: `Namespace ${JSON.stringify(namespace)} is being deleted` });
    }
    if (options.dryRun) return admitted;
    this.#ensureNamespace(namespace);
    const stored = this.#commit('ADDED', undefined, object, actor);
    if (object.metadata.ownerReferences) this.#sweep();
    return { ...admitted, object: stored };
  }

  update(given: Resource, actor: string, options: WriteOptions = {}): Written {
    return this.#change(given, actor, { prepare: prepareUpdate, options, request: { operation: 'update' } });
  }

  updateStatus(given: Resource, actor: string, options: WriteOptions = {}): Written {
    return this.#change(given, actor, { prepare: prepareStatusUpdate, options, request: { operation: 'update', subresource: 'status' } });
  }

  delete(kind: KindName, namespace: string, name: string, more: { readonly actor: string; readonly options?: DeleteOptions }): Written {
    const old = this.get(kind, namespace, name);
    if (!old) return failed({ code: 'NotFound', message: `${kind} ${JSON.stringify(keyOf(namespace, name))} not found` });
    const prepared = prepareDelete(old, more.options ?? {}, this.#options.now());
    if (!prepared.ok) return failed(prepared.error);
    if (more.options?.dryRun) return { ok: true, object: old, warnings: [] };
    return { ok: true, object: this.#conclude(old, prepared.conclusion, more.actor), warnings: [] };
  }

  #change(
    given: Resource,
    actor: string,
    how: {
      readonly prepare: (old: Resource, given: Resource) => Prepared;
      readonly options: WriteOptions;
      readonly request: { operation: 'update'; subresource?: 'status' };
    },
  ): Written {
    const served = servedKind(given);
    if (!served.ok) return failed(served.error);
    const { kind, namespaced } = served.info;
    const { namespace = namespaced ? 'default' : '', name } = given.metadata;
    const old = this.get(kind, namespace, name);
    if (!old) return failed({ code: 'NotFound', message: `${describe(given)} not found` });
    const copied = copyOf(given);
    if (!copied) return tooLarge(given);
    const prepared = how.prepare(old, copied);
    if (!prepared.ok) return failed(prepared.error);
    const admitted = this.#admit(prepared, { ...how.request, old });
    if (!admitted.ok) return admitted;
    const conclusion = concludeUpdate(old, admitted.object);
    if (how.options.dryRun) return { ...admitted, object: conclusion.change === 'none' ? old : conclusion.object };
    return { ...admitted, object: this.#conclude(old, conclusion, actor) };
  }

  /** A namespace exists from its first use on. */
  #ensureNamespace(name: string): void {
    if (name === '' || this.get('Namespace', '', name)) return;
    const prepared = prepareCreate(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      { uid: this.#options.uid(), now: this.#options.now() },
    );
    if (prepared.ok) this.#commit('ADDED', undefined, prepared.object, 'store');
  }

  #admit(
    prepared: Extract<Prepared, { ok: true }>,
    request: { operation: 'create' | 'update'; old?: Resource; subresource?: 'status' },
  ): Written {
    const { admit } = this.#options;
    if (!admit) return { ok: true, object: prepared.object, warnings: [] };
    const admitted = admit({ ...request, object: prepared.object });
    if (admitted.ok) return admitted;
    return failed({ code: 'Invalid', message: admitted.message, causes: admitted.causes });
  }

  #conclude(old: Resource, conclusion: Conclusion, actor: string): Resource {
    if (conclusion.change === 'none') return old;
    const stored = this.#commit(conclusion.change === 'deleted' ? 'DELETED' : 'MODIFIED', old, conclusion.object, actor);
    this.#sweep();
    return stored;
  }

  #commit(type: Change['type'], before: Resource | undefined, object: Resource, actor: string): Resource {
    this.revision += 1;
    const kind = kindOf(object);
    const stored = freeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.revision) } });
    const objects = this.#objects.get(kind) ?? new Map<string, Resource>();
    this.#objects.set(kind, objects);
    const key = keyOf(stored.metadata.namespace, stored.metadata.name);
    if (type === 'DELETED') objects.delete(key);
    else objects.set(key, stored);
    const change: Change = { revision: this.revision, kind, type, before, object: stored, actor };
    const log = this.log.get(kind) ?? [];
    this.log.set(kind, log);
    log.push(change);
    for (const listener of this.#listeners) listener(change);
    return stored;
  }

  /** Collects, one object at a time, what lost its owners and owners that wait for that. */
  #sweep(): void {
    if (this.#sweeping || !this.#garbage()) return;
    this.#sweeping = true;
    this.#options.defer('garbage collection', () => {
      this.#sweeping = false;
      this.#garbage()?.();
      this.#sweep();
    });
  }

  #garbage(): (() => void) | undefined {
    for (const objects of this.#objects.values()) {
      for (const object of objects.values()) {
        const action = this.#collectable(object) ?? this.#waiting(object);
        if (action) return action;
      }
    }
    return undefined;
  }

  /** Something all of whose owners are gone or only wait for their dependents, or that names an owner that is gone. */
  #collectable(object: Resource): (() => void) | undefined {
    const owners = object.metadata.ownerReferences ?? [];
    const { namespace = '', name, uid = '', deletionTimestamp } = object.metadata;
    const options = { uid, propagation: 'background' } as const;
    const collect = () => void this.delete(kindOf(object), namespace, name, { actor: COLLECTOR, options });
    if (this.get('Namespace', '', namespace)?.metadata.deletionTimestamp && !deletionTimestamp) return collect;
    if (owners.length === 0 || deletionTimestamp) return undefined;
    const present = owners.filter((owner) => this.#owner(object, owner) !== undefined);
    const waits = present.every((owner) => this.#owner(object, owner)?.metadata.finalizers?.includes(FOREGROUND_FINALIZER));
    if (waits) return collect;
    return present.length < owners.length ? () => void this.update(withOwners(object, present), COLLECTOR) : undefined;
  }

  /** An owner whose deletion waits for its dependents. */
  #waiting(object: Resource): (() => void) | undefined {
    const { uid = '', finalizers = [], deletionTimestamp } = object.metadata;
    if (!deletionTimestamp) return undefined;
    if (object.kind === 'Namespace') return this.#emptied(object);
    const finalizer = finalizers.find((candidate) => candidate === FOREGROUND_FINALIZER || candidate === ORPHAN_FINALIZER);
    if (!finalizer) return undefined;
    const dependents = [...this.#objects.values()]
      .flatMap((objects) => [...objects.values()])
      .filter((other) => other.metadata.ownerReferences?.some((owner) => owner.uid === uid));
    const dependent = dependents[0];
    if (!dependent)
      return () =>
        void this.update(
          withFinalizers(
            object,
            finalizers.filter((other) => other !== finalizer),
          ),
          'garbage collector',
        );
    if (finalizer === FOREGROUND_FINALIZER) return undefined;
    const owners = (dependent.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
    return () => void this.update(withOwners(dependent, owners), COLLECTOR);
  }

  /** The end of a namespace that is being deleted and holds nothing any more. */
  #emptied(namespace: Resource): (() => void) | undefined {
    const { name } = namespace.metadata;
    const holds = [...this.#objects.values()].some((objects) => [...objects.values()].some((object) => object.metadata.namespace === name));
    if (holds || namespace.metadata.finalizers?.length) return undefined;
    return () => {
      this.#commit('DELETED', namespace, withoutContent(namespace), COLLECTOR);
      this.#sweep();
    };
  }

  /** The very object that is named as owner. */
  #owner(object: Resource, owner: OwnerReference): Resource | undefined {
    if (!isKindName(owner.kind)) return undefined;
    const found = this.get(owner.kind, KINDS[owner.kind].namespaced ? (object.metadata.namespace ?? '') : '', owner.name);
    return found?.metadata.uid === owner.uid ? found : undefined;
  }
}

const kindOf = (object: Resource): KindName => {
  if (!isKindName(object.kind)) throw new Error(`not a kind: ${object.kind}`);
  return object.kind;
};
