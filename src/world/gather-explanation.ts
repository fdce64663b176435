/** Gathers for an explanation: the Worlds that the decisions about a Pipeline's newest Bundle see. */
import type { Bundle } from '../api/kinds/bundle.ts';
import { belongs, refusedPlace } from '../core/bundle/order.ts';
import { isFinished } from '../core/bundle/phases.ts';
import type { ExplainWorld } from '../core/explain/index.ts';
import type { StepWorld } from '../core/step/world.ts';
import type { ClusterReader } from '../ports/cluster.ts';
import type { ReadResult, StoreError } from '../ports/store.ts';
import { gatherBundle, gatherGraph, gatherPipeline, gatherStep } from './gather.ts';
import type { ReadContext } from './reads.ts';

const refused = (error: StoreError): ReadResult<never> => ({ ok: false, error });

/** What is under way comes first, then what gets no place in the order and so never ends by itself, then what has ended. */
const rank = (bundle: Bundle, bundles: readonly Bundle[]): number => {
  if (isFinished(bundle.status)) return 2;
  return bundle.status?.sequence === undefined && refusedPlace(bundle, bundles) !== undefined ? 1 : 0;
};

/** The first by rank, and the newest of those. */
const newest = (bundles: readonly Bundle[]): Bundle | undefined =>
  [...bundles].sort((a, b) => {
    const ranks = rank(a, bundles) - rank(b, bundles);
    if (ranks !== 0) return ranks;
    const order = (b.status?.sequence ?? Number.MAX_SAFE_INTEGER) - (a.status?.sequence ?? Number.MAX_SAFE_INTEGER);
    return order !== 0 ? order : a.metadata.name < b.metadata.name ? -1 : 1;
  })[0];

const gatherSteps = async (context: ReadContext, cluster: ClusterReader, names: readonly { namespace: string; name: string }[]) => {
  const steps: StepWorld[] = [];
  for (const key of names) {
    const step = await gatherStep(context, cluster, key);
    if (!step.ok) return step;
    if (step.value) steps.push(step.value);
  }
  return { ok: true, value: steps } as const;
};

/** What is asked about. */
export interface ExplainQuestion {
  readonly namespace: string;
  readonly pipeline: string;
  /** A Bundle by name; the newest when absent. */
  readonly bundle?: string;
}

/** The World of an explanation; NotFound when there is no such Pipeline. */
export const gatherExplanation = async (
  context: ReadContext,
  cluster: ClusterReader,
  question: ExplainQuestion,
): Promise<ReadResult<ExplainWorld>> => {
  const { namespace } = question;
  const found = await gatherPipeline(context, { namespace, name: question.pipeline });
  if (!found.ok) return found;
  if (found.value === undefined)
    return refused({ code: 'NotFound', message: `pipelines.promoter.io "${question.pipeline}" not found in namespace ${namespace}` });
  const { pipeline, bundles } = found.value;
  const own = bundles.filter(belongs);
  if (question.bundle !== undefined && !own.some((bundle) => bundle.metadata.name === question.bundle)) {
    const message = `Pipeline ${question.pipeline} has no Bundle ${JSON.stringify(question.bundle)}`;
    return refused({ code: 'NotFound', message });
  }
  const chosen = question.bundle ?? newest(own.length > 0 ? own : bundles)?.metadata.name;
  if (chosen === undefined) return { ok: true, value: { pipeline, bundle: undefined, graph: undefined, steps: [] } };
  const bundle = await gatherBundle(context, { namespace, name: chosen });
  if (!bundle.ok) return bundle;
  // A Graph of the same name that belongs to another Bundle says nothing about this one.
  const graph = bundle.value?.graph ? await gatherGraph(context, { namespace, name: chosen }) : ({ ok: true, value: undefined } as const);
  if (!graph.ok) return graph;
  const names = (bundle.value?.steps ?? []).map((step) => ({ namespace, name: step.metadata.name }));
  const steps = await gatherSteps(context, cluster, names);
  if (!steps.ok) return steps;
  return { ok: true, value: { pipeline, bundle: bundle.value, graph: graph.value, steps: steps.value } };
};
