/** Carries out writes to the store, in their order, ending at the first round that fails. */
import type { KindMap, KindName } from '../../api/registry.ts';
import type { ResourceEffect } from '../../core/effect.ts';
import type { Store, StoreError } from '../../ports/store.ts';

/** Nothing when what has the name already belongs to the same owner: then it is what was to be made. */
const sameOwner = async (store: Store, wanted: KindMap[KindName], error: StoreError): Promise<StoreError | undefined> => {
  const owner = wanted.metadata.ownerReferences?.[0]?.uid;
  if (owner === undefined) return undefined;
  const read = await store.get(wanted.kind, wanted.metadata.namespace ?? 'default', wanted.metadata.name, { fresh: true });
  if (!read.ok) return read.error.code === 'NotFound' ? error : read.error;
  return read.value.metadata.ownerReferences?.some((reference) => reference.uid === owner) ? undefined : error;
};

const writeOne = async (store: Store, effect: ResourceEffect): Promise<StoreError | undefined> => {
  switch (effect.kind) {
    case 'CreateResource': {
      const result = await store.create(effect.object);
      if (result.ok || result.error.code !== 'AlreadyExists') return result.ok ? undefined : result.error;
      return sameOwner(store, effect.object, result.error);
    }
    case 'UpdateResource': {
      const result = await store.update(effect.object);
      return result.ok ? undefined : result.error;
    }
    case 'UpdateStatus': {
      const result = await store.updateStatus(effect.object);
      return result.ok ? undefined : result.error;
    }
    case 'DeleteResource': {
      const { kind, namespace, name } = effect.ref;
      const result = await store.delete(kind, namespace, name, {
        uid: effect.uid,
        ...(effect.resourceVersion === undefined ? {} : { resourceVersion: effect.resourceVersion }),
      });
      return result.ok || result.error.code === 'NotFound' ? undefined : result.error;
    }
  }
};

/** Creations in a row are independent of each other and go out together; everything else waits for what stands before it. */
const inRounds = (effects: readonly ResourceEffect[]): readonly (readonly ResourceEffect[])[] => {
  const rounds: ResourceEffect[][] = [];
  for (const effect of effects) {
    const last = rounds.at(-1);
    if (last && effect.kind === 'CreateResource' && last[0]?.kind === 'CreateResource') last.push(effect);
    else rounds.push([effect]);
  }
  return rounds;
};

/** The first failure; undefined when all writes are durable. */
export const writeResources = async (store: Store, effects: readonly ResourceEffect[]): Promise<StoreError | undefined> => {
  for (const round of inRounds(effects)) {
    const errors = await Promise.all(round.map((effect) => writeOne(store, effect)));
    const error = errors.find((candidate) => candidate !== undefined);
    if (error) return error;
  }
  return undefined;
};
