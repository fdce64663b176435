/** Gather: reads all that one decision depends on. A World that is undefined means that the resource does not exist. */
import type { Bundle } from '../api/kinds/bundle.ts';
import type { Graph } from '../api/kinds/graph.ts';
import type { Deployment } from '../api/kinds/native.ts';
import type { PromotionStep } from '../api/kinds/promotion-step.ts';
import type { Resource } from '../api/meta.ts';
import { done, type Outcome } from '../api/outcome.ts';
import { auditNames, startedName } from '../core/audit/due.ts';
import { supersededBy } from '../core/bundle/order.ts';
import { isFinished } from '../core/bundle/phases.ts';
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
import { noGates, type ReadContext, readAudits, readGates, readLabelled, readOne, readSiblings, Unreadable } from './reads.ts';

/** Names the resource whose World is read. */
export interface WorldKey {
  readonly namespace: string;
  readonly name: string;
}

/** Ownership is by uid: what a deleted resource of the same name has left behind belongs to nobody here. */
const owns = (owner: Resource, owned: Resource): boolean =>
  owned.metadata.ownerReferences?.some((reference) => reference.uid === owner.metadata.uid) ?? false;

/** The PromotionSteps that this very Graph owns. */
const stepsOf = async (context: ReadContext, graph: Graph | undefined): Promise<readonly PromotionStep[]> => {
  if (graph === undefined) return [];
  const steps = await readLabelled(context, 'PromotionStep', graph.metadata.namespace ?? 'default', [BUNDLE_LABEL, graph.metadata.name]);
  return steps.filter((step) => owns(graph, step));
};

/**
 * The World of a Bundle. Read fresh where stale reads could not be mended: for its place in the order, before it is superseded, and for the last
 * records before its Graph goes.
 */
const readBundleWorld = async (given: ReadContext, { namespace, name }: WorldKey): Promise<BundleWorld | undefined> => {
  const bundle = await readOne(given, 'Bundle', namespace, name);
  if (bundle === undefined) return undefined;
  const finished = isFinished(bundle.status);
  const found = await readOne(given, 'Graph', namespace, name);
  const critical = bundle.status?.sequence === undefined || (finished && found !== undefined);
  const context = critical ? { ...given, fresh: true } : given;
  const pipelineName = bundle.spec?.pipeline ?? '';
  const siblings = finished ? [] : await readSiblings(context, namespace, pipelineName);
  if (!context.fresh && supersededBy(bundle, siblings)) return readBundleWorld({ ...given, fresh: true }, { namespace, name });
  const graph = found && owns(bundle, found) ? found : undefined;
  const steps = await stepsOf(context, graph);
  return {
    bundle,
    pipeline: finished ? undefined : await readOne(context, 'Pipeline', namespace, pipelineName),
    siblings,
    graph,
    graphTaken: found !== undefined && graph === undefined,
    steps,
    gates: finished ? noGates(context) : await readGates(context, namespace),
    audits: await readAudits(context, auditNames(bundle, steps), namespace),
    auditRetentionMs: context.auditRetentionMs,
  };
};

/** The World of a Graph. */
const readGraphWorld = async (context: ReadContext, { namespace, name }: WorldKey): Promise<GraphWorld | undefined> => {
  const graph = await readOne(context, 'Graph', namespace, name);
  if (graph === undefined) return undefined;
  const bundle = await readOne(context, 'Bundle', namespace, graph.spec?.bundle ?? '');
  const owned = bundle !== undefined && owns(bundle, graph);
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

/** Names of the events to look for: those of the step's journal, and the one that tells whether a lost status had begun already. */
const wantedAudits = (step: PromotionStep, bundle: Bundle): readonly string[] => [
  startedName(bundle, step.spec?.environment ?? '', step.status?.attempt ?? 1),
  ...auditNames({ ...bundle, status: {} }, [step]),
];

/**
 * The World of a PromotionStep. One that has not started is read fresh, because what it starts with stands for its whole run; so is the record of a
 * health check, because what was observed must not be forgotten by the next look.
 */
const readStepWorld = async (given: ReadContext, cluster: ClusterReader, { namespace, name }: WorldKey): Promise<StepWorld | undefined> => {
  const seen = await readOne(given, 'PromotionStep', namespace, name);
  const state = stateOf(seen?.status);
  const critical = state === 'Pending' || state === 'HealthChecking';
  const step = critical && !given.fresh ? await readOne({ ...given, fresh: true }, 'PromotionStep', namespace, name) : seen;
  if (step === undefined) return undefined;
  const pending = stateOf(step.status) === 'Pending';
  const ended = isEnded(stateOf(step.status));
  const context = pending ? { ...given, fresh: true } : given;
  const bundleKey = { namespace, name: step.spec?.bundle ?? '' };
  const found = await readOne(context, 'Bundle', namespace, bundleKey.name);
  const graph = await readOne(context, 'Graph', namespace, bundleKey.name);
  const bundle = found && graph && owns(found, graph) && owns(graph, step) ? found : undefined;
  const pipelineName = step.spec?.pipeline ?? '';
  return {
    step,
    bundle,
    pipeline: ended ? undefined : await readOne(context, 'Pipeline', namespace, pipelineName),
    graph: pending ? await readGraphWorld(context, bundleKey) : undefined,
    siblings: ended ? [] : await readSiblings(context, namespace, pipelineName),
    gates: ended ? noGates(context) : await readGates(context, namespace),
    workloads: await workloadsOf(cluster, step, bundle),
    audits: bundle ? await readAudits(context, wantedAudits(step, bundle), namespace) : new Set(),
    observingSince: context.observingSince,
    auditRetentionMs: context.auditRetentionMs,
  };
};

/** The World of a Pipeline. */
const readPipelineWorld = async (context: ReadContext, { namespace, name }: WorldKey): Promise<PipelineWorld | undefined> => {
  const pipeline = await readOne(context, 'Pipeline', namespace, name);
  if (pipeline === undefined) return undefined;
  const bundles = await readSiblings(context, namespace, name);
  const steps = await readLabelled(context, 'PromotionStep', namespace, [PIPELINE_LABEL, name]);
  const audits = new Map<string, ReadonlySet<string>>();
  for (const bundle of pastHistory({ pipeline, bundles, steps })) {
    const own = steps.filter((step) => step.spec?.bundle === bundle.metadata.name);
    audits.set(bundle.metadata.name, await readAudits(context, auditNames(bundle, own), namespace));
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

/** Gathers for a Bundle. */
export const gatherBundle = (context: ReadContext, key: WorldKey) => gathered(readBundleWorld(context, key));
/** Gathers for a Graph. */
export const gatherGraph = (context: ReadContext, key: WorldKey) => gathered(readGraphWorld(context, key));
/** Gathers for a Pipeline. */
export const gatherPipeline = (context: ReadContext, key: WorldKey) => gathered(readPipelineWorld(context, key));
/** Gathers for a PromotionStep. */
export const gatherStep = (context: ReadContext, cluster: ClusterReader, key: WorldKey) => gathered(readStepWorld(context, cluster, key));
