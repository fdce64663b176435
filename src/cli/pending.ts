/** Environments that a Bundle will reach but that have no PromotionStep yet. */
import type { KindMap } from '../api/registry.ts';
import type { ListOptions, Store, StoreError } from '../ports/store.ts';

/** One such environment and what it waits for. */
export interface PendingLine {
  readonly namespace: string;
  readonly bundle: string;
  readonly environment: string;
  readonly message: string;
}

/** The lines, or why they cannot be read. */
export type PendingLines =
  | { readonly ok: true; readonly lines: readonly PendingLine[] }
  | { readonly ok: false; readonly error: StoreError };

const ENDED: ReadonlySet<string> = new Set(['Verified', 'Failed', 'Superseded', 'SkipDenied']);

const linesOf = (graph: KindMap['Graph'], steps: readonly KindMap['PromotionStep'][]): readonly PendingLine[] => {
  const { namespace = '' } = graph.metadata;
  const bundle = graph.spec?.bundle ?? '';
  const stateOf = new Map(
    steps
      .filter((step) => step.spec?.bundle === bundle && step.metadata.namespace === namespace)
      .map((step) => [step.spec?.environment ?? '', step.status?.state ?? 'Pending']),
  );
  const nodes = graph.spec?.nodes ?? [];
  const environmentOf = new Map(nodes.map((node) => [node.id, node.environment]));
  return nodes
    .filter((node) => node.kind === 'PromotionStep' && !stateOf.has(node.environment))
    .map((node) => {
      const open = node.dependsOn
        .map((id) => environmentOf.get(id) ?? id)
        .filter((name) => stateOf.get(name) !== 'Verified')
        .map((name) => `${name} (${stateOf.get(name) ?? 'Pending'})`);
      const message = open.length === 0 ? 'is next' : `waits for ${open.join(', ')}`;
      return { namespace, bundle, environment: node.environment, message };
    });
};

/** For every Bundle under way that the options select. */
export const pendingEnvironments = async (store: Store, options: ListOptions): Promise<PendingLines> => {
  const graphs = await store.list('Graph', options);
  if (!graphs.ok) return { ok: false, error: graphs.error };
  const place = options.namespace === undefined ? {} : { namespace: options.namespace };
  const steps = await store.list('PromotionStep', place);
  if (!steps.ok) return { ok: false, error: steps.error };
  const bundles = await store.list('Bundle', place);
  if (!bundles.ok) return { ok: false, error: bundles.error };
  const underWay = new Set(
    bundles.value.items
      .filter((bundle) => !ENDED.has(bundle.status?.phase ?? 'Available'))
      .map((bundle) => `${bundle.metadata.namespace}/${bundle.metadata.name}`),
  );
  const lines = graphs.value.items
    .filter((graph) => underWay.has(`${graph.metadata.namespace}/${graph.spec?.bundle}`))
    .flatMap((graph) => linesOf(graph, steps.value.items));
  return { ok: true, lines };
};
