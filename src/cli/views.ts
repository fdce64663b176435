/** The tables of `get`: what to read, and the rows it makes. */
import { labelValue } from '../api/names.ts';
import { KINDS, type KindInfo, type KindMap, type KindName } from '../api/registry.ts';
import { PIPELINE_LABEL } from '../core/labels.ts';
import type { ListOptions, Store, StoreError } from '../ports/store.ts';
import { ageOf } from './age.ts';
import { COLUMNS } from './columns.ts';
import { environmentsOf, standsIn } from './environments.ts';
import { pendingEnvironments } from './pending.ts';

/** One row; the last print of the same key is what a watch compares with. */
export interface Row {
  readonly key: string;
  readonly cells: readonly string[];
}

/** A table as read. */
export type Rows = { readonly ok: true; readonly rows: readonly Row[] } | { readonly ok: false; readonly error: StoreError };

/** What `get` shows. */
export interface View {
  readonly header: readonly string[];
  /** Kinds whose changes may change the table. */
  readonly kinds: readonly KindName[];
  readonly read: () => Promise<Rows>;
}

/** Where to look. */
export interface Scope {
  readonly store: Store;
  readonly info: KindInfo;
  readonly where: ListOptions;
  /** Only this object. */
  readonly name?: string;
  /** Only what belongs to this Pipeline. */
  readonly pipeline?: string;
  /** Show the namespace of each row. */
  readonly allNamespaces: boolean;
  readonly now: () => number;
}

/** The list options of a scope: Pipeline and name become selectors. */
export const optionsOf = ({ where, name, pipeline }: Pick<Scope, 'where' | 'name' | 'pipeline'>): ListOptions => {
  const label = pipeline === undefined ? [] : [`${PIPELINE_LABEL}=${labelValue(pipeline)}`];
  const labels = [...(where.labelSelector === undefined ? [] : [where.labelSelector]), ...label];
  return {
    ...where,
    ...(labels.length === 0 ? {} : { labelSelector: labels.join(',') }),
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
  };
};

const keyOf = ({ kind, metadata }: KindMap[KindName]): string => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;

const keyOfBundle = (namespace: string | undefined, bundle: string | undefined): string => `${namespace ?? ''}/${bundle ?? ''}`;

const rowOf = (scope: Scope, object: KindMap[KindName], cells: readonly string[]): Row => ({
  key: keyOf(object),
  cells: scope.allNamespaces ? [object.metadata.namespace ?? '', ...cells] : cells,
});

const headerOf = (scope: Scope, header: readonly string[]): readonly string[] => (scope.allNamespaces ? ['NAMESPACE', ...header] : header);

const plainView = <K extends KindName>(scope: Scope, kind: K): View => {
  const columns = COLUMNS[kind];
  return {
    header: headerOf(scope, columns.header),
    kinds: [kind],
    read: async () => {
      const list = await scope.store.list(kind, optionsOf(scope));
      if (!list.ok) return { ok: false, error: list.error };
      return { ok: true, rows: list.value.items.map((object) => rowOf(scope, object, columns.row(object, scope.now()))) };
    },
  };
};

const stepsIn = (scope: Scope) =>
  scope.store.list('PromotionStep', scope.where.namespace === undefined ? {} : { namespace: scope.where.namespace });

const byCreation = (a: KindMap[KindName], b: KindMap[KindName]): number =>
  (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? '');

/** Newest first; Bundles of the same second by their place in the order of their Pipeline. */
export const newestFirst = (a: KindMap['Bundle'], b: KindMap['Bundle']): number =>
  byCreation(a, b) || (b.status?.sequence ?? Number.MAX_SAFE_INTEGER) - (a.status?.sequence ?? Number.MAX_SAFE_INTEGER);

const bundleView = (scope: Scope): View => ({
  header: headerOf(scope, COLUMNS.Bundle.header),
  kinds: ['Bundle', 'PromotionStep'],
  read: async () => {
    const list = await scope.store.list('Bundle', optionsOf(scope));
    if (!list.ok) return { ok: false, error: list.error };
    const steps = await stepsIn(scope);
    if (!steps.ok) return { ok: false, error: steps.error };
    const rows = list.value.items.toSorted(newestFirst).map((bundle) => {
      const env = standsIn(environmentsOf(bundle, steps.value.items));
      const age = ageOf(bundle.metadata.creationTimestamp, scope.now());
      return rowOf(scope, bundle, [bundle.metadata.name, bundle.status?.phase ?? 'Available', env, age]);
    });
    return { ok: true, rows };
  },
});

/** Rows of one Bundle stay together, newest Bundle first, its environments in the order they were reached; those not reached come last. */
const groupByBundle = (rows: readonly { readonly bundle: string; readonly row: Row }[]): readonly Row[] => {
  const groups = new Map<string, Row[]>();
  for (const { bundle, row } of rows) groups.set(bundle, [...(groups.get(bundle) ?? []), row]);
  return [...groups.values()].flat();
};

const stepView = (scope: Scope): View => ({
  header: headerOf(scope, COLUMNS.PromotionStep.header),
  kinds: ['PromotionStep', 'Graph', 'Bundle'],
  read: async () => {
    const list = await scope.store.list('PromotionStep', optionsOf(scope));
    if (!list.ok) return { ok: false, error: list.error };
    const steps = list.value.items.toSorted((a, b) => byCreation(b, a));
    const newest = new Map(steps.map((step) => [keyOfBundle(step.metadata.namespace, step.spec?.bundle), step]));
    const order = [...newest].toSorted(([, a], [, b]) => byCreation(a, b)).map(([bundle]) => bundle);
    const present = steps
      .map((step) => ({
        bundle: keyOfBundle(step.metadata.namespace, step.spec?.bundle),
        row: rowOf(scope, step, COLUMNS.PromotionStep.row(step, scope.now())),
      }))
      .toSorted((a, b) => order.indexOf(a.bundle) - order.indexOf(b.bundle));
    const { name: _name, ...all } = scope;
    const pending = scope.name === undefined ? await pendingEnvironments(scope.store, optionsOf(all)) : { ok: true as const, lines: [] };
    if (!pending.ok) return { ok: false, error: pending.error };
    const waiting = pending.lines.map(({ namespace, bundle, environment, message }) => ({
      bundle: keyOfBundle(namespace, bundle),
      row: {
        key: `Pending/${namespace}/${bundle}/${environment}`,
        cells: [...(scope.allNamespaces ? [namespace] : []), '-', bundle, environment, 'Pending', '-', message],
      },
    }));
    return { ok: true, rows: groupByBundle([...present, ...waiting]) };
  },
});

/** The table for a kind. */
export const viewOf = (scope: Scope): View => {
  if (scope.info.kind === 'Bundle') return bundleView(scope);
  if (scope.info.kind === 'PromotionStep') return stepView(scope);
  return plainView(scope, KINDS[scope.info.kind].kind);
};
