/**
 * Who has to be looked at when something changes. Keeps a small index of what is still being promoted; a change that no decision reads (a
 * record inside a step, say) wakes only its own resource.
 */
import type { Resource } from '../api/meta.ts';
import type { KindMap } from '../api/registry.ts';
import { isFinished, phaseOf } from '../core/bundle/phases.ts';
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
  /** Namespace whose Deployments it looks at. */
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
  all(): readonly Entry[];
}

const namespaceOf = (object: Resource): string => object.metadata.namespace ?? 'default';

const createIndex = (): Index => {
  const entries = new Map<string, Entry>();
  const byPipeline = new Map<string, Map<string, Key>>();

  const forget = (text: string): void => {
    const pipeline = entries.get(text)?.pipeline;
    entries.delete(text);
    if (pipeline === undefined) return;
    const group = byPipeline.get(pipeline);
    group?.delete(text);
    if (group?.size === 0) byPipeline.delete(pipeline);
  };

  const keep = (text: string, entry: Entry): void => {
    entries.set(text, entry);
    const group = byPipeline.get(entry.pipeline) ?? new Map<string, Key>();
    byPipeline.set(entry.pipeline, group.set(text, entry.key));
  };

  return {
    remember: (entry, live) => {
      const text = keyText(entry.key);
      const changed = entries.get(text)?.mark !== entry.mark;
      if (live) keep(text, entry);
      else forget(text);
      return changed;
    },
    ofPipeline: (pipeline) => [...(byPipeline.get(pipeline)?.values() ?? [])],
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

const stepChanged = (index: Index, step: KindMap['PromotionStep'], gone: boolean): readonly Key[] => {
  const namespace = namespaceOf(step);
  const key: Key = { kind: 'PromotionStep', namespace, name: step.metadata.name };
  const state = stateOf(step.status);
  const { environment, pipeline = '', bundle = '' } = step.spec ?? {};
  const watches = state === 'HealthChecking' ? (step.status?.started?.environment?.health?.resource?.namespace ?? environment) : undefined;
  const entry = { key, pipeline: `${namespace}/${pipeline}`, mark: gone ? 'gone' : state, watches };
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
      return index.all().flatMap((entry) => (entry.watches === namespace ? [entry.key] : []));
  }
};

/** Makes an empty index. */
export const createInterest = (): Interest => {
  const index = createIndex();
  return { affected: (change) => affectedBy(index, change), live: () => index.all().map((entry) => entry.key) };
};
