/** The Graph that a Bundle shall have: planned anew at every look, except where a promotion has started already. */
import type { Bundle } from '../../api/kinds/bundle.ts';
import type { Graph, GraphNode } from '../../api/kinds/graph.ts';
import type { Pipeline } from '../../api/kinds/pipeline.ts';
import { API_VERSION } from '../../api/meta.ts';
import { labelValue } from '../../api/names.ts';
import type { Reason } from '../../api/outcome.ts';
import { type ResolvedEnvironment, resolveEnvironments } from '../../api/resolve.ts';
import { dependencyEdges } from '../graph/edges.ts';
import { planGraph } from '../graph/plan-graph.ts';
import { BUNDLE_LABEL, PIPELINE_LABEL } from '../labels.ts';
import { stateOf } from '../step/states.ts';
import { skipsOf, targetOf } from './intent.ts';
import type { BundleWorld } from './world.ts';

/** Problems that the Bundle itself has with the Pipeline; the others are the Pipeline's, and its Graph shows them. */
const BUNDLE_PROBLEMS: readonly string[] = ['UnknownTarget', 'UnknownSkip', 'TargetSkipped', 'NothingToPromote'];

/** An invalid Pipeline's Graph: all edges, implied ones too, so that the Graph's own check finds what is wrong and nothing starts. */
const rawNodes = (environments: readonly ResolvedEnvironment[]): GraphNode[] =>
  dependencyEdges(environments).map(({ environment, dependsOn }) => ({
    id: environment,
    kind: 'PromotionStep',
    environment,
    dependsOn: [...dependsOn],
  }));

/** Nodes that have started stay as they were; the others follow the plan. */
const mergeStarted = (planned: readonly GraphNode[], present: readonly GraphNode[], started: ReadonlySet<string>): GraphNode[] => {
  const kept = present.filter((node) => started.has(node.id));
  const keptIds = new Set(kept.map((node) => node.id));
  const all = [...kept, ...planned.filter((node) => !keptIds.has(node.id))];
  const ids = new Set(all.map((node) => node.id));
  return all.map((node) => ({ ...node, dependsOn: node.dependsOn.filter((id) => ids.has(id) || !present.some((old) => old.id === id)) }));
};

/** The wanted Graph, or why there is none. */
export const graphFor = (world: BundleWorld, pipeline: Pipeline): { readonly graph: Graph } | { readonly refused: Reason } => {
  const { bundle } = world;
  const environments = resolveEnvironments(pipeline);
  const target = targetOf(bundle);
  const plan = planGraph({ environments, ...(target === undefined ? {} : { targetEnvironment: target }), skip: skipsOf(bundle) });
  if (!plan.ok && BUNDLE_PROBLEMS.includes(plan.reason.code)) return { refused: plan.reason };
  const started = new Set(world.steps.filter((step) => stateOf(step.status) !== 'Pending').map((step) => step.spec?.environment ?? ''));
  const present = world.graph?.spec?.nodes ?? [];
  // What has started goes on by the plan it started with until the Pipeline can be planned again: raw nodes know neither target nor skips.
  const planned = plan.ok ? plan.nodes : started.size > 0 && present.length > 0 ? present : rawNodes(environments);
  const nodes = mergeStarted(planned, present, started);
  return { graph: { ...newGraph(bundle, pipeline), spec: { pipeline: pipeline.metadata.name, bundle: bundle.metadata.name, nodes } } };
};

const newGraph = (bundle: Bundle, pipeline: Pipeline): Graph => ({
  apiVersion: API_VERSION,
  kind: 'Graph',
  metadata: {
    name: bundle.metadata.name,
    namespace: bundle.metadata.namespace ?? 'default',
    labels: { [PIPELINE_LABEL]: labelValue(pipeline.metadata.name), [BUNDLE_LABEL]: labelValue(bundle.metadata.name) },
    ownerReferences: [
      {
        apiVersion: API_VERSION,
        kind: 'Bundle',
        name: bundle.metadata.name,
        uid: bundle.metadata.uid ?? '',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
});
