/**
 * Who has to be looked at when something changes. Keeps a small index of what is still being promoted; a change that no decision reads (a
 * record inside a step, say) wakes only its own resource.
 */
import type { Resource } from '../api/meta.ts';
import type { KindMap } from '../api/registry.ts';
import { resolveEnvironment } from '../api/resolve.ts';
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

export interface Interest {
  /** The keys to look at because of this change. */
  affected(change: Change): readonly Key[];
  /** Every key that is still being promoted. */
  live(): readonly Key[];
}

interface Index {
  /** Keeps or forgets the entry; whether what others read of it has changed. */
  remember(entry: Entry, live: boolean): boolean;
  ofPipeline(pipeline: string): readonly Key[];
  /** What looks at that Deployment. */
  watching(namespace: string, name: string): readonly Key[];
  all(): readonly Entry[];
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
  const entries = new Map<string, Entry>();
  const pipelines = createGroups();
  const workloads = createGroups();

  const forget = (text: string): void => {
    const entry = entries.get(text);
    if (entry === undefined) return;
    entries.delete(text);
    pipelines.remove(entry.pipeline, entry.key);
    if (entry.watches !== undefined) workloads.remove(entry.watches, entry.key);
  };

  const keep = (text: string, entry: Entry): void => {
    forget(text);
    entries.set(text, entry);
    pipelines.add(entry.pipeline, entry.key);
    if (entry.watches !== undefined) workloads.add(entry.watches, entry.key);
  };

  return {
    remember: (entry, live) => {
      const text = keyText(entry.key);
      const changed = entries.get(text)?.mark !== entry.mark;
      if (live) keep(text, entry);
      else forget(text);
      return changed;
    },
    ofPipeline: pipelines.of,
    watching: (namespace, name) => [...workloads.of(`${namespace}/${name}`), ...workloads.of(`${namespace}/`)],
    all: () => [...entries.values()],
  };
};

const bundleChanged = (index: Index, bundle: KindMap['Bundle'], gone: boolean): readonly Key[] => {
  const namespace = namespaceOf(bundle);
  const key: Key = { kind: 'Bundle', namespace, name: bundle.metadata.name };
  const name = bundle.spec?.pipeline ?? '';
  const pipeline = `${namespace}/${name}`;
  const mark = gone ? 'gone' : `${phaseOf(bundle.status)} ${bundle.status?.sequence ?? ''} ${bundle.metadata.deletionTimestamp ?? ''}`;
  const finished = isFinished(bundle.status);
  if (!index.remember({ key, pipeline, mark, watches: undefined }, !gone && !finished)) return [key];
  const graph: Key = { kind: 'Graph', namespace, name: bundle.metadata.name };
  const history: readonly Key[] = finished || gone ? [{ kind: 'Pipeline', namespace, name }] : [];
  return [key, graph, ...index.ofPipeline(pipeline), ...history];
};

/** The Deployments that a step under health check looks at. */
const workloadOf = (step: KindMap['PromotionStep']): string | undefined => {
  const { git, environment } = step.status?.started ?? {};
  if (stateOf(step.status) !== 'HealthChecking' || environment === undefined) return undefined;
  const target = healthTarget(resolveEnvironment(git ?? {}, environment, namespaceOf(step)), step.spec?.pipeline ?? '');
  return target.selector ? `${target.namespace}/` : `${target.namespace}/${target.name}`;
};

const stepChanged = (index: Index, step: KindMap['PromotionStep'], gone: boolean): readonly Key[] => {
  const namespace = namespaceOf(step);
  const key: Key = { kind: 'PromotionStep', namespace, name: step.metadata.name };
  const state = stateOf(step.status);
  const { pipeline = '', bundle = '' } = step.spec ?? {};
  const entry = { key, pipeline: `${namespace}/${pipeline}`, mark: gone ? 'gone' : state, watches: workloadOf(step) };
  if (!index.remember(entry, !gone && !isEnded(state)) && !gone) return [key];
  return [key, { kind: 'Graph', namespace, name: bundle }, { kind: 'Bundle', namespace, name: bundle }];
};

const affectedBy = (index: Index, { type, object }: Change): readonly Key[] => {
  const namespace = namespaceOf(object);
  const { name } = object.metadata;
  const gone = type === 'DELETED';
  switch (object.kind) {
    case 'Bundle':
      return bundleChanged(index, object, gone);
    case 'PromotionStep':
      return stepChanged(index, object, gone);
    case 'Pipeline':
      return [{ kind: 'Pipeline', namespace, name }, ...index.ofPipeline(`${namespace}/${name}`)];
    case 'Graph':
      return [
        { kind: 'Graph', namespace, name },
        { kind: 'Bundle', namespace, name: object.spec?.bundle ?? name },
      ];
    case 'PolicyGate':
      return index.all().map((entry) => entry.key);
    case 'Deployment':
      return index.watching(namespace, name);
  }
};

/** Makes an empty index. */
export const createInterest = (): Interest => {
  const index = createIndex();
  return { affected: (change) => affectedBy(index, change), live: () => index.all().map((entry) => entry.key) };
};
