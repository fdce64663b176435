/** Gather: reads all that one decision depends on. A World that is undefined means that the resource does not exist. */
import type { Bundle } from '../api/kinds/bundle.ts';
import type { Graph } from '../api/kinds/graph.ts';
import type { Deployment } from '../api/kinds/native.ts';
import type { PromotionStep } from '../api/kinds/promotion-step.ts';
import { done, type Outcome } from '../api/outcome.ts';
import type { BundleWorld } from '../core/bundle/world.ts';
import type { GraphWorld } from '../core/graph/world.ts';
import { type HealthTarget, healthTarget } from '../core/health/target.ts';
import { BUNDLE_LABEL, PIPELINE_LABEL } from '../core/labels.ts';
import { type PipelineWorld, pastHistory } from '../core/pipeline/decide.ts';
import { runOf } from '../core/step/run.ts';
import { isEnded, stateOf } from '../core/step/states.ts';
import type { StepWorld } from '../core/step/world.ts';
import type { ClusterReader, ClusterRef } from '../ports/cluster.ts';
import type { ReadResult } from '../ports/store.ts';
import { type ReadContext, readAudits, readGates, readLabelled, readOne, readSiblings, Unreadable } from './reads.ts';

/** The World of a Bundle. A Bundle without a place in the order is read fresh, because its place must be counted from the latest. */
const readBundleWorld = async (given: ReadContext, namespace: string, name: string): Promise<BundleWorld | undefined> => {
  const bundle = await readOne(given, 'Bundle', namespace, name);
  if (bundle === undefined) return undefined;
  const context = bundle.status?.sequence === undefined ? { ...given, fresh: true } : given;
  const pipelineName = bundle.spec?.pipeline ?? '';
  const graph = await readOne(context, 'Graph', namespace, name);
  return {
    bundle,
    pipeline: await readOne(context, 'Pipeline', namespace, pipelineName),
    siblings: await readSiblings(context, namespace, pipelineName),
    graph,
    steps: await stepsOf(context, graph),
    gates: await readGates(context, namespace),
    audits: await readAudits(context, bundle, []),
    auditRetentionMs: context.auditRetentionMs,
  };
};

/** The PromotionSteps that this very Graph owns; those of a deleted Bundle of the same name do not count. */
const stepsOf = async (context: ReadContext, graph: Graph | undefined): Promise<readonly PromotionStep[]> => {
  if (graph === undefined) return [];
  const steps = await readLabelled(context, 'PromotionStep', graph.metadata.namespace ?? 'default', [BUNDLE_LABEL, graph.metadata.name]);
  return steps.filter((step) => step.metadata.ownerReferences?.some((owner) => owner.uid === graph.metadata.uid));
};

/** The World of a Graph. */
const readGraphWorld = async (context: ReadContext, namespace: string, name: string): Promise<GraphWorld | undefined> => {
  const graph = await readOne(context, 'Graph', namespace, name);
  if (graph === undefined) return undefined;
  const bundle = await readOne(context, 'Bundle', namespace, graph.spec?.bundle ?? '');
  const owned = graph.metadata.ownerReferences?.some((owner) => owner.uid === bundle?.metadata.uid);
  return {
    graph,
    bundle: owned ? bundle : undefined,
    steps: owned ? await stepsOf(context, graph) : [],
    gates: await readGates(context, namespace),
  };
};

const clusterRef = (target: HealthTarget, namespace: string): ClusterRef =>
  target.cluster === undefined ? { cluster: 'local' } : { cluster: 'remote', kubeconfig: { namespace, name: target.cluster } };

const readWorkloads = async (cluster: ClusterReader, target: HealthTarget, namespace: string): Promise<Outcome<readonly Deployment[]>> => {
  const ref = clusterRef(target, namespace);
  if (target.selector) return cluster.deployments(ref, target.namespace, target.selector);
  const read = await cluster.deployment(ref, target.namespace, target.name);
  if (read.outcome !== 'done') return read;
  return done(read.value === undefined ? [] : [read.value]);
};

/** What the health target of a step shows, when health is being checked. */
const workloadsOf = async (cluster: ClusterReader, step: PromotionStep, bundle: Bundle | undefined): Promise<StepWorld['workloads']> => {
  if (bundle === undefined || stateOf(step.status) !== 'HealthChecking') return undefined;
  const run = runOf(step, bundle);
  if (run === undefined) return undefined;
  return readWorkloads(cluster, healthTarget(run.environment, bundle.spec?.pipeline ?? ''), step.metadata.namespace ?? 'default');
};

/** The World of a PromotionStep. */
const readStepWorld = async (context: ReadContext, cluster: ClusterReader, key: WorldKey): Promise<StepWorld | undefined> => {
  const { namespace, name } = key;
  const step = await readOne(context, 'PromotionStep', namespace, name);
  if (step === undefined) return undefined;
  const bundleName = step.spec?.bundle ?? '';
  const pipelineName = step.spec?.pipeline ?? '';
  const bundle = await readOne(context, 'Bundle', namespace, bundleName);
  const ended = isEnded(stateOf(step.status));
  return {
    step,
    bundle,
    pipeline: await readOne(context, 'Pipeline', namespace, pipelineName),
    siblings: ended ? [] : await readSiblings(context, namespace, pipelineName),
    gates: ended ? { policyNamespace: context.policyNamespace, gates: [] } : await readGates(context, namespace),
    workloads: await workloadsOf(cluster, step, bundle),
    audits: bundle ? await readAudits(context, { ...bundle, status: {} }, [step]) : new Set(),
    observingSince: context.observingSince,
    auditRetentionMs: context.auditRetentionMs,
  };
};

/** The World of a Pipeline. */
const readPipelineWorld = async (context: ReadContext, namespace: string, name: string): Promise<PipelineWorld | undefined> => {
  const pipeline = await readOne(context, 'Pipeline', namespace, name);
  if (pipeline === undefined) return undefined;
  const bundles = await readSiblings(context, namespace, name);
  const steps = await readLabelled(context, 'PromotionStep', namespace, [PIPELINE_LABEL, name]);
  const audits = new Map<string, ReadonlySet<string>>();
  for (const bundle of pastHistory({ pipeline, bundles, steps })) {
    audits.set(
      bundle.metadata.name,
      await readAudits(
        context,
        bundle,
        steps.filter((step) => step.spec?.bundle === bundle.metadata.name),
      ),
    );
  }
  return { pipeline, bundles, steps, audits, auditRetentionMs: context.auditRetentionMs };
};

/** A World, or why it cannot be read now. */
export type Gathered<World> = ReadResult<World | undefined>;

const gathered = async <World>(read: Promise<World | undefined>): Promise<Gathered<World>> => {
  try {
    return { ok: true, value: await read };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, error: error.error };
    throw error;
  }
};

/** Names the resource whose World is read. */
export interface WorldKey {
  readonly namespace: string;
  readonly name: string;
}

/** Gathers for a Bundle. */
export const gatherBundle = (context: ReadContext, key: WorldKey) => gathered(readBundleWorld(context, key.namespace, key.name));
/** Gathers for a Graph. */
export const gatherGraph = (context: ReadContext, key: WorldKey) => gathered(readGraphWorld(context, key.namespace, key.name));
/** Gathers for a Pipeline. */
export const gatherPipeline = (context: ReadContext, key: WorldKey) => gathered(readPipelineWorld(context, key.namespace, key.name));
/** Gathers for a PromotionStep. */
export const gatherStep = (context: ReadContext, cluster: ClusterReader, key: WorldKey) => gathered(readStepWorld(context, cluster, key));
