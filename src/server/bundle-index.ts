/**
 * Which versions there are, so that looking for a duplicate does not mean reading all Bundles of a Pipeline each time. The index may hold what is
 * gone, so a hit is read again. Over the embedded store it misses nothing that a client can know of: it watches from before its first list, and
 * the events of a write are here before the next request of whoever was told of it.
 */
import type { Bundle } from '../api/kinds/bundle.ts';
import { bundleVersion, labelValue } from '../api/names.ts';
import { PIPELINE_LABEL } from '../api/warnings.ts';
import type { ReadResult, Store } from '../ports/store.ts';

/** What makes two Bundles the same, whatever their names. */
export interface BundleIdentity {
  readonly namespace: string;
  readonly pipeline: string;
  readonly type: string;
  readonly version: string;
}

/** Finds the Bundle with that identity; undefined when there is none. */
export type FindBundle = (identity: BundleIdentity) => Promise<ReadResult<Bundle | undefined>>;

/** Names by identity, for the Pipelines that were asked for. */
type Names = Map<string, string>;

/** More are not kept in memory: the index then begins anew. */
const MAX_NAMES = 200_000;

const pipelineKey = ({ namespace, pipeline }: Pick<BundleIdentity, 'namespace' | 'pipeline'>): string => `${namespace}/${pipeline}`;
const versionKey = ({ type, version }: Pick<BundleIdentity, 'type' | 'version'>): string => `${type}/${version}`;

/** The identity of a Bundle. */
export const identityOf = ({ metadata, spec = {} }: Bundle): BundleIdentity => ({
  namespace: metadata.namespace ?? 'default',
  pipeline: spec.pipeline ?? '',
  type: spec.type ?? 'image',
  version: bundleVersion(spec),
});

const isSame = (left: BundleIdentity, right: BundleIdentity): boolean =>
  pipelineKey(left) === pipelineKey(right) && versionKey(left) === versionKey(right);

/** One life of the index, from the start of its watch to its end. */
interface Life {
  readonly pipelines: Map<string, Promise<ReadResult<Names>>>;
  size: number;
  over: boolean;
}

const note = (life: Life, names: Names, bundle: Bundle): void => {
  const key = versionKey(identityOf(bundle));
  if (!names.has(key)) life.size += 1;
  names.set(key, bundle.metadata.name);
};

const follow = async (store: Store, life: Life, signal: AbortSignal): Promise<void> => {
  for await (const event of store.watch('Bundle', { signal })) {
    if (life.over || event.type === 'ERROR') break;
    if (event.type !== 'ADDED') continue;
    const names = await life.pipelines.get(pipelineKey(identityOf(event.object)));
    if (names?.ok) note(life, names.value, event.object);
    if (life.size > MAX_NAMES) break;
  }
  life.over = true;
};

const listNames = async (store: Store, life: Life, identity: BundleIdentity): Promise<ReadResult<Names>> => {
  const labelSelector = `${PIPELINE_LABEL}=${labelValue(identity.pipeline)}`;
  const page = await store.list('Bundle', { namespace: identity.namespace, labelSelector, fresh: true });
  if (!page.ok) return page;
  const names: Names = new Map();
  for (const bundle of page.value.items) if (bundle.spec?.pipeline === identity.pipeline) note(life, names, bundle);
  return { ok: true, value: names };
};

/** Makes the index; it watches from the first question until the signal fires. */
export const createBundleIndex = (store: Store, signal: AbortSignal): FindBundle => {
  let life: Life | undefined;

  const begin = (): Life => {
    const begun: Life = { pipelines: new Map(), size: 0, over: false };
    // What happens when the store fails is that the life is over and the next question begins another.
    follow(store, begun, signal).catch(() => {
      begun.over = true;
    });
    return begun;
  };

  const look = async (current: Life, identity: BundleIdentity): Promise<ReadResult<Bundle | undefined | 'stale'>> => {
    const key = pipelineKey(identity);
    const listed = current.pipelines.get(key) ?? listNames(store, current, identity);
    current.pipelines.set(key, listed);
    const names = await listed;
    const name = names.ok ? names.value.get(versionKey(identity)) : undefined;
    if (!names.ok) current.pipelines.delete(key);
    if (!names.ok || name === undefined) return names.ok ? { ok: true, value: undefined } : names;
    const found = await store.get('Bundle', identity.namespace, name, { fresh: true });
    if (found.ok && isSame(identityOf(found.value), identity)) return found;
    if (!found.ok && found.error.code !== 'NotFound') return found;
    // Another Bundle of this version may have hidden behind the one that is gone.
    current.pipelines.delete(key);
    return { ok: true, value: 'stale' };
  };

  return async (identity) => {
    if (life === undefined || life.over) life = begin();
    const first = await look(life, identity);
    const second = first.ok && first.value === 'stale' ? await look(life, identity) : first;
    if (!second.ok) return second;
    return { ok: true, value: second.value === 'stale' ? undefined : second.value };
  };
};
