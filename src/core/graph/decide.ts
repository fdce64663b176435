/** The decision about one Graph: whether it is valid, and which PromotionSteps may be created now. */

import { checkExpression, compileExpression, evaluateBool } from '../../api/cel.ts';
import type { Graph, GraphNode } from '../../api/kinds/graph.ts';
import type { PromotionStep } from '../../api/kinds/promotion-step.ts';
import { API_VERSION } from '../../api/meta.ts';
import { childName, labelValue } from '../../api/names.ts';
import type { Reason } from '../../api/outcome.ts';
import { phaseOf } from '../bundle/phases.ts';
import { type WantedCondition, withCondition } from '../conditions.ts';
import type { Decision, ResourceEffect } from '../effect.ts';
import { equal } from '../equal.ts';
import { closedGates } from '../gate/closed.ts';
import { BUNDLE_LABEL, ENVIRONMENT_LABEL, PIPELINE_LABEL } from '../labels.ts';
import { isFailed, stateOf } from '../step/states.ts';
import { validateGraph } from './validate-graph.ts';
import type { GraphWorld } from './world.ts';

/** What is wrong with an expression of a node; undefined when nothing is. */
export const checkNodeExpression = (expression: string): string | undefined => {
  const checked = checkExpression(expression);
  return checked.ok ? undefined : checked.message;
};

/** Whether an expression of a node holds for its resource; an expression that is wrong holds nothing and says why. */
const holds = (expression: string | undefined, step: PromotionStep): true | Reason => {
  if (expression === undefined) return true;
  const checked = compileExpression(expression);
  if (!checked.ok) return { code: 'InvalidCEL', message: checked.message };
  const result = evaluateBool(checked.compiled, { self: step });
  if (!result.ok) return { code: 'InvalidCEL', message: `${expression}: ${result.message}` };
  return result.value || { code: 'WaitingForUpstream', message: `waits for ${step.spec?.environment ?? ''}: ${expression} is false` };
};

/** Why a node's successors may not start yet; undefined when they may. */
const holdsBack = (id: string, propagateWhen: string | undefined, step: PromotionStep | undefined): Reason | undefined => {
  if (step === undefined) return { code: 'WaitingForUpstream', message: `waits for ${id}, whose promotion has not started` };
  const state = stateOf(step.status);
  if (state !== 'Verified') return { code: 'WaitingForUpstream', message: `waits for ${id}, which is ${state}` };
  const held = holds(propagateWhen, step);
  return held === true ? undefined : held;
};

/** Why an environment's PromotionStep does not exist yet; undefined when nothing is in its way (spec, "A step not yet created"). */
export const whyNotStarted = (world: GraphWorld, node: GraphNode): Reason | undefined => {
  const phase = phaseOf(world.bundle?.status);
  if (phase !== 'Promoting') return { code: `Bundle${phase}`, message: `its Bundle is ${phase}` };
  const failed = world.steps.find((step) => isFailed(stateOf(step.status)));
  if (failed)
    return { code: 'UpstreamFailed', message: `nothing new starts because ${failed.spec?.environment} is ${stateOf(failed.status)}` };
  for (const id of node.dependsOn) {
    const upstream = world.graph.spec?.nodes.find((other) => other.id === id);
    const step = world.steps.find((candidate) => candidate.spec?.environment === upstream?.environment);
    const reason = holdsBack(id, upstream?.propagateWhen, step);
    if (reason) return reason;
  }
  return closedGates(world.gates, node.environment);
};

const newStep = (graph: Graph, node: GraphNode): PromotionStep => {
  const { pipeline = '', bundle = '' } = graph.spec ?? {};
  return {
    apiVersion: API_VERSION,
    kind: 'PromotionStep',
    metadata: {
      name: childName(bundle, node.environment),
      namespace: graph.metadata.namespace ?? 'default',
      labels: {
        [PIPELINE_LABEL]: labelValue(pipeline),
        [BUNDLE_LABEL]: labelValue(bundle),
        [ENVIRONMENT_LABEL]: labelValue(node.environment),
      },
      ownerReferences: [
        {
          apiVersion: API_VERSION,
          kind: 'Graph',
          name: graph.metadata.name,
          uid: graph.metadata.uid ?? '',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { pipeline, bundle, environment: node.environment, inputs: {} },
  };
};

const startable = (world: GraphWorld): ResourceEffect[] => {
  const existing = new Set(world.steps.map((step) => step.spec?.environment));
  return (world.graph.spec?.nodes ?? [])
    .filter((node) => node.kind === 'PromotionStep' && !existing.has(node.environment))
    .filter((node) => whyNotStarted(world, node) === undefined)
    .map((node) => ({ kind: 'CreateResource', object: newStep(world.graph, node) }));
};

/**
 * Steps that were created and have not started, and now never will: their node is gone, or another environment has failed. One that starts meanwhile
 * is kept.
 */
const withdrawn = (world: GraphWorld): ResourceEffect[] => {
  const wanted = new Set((world.graph.spec?.nodes ?? []).map((node) => node.environment));
  const stopped = world.steps.some((step) => isFailed(stateOf(step.status)));
  return world.steps
    .filter((step) => stateOf(step.status) === 'Pending' && (stopped || !wanted.has(step.spec?.environment ?? '')))
    .map(({ metadata: { name, namespace = 'default', uid = '', resourceVersion } }) => ({
      kind: 'DeleteResource',
      ref: { kind: 'PromotionStep', namespace, name },
      uid,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    }));
};

const readiness = (world: GraphWorld): Reason & { readonly ready: boolean } => {
  const steps = new Map(world.steps.map((step) => [step.spec?.environment, step]));
  const isReady = (node: GraphNode): boolean => {
    const step = steps.get(node.environment);
    return step !== undefined && stateOf(step.status) === 'Verified' && holds(node.readyWhen, step) === true;
  };
  const open = (world.graph.spec?.nodes ?? []).filter((node) => node.kind === 'PromotionStep' && !isReady(node));
  if (open.length === 0) return { ready: true, code: 'AllVerified', message: 'every environment is Verified' };
  return { ready: false, code: 'Progressing', message: `not Verified yet: ${open.map((node) => node.environment).join(', ')}` };
};

/** What to do about a Graph now. */
export const decideGraph = (world: GraphWorld, now: number): Decision => {
  const { graph } = world;
  if (graph.metadata.deletionTimestamp !== undefined || graph.spec === undefined) {
    return { writes: [], reason: { code: 'Deleting', message: 'the Graph is being deleted' } };
  }
  const problem = validateGraph(graph.spec, checkNodeExpression);
  const generation = graph.metadata.generation ?? 1;
  const state = readiness(world);
  const wanted: readonly WantedCondition[] = [
    problem
      ? { type: 'Accepted', status: 'False', reason: problem, generation }
      : { type: 'Accepted', status: 'True', reason: { code: 'Valid', message: 'the graph has an order' }, generation },
    problem
      ? { type: 'Ready', status: 'False', reason: problem, generation }
      : { type: 'Ready', status: state.ready ? 'True' : 'False', reason: { code: state.code, message: state.message }, generation },
  ];
  const conditions = wanted.reduce((list, condition) => withCondition(list, condition, now), graph.status?.conditions ?? []);
  const status = { ...graph.status, conditions, observedGeneration: generation };
  const writes: ResourceEffect[] = equal(graph.status ?? {}, status) ? [] : [{ kind: 'UpdateStatus', object: { ...graph, status } }];
  if (problem) return { writes, reason: problem };
  return { writes: [...writes, ...withdrawn(world), ...startable(world)], reason: { code: state.code, message: state.message } };
};
