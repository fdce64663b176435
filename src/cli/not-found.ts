import type { KindInfo } from '../api/registry.ts';
import type { Store } from '../ports/store.ts';
import { type End, failed } from './end.ts';
import { didYouMean } from './suggest.ts';

const everywhere = async (store: Store, info: KindInfo, name: string): Promise<string | undefined> => {
  if (!info.namespaced) return undefined;
  const found = await store.list(info.kind, { fieldSelector: `metadata.name=${name}`, limit: 5 });
  return found.ok ? found.value.items[0]?.metadata.namespace : undefined;
};

/** Says that there is no such object, and where or under which name it may be meant. `namespace` is empty for cluster-scoped kinds. */
export const notFound = async (store: Store, info: KindInfo, namespace: string, name: string): Promise<End> => {
  const here = namespace === '' ? '' : ` in namespace ${namespace}`;
  const elsewhere = await everywhere(store, info, name);
  if (elsewhere !== undefined) {
    return failed(`There is no ${info.singular} "${name}"${here}, but there is one in namespace ${elsewhere}: add -n ${elsewhere}.`);
  }
  const list = await store.list(info.kind, namespace === '' ? {} : { namespace });
  const names = list.ok ? list.value.items.map((item) => item.metadata.name) : [];
  const guess = didYouMean(name, names);
  const next = guess === '' ? ` See what is there with \`promoter get ${info.plural}${namespace === '' ? '' : ' -A'}\`.` : guess;
  return failed(`There is no ${info.singular} "${name}"${here}.${next}`);
};
