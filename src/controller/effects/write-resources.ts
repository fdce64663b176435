/** Carries out writes to the store, in their order, ending at the first that fails. */
import type { ResourceEffect } from '../../core/effect.ts';
import type { Store, StoreError } from '../../ports/store.ts';

const writeOne = async (store: Store, effect: ResourceEffect): Promise<StoreError | undefined> => {
  switch (effect.kind) {
    case 'CreateResource': {
      const result = await store.create(effect.object);
      return result.ok || result.error.code === 'AlreadyExists' ? undefined : result.error;
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

/** The first failure; undefined when all writes are durable. */
export const writeResources = async (store: Store, effects: readonly ResourceEffect[]): Promise<StoreError | undefined> => {
  for (const effect of effects) {
    const error = await writeOne(store, effect);
    if (error) return error;
  }
  return undefined;
};
