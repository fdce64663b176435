/**
 * Who has to be looked at when something changes. Keeps a small index of what is still being promoted; a change that no decision reads (a
 * record inside a step, say) wakes only its own resource.
 */
import type { Resource } from '../api/meta.ts';
import type { KindMap } from '../api/registry.ts';
import { resolveEnvironment } from '../api/resolve.ts';
import { belongs } from '../core/bundle/order.ts';
import { isFinished, phaseOf } from '../core/bundle/phases.ts';
import { healthTarget } from '../core/health/target.ts';
import { isEnded, stateOf } from '../core/step/states.ts';
import { type Key, keyText } from './keys.ts';

/** A change as the watch reports it. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KindMap['Bundle' | 'Pipeline' | 'Graph' | 'PromotionStep' | 'PolicyGate' | 'Deployment'];
}

interface Entry {
  readonly key: Key;
  /** Namespace and name of its Pipeline. */
  readonly pipeline: string;
  /** What others read of it; when this changes, they are looked at. */
  readonly mark: string;
  /** The Deployments it looks at: one by namespace and name, or all of a namespace (`namespace/`). */
  readonly watches: string | undefined;
}

/** Who is to be looked at: at once, or when nothing else waits. */
export interface Affected {
  readonly now: readonly Key[];
  readonly later: readonly Key[];
}

export interface Interest {
  /** The keys to look at because of this change. */
  affected(change: Change): Affected;
  /** Forgets what a complete list of the kind no longer holds (`namespace/name`); whoever may have waited for it is in `live`. */
  retain(kind: string, listed: ReadonlySet<string>): void;
  /** Every key that is still being promoted. */
  live(): readonly Key[];
}

interface Index {
  /** Keeps the entry; whether it is new, and whether what others read of it has changed. */
  remember(entry: Entry, live: boolean): { readonly first: boolean; readonly changed: boolean };
  forget(key: Key): void;
  ofPipeline(pipeline: string): readonly Key[];
  /** What looks at that Deployment. */
  watching(namespace: string, name: string): readonly Key[];
  live(): readonly Key[];
  retain(kind: string, listed: ReadonlySet<string>): void;
}

const namespaceOf = (object: Resource): string => object.metadata.namespace ?? 'default';

/** Keys by some text they share. */
const createGroups = () => {
  const groups = new Map<string, Map<string, Key>>();
  return {
    add: (group: string, key: Key): void => {
      groups.set(group, (groups.get(group) ?? new Map<string, Key>()).set(keyText(key), key));
    },
    remove: (group: string, key: Key): void => {
      groups.get(group)?.delete(keyText(key));
      if (groups.get(group)?.size === 0) groups.delete(group);
    },
    of: (group: string): readonly Key[] => [...(groups.get(group)?.values() ?? [])],
  };
};

const createIndex = (): Index => {
  const live = new Map<string, Entry>();
  /** Marks of everything that was seen, what has ended included, so that a list that says nothing new wakes nobody. */
  const marks = new Map<string, string>();
  const pipelines = createGroups();
  const workloads = createGroups();

  const drop = (text: string): void => {
    const entry = live.get(text);
    if (entry === undefined) return;
    live.delete(text);
    pipelines.remove(entry.pipeline, entry.key);
    if (entry.watches !== undefined) workloads.remove(entry.watches, entry.key);
  };

  const keep = (text: string, entry: Entry): void => {
    live.set(text, entry);
    pipelines.add(entry.pipeline, entry.key);
    if (entry.watches !== undefined) workloads.add(entry.watches, entry.key);
  };

  return {
    remember: (entry, isLive) => {
      const text = keyText(entry.key);
      const before = marks.get(text);
      drop(text);
      if (isLive) keep(text, entry);
      marks.set(text, entry.mark);
      return { first: before === undefined, changed: before !== entry.mark };
    },
    forget: (key) => {
      drop(keyText(key));
      marks.delete(keyText(key));
    },
    ofPipeline: pipelines.of,
    watching: (namespace, name) => [...workloads.of(`${namespace}/${name}`), ...workloads.of(`${namespace}/`)],
    live: () => [...live.values()].map((entry) => entry.key),
    retain: (kind, listed) => {
      for (const text of marks.keys()) {
        if (!text.startsWith(`${kind}/`) || listed.has(text.slice(kind.length + 1))) continue;
        drop(text);
        marks.delete(text);
      }
    },
  };
};

const now = (keys: readonly Key[]): Affected => ({ now: keys, later: [] });

/** A Bundle of the Pipeline stands for its Graph too, which holds what has no PromotionStep yet. */
const withGraphs = (keys: readonly Key[]): readonly Key[] =>
  keys.flatMap((key) => (key.kind === 'Bundle' ? [key, { ...key, kind: 'Graph' as const }] : [key]));

const bundleChanged = (index: Index, bundle: KindMap['Bundle'], gone: boolean): Affected => {
  const namespace = namespaceOf(bundle);
  const key: Key = { kind: 'Bundle', namespace, name: bundle.metadata.name };
  const name = bundle.spec?.pipeline ?? '';
  const pipeline = `${namespace}/${name}`;
  const mark = `${phaseOf(bundle.status)} ${bundle.status?.sequence ?? ''} ${bundle.metadata.deletionTimestamp ?? ''} ${belongs(bundle)}`;
  const finished = isFinished(bundle.status);
  const history: Key = { kind: 'Pipeline', namespace, name };
  if (gone) {
    const others = index.ofPipeline(pipeline);
    index.forget(key);
    return now([key, history, ...withGraphs(others)]);
  }
  const { first, changed } = index.remember({ key, pipeline, mark, watches: undefined }, !finished);
  if (finished && first) return { now: [], later: [key, history] };
  if (!changed) return now(finished ? [] : [key]);
  return now([key, ...withGraphs([key, ...index.ofPipeline(pipeline)]), ...(finished ? [history] : [])]);
};

/** The Deployments that a step under health check looks at. */
const workloadOf = (step: KindMap['PromotionStep']): string | undefined => {
  const { git, environment } = step.status?.started ?? {};
  if (stateOf(step.status) !== 'HealthChecking' || environment === undefined) return undefined;
  const target = healthTarget(resolveEnvironment(git ?? {}, environment, namespaceOf(step)), step.spec?.pipeline ?? '');
  return target.selector ? `${target.namespace}/` : `${target.namespace}/${target.name}`;
};

const stepChanged = (index: Index, step: KindMap['PromotionStep'], gone: boolean): Affected => {
  const namespace = namespaceOf(step);
  const key: Key = { kind: 'PromotionStep', namespace, name: step.metadata.name };
  const state = stateOf(step.status);
  const { pipeline = '', bundle = '' } = step.spec ?? {};
  const group = `${namespace}/${pipeline}`;
  const readers = withGraphs([{ kind: 'Bundle', namespace, name: bundle }]);
  if (gone) {
    index.forget(key);
    return now([...readers, ...index.ofPipeline(group)]);
  }
  const { first, changed } = index.remember({ key, pipeline: group, mark: state, watches: workloadOf(step) }, !isEnded(state));
  if (isEnded(state) && first) return { now: [], later: [key] };
  if (!changed) return now(isEnded(state) ? [] : [key]);
  return now([key, ...readers, ...index.ofPipeline(group)]);
};

const affectedBy = (index: Index, { type, object }: Change): Affected => {
  const namespace = namespaceOf(object);
  const { name } = object.metadata;
  const gone = type === 'DELETED';
  switch (object.kind) {
    case 'Bundle':
      return bundleChanged(index, object, gone);
    case 'PromotionStep':
      return stepChanged(index, object, gone);
    case 'Pipeline':
      return now([{ kind: 'Pipeline', namespace, name }, ...withGraphs(index.ofPipeline(`${namespace}/${name}`))]);
    case 'Graph': {
      const graph: Key = { kind: 'Graph', namespace, name };
      const bundle: Key = { kind: 'Bundle', namespace, name: object.spec?.bundle ?? name };
      return now([graph, bundle, ...index.ofPipeline(`${namespace}/${object.spec?.pipeline ?? ''}`)]);
    }
    case 'PolicyGate':
      return now(withGraphs(index.live()));
    case 'Deployment':
      return now(index.watching(namespace, name));
  }
};

/** Makes an empty index. */
export const createInterest = (): Interest => {
  const index = createIndex();
  return { affected: (change) => affectedBy(index, change), live: () => withGraphs(index.live()), retain: index.retain };
};
