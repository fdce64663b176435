/** The Graph that a Bundle shall have: planned anew at every look, except where a promotion has started already. */

import { dependencyEdges } from '../../api/dependency-edges.ts';
import type { Bundle } from '../../api/kinds/bundle.ts';
import type { Graph, GraphNode } from '../../api/kinds/graph.ts';
import type { Pipeline } from '../../api/kinds/pipeline.ts';
import { API_VERSION } from '../../api/meta.ts';
import { labelValue } from '../../api/names.ts';
import type { Reason } from '../../api/outcome.ts';
import { type ResolvedEnvironment, resolveEnvironments } from '../../api/resolve.ts';
import { planGraph, STEP_READY } from '../graph/plan-graph.ts';
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

/** A promotion that started while its node was taken away: it goes on, and the Graph says so. */
const nodeOfStarted = (environment: string): GraphNode => ({
  id: environment,
  kind: 'PromotionStep',
  environment,
  dependsOn: [],
  readyWhen: STEP_READY,
  propagateWhen: STEP_READY,
});

/** Nodes that have started stay as they were; the others follow the plan. */
const mergeStarted = (planned: readonly GraphNode[], present: readonly GraphNode[], started: ReadonlySet<string>): GraphNode[] => {
  const kept = [...started].map((name) => present.find((node) => node.environment === name) ?? nodeOfStarted(name));
  const keptIds = new Set(kept.map((node) => node.id));
  const inOrder = [...present.filter((node) => keptIds.has(node.id)), ...kept.filter((node) => !present.includes(node))];
  const all = [...inOrder, ...planned.filter((node) => !keptIds.has(node.id))];
  const ids = new Set(all.map((node) => node.id));
  return all.map((node) => ({ ...node, dependsOn: node.dependsOn.filter((id) => ids.has(id) || !present.some((old) => old.id === id)) }));
};

/** The wanted Graph, and why the Bundle cannot go on along it; a Bundle that is refused and has started nothing gets no Graph. */
export interface GraphPlanned {
  readonly graph?: Graph;
  readonly refused?: Reason;
}

/** Plans the Graph of the Bundle. */
export const graphFor = (world: BundleWorld, pipeline: Pipeline): GraphPlanned => {
  const { bundle } = world;
  const environments = resolveEnvironments(pipeline);
  const target = targetOf(bundle);
  const plan = planGraph({ environments, ...(target === undefined ? {} : { targetEnvironment: target }), skip: skipsOf(bundle) });
  const started = new Set(world.steps.filter((step) => stateOf(step.status) !== 'Pending').map((step) => step.spec?.environment ?? ''));
  const present = world.graph?.spec?.nodes ?? [];
  const graph = (planned: readonly GraphNode[]): Graph => ({
    ...newGraph(bundle, pipeline),
    spec: { pipeline: pipeline.metadata.name, bundle: bundle.metadata.name, nodes: mergeStarted(planned, present, started) },
  });
  if (plan.ok) return { graph: graph(plan.nodes) };
  if (BUNDLE_PROBLEMS.includes(plan.reason.code)) {
    return { refused: plan.reason, ...(world.graph === undefined ? {} : { graph: graph([]) }) };
  }
  // What has started goes on by the plan it started with until the Pipeline can be planned again: raw nodes know neither target nor skips.
  return { graph: graph(started.size > 0 && present.length > 0 ? present : rawNodes(environments)) };
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
