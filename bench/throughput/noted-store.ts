/** A store that notes when promotions landed and Bundles were Verified, at the moment their record is durable. */
import type { KindMap, KindName } from '../../src/api/registry.ts';
import type { Store } from '../../src/ports/store.ts';

/** What was noted; times in milliseconds of `performance.now()`. */
export interface Notes {
  /** By the name of the PromotionStep. */
  readonly landed: ReadonlyMap<string, { readonly bundle: string; readonly at: number }>;
  /** By the name of the Bundle. */
  readonly verified: ReadonlyMap<string, number>;
  /** Bundles and PromotionSteps that failed, with the reason. */
  readonly failed: ReadonlyMap<string, string>;
  /** Writes that were asked for, by verb and kind. */
  readonly asked: ReadonlyMap<string, number>;
  /** Reads that were asked for, by verb and kind. */
  readonly read: ReadonlyMap<string, number>;
}

/** The store to hand to the controllers, and what it notes. */
export const noteWrites = (
  store: Store,
  onLanded: (step: KindMap['PromotionStep']) => void,
): { readonly store: Store; readonly notes: Notes } => {
  const landed = new Map<string, { bundle: string; at: number }>();
  const verified = new Map<string, number>();
  const failed = new Map<string, string>();
  const asked = new Map<string, number>();
  const read = new Map<string, number>();
  const count = (verb: string, kind: string, counts = asked): void =>
    void counts.set(`${verb} ${kind}`, (counts.get(`${verb} ${kind}`) ?? 0) + 1);
  const note = (object: KindMap[KindName]): void => {
    const { name } = object.metadata;
    if (object.kind === 'Bundle' && object.status?.phase === 'Verified' && !verified.has(name)) verified.set(name, performance.now());
    if (object.kind !== 'PromotionStep') return;
    if (object.status?.state === 'Failed') failed.set(name, object.status.message ?? '');
    const pushed = object.status?.steps?.some((step) => step.name === 'git-push' && step.state === 'Succeeded');
    if (!pushed || landed.has(name)) return;
    landed.set(name, { bundle: object.spec?.bundle ?? '', at: performance.now() });
    onLanded(object);
  };
  const updateStatus = async <T extends KindMap[KindName]>(object: T, options?: Parameters<Store['updateStatus']>[1]) => {
    count('status of', object.kind);
    const written = await store.updateStatus<T>(object, options);
    if (written.ok) note(object);
    return written;
  };
  const create = <T extends KindMap[KindName]>(object: T, options?: Parameters<Store['create']>[1]) => {
    count('create', object.kind);
    return store.create<T>(object, options);
  };
  const update = <T extends KindMap[KindName]>(object: T, options?: Parameters<Store['update']>[1]) => {
    count('update', object.kind);
    return store.update<T>(object, options);
  };
  const get: Store['get'] = (kind, ...rest) => {
    count('get', kind, read);
    return store.get(kind, ...rest);
  };
  const list: Store['list'] = (kind, options) => {
    count('list', kind, read);
    return store.list(kind, options);
  };
  return { store: { ...store, get, list, create, update, updateStatus }, notes: { landed, verified, failed, asked, read } };
};
