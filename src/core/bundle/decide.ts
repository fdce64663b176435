/** The decision about one Bundle: its place in the order, its Graph, its phase. */
import type { Bundle, BundlePhase, BundleStatus } from '../../api/kinds/bundle.ts';
import type { Graph } from '../../api/kinds/graph.ts';
import type { Pipeline } from '../../api/kinds/pipeline.ts';
import { bundleVersion } from '../../api/names.ts';
import type { Reason } from '../../api/outcome.ts';
import { type AuditState, bundleAudits } from '../audit/due.ts';
import { conditionOf, withCondition } from '../conditions.ts';
import type { Decision, ResourceEffect } from '../effect.ts';
import { equal } from '../equal.ts';
import { orgGates } from '../gate/applies.ts';
import { PIPELINE_LABEL } from '../labels.ts';
import { isEnded, isFailed, stateOf } from '../step/states.ts';
import { graphFor } from './graph-for.ts';
import { skipsOf } from './intent.ts';
import { belongs, highestSequence, isPlace, refusedPlace, supersededBy, unordered } from './order.ts';
import { isFinished, movePhase, phaseOf } from './phases.ts';
import { mergeRecords } from './records.ts';
import type { BundleWorld } from './world.ts';

const wait = (code: string, message: string, writes: readonly ResourceEffect[] = []): Decision => ({ writes, reason: { code, message } });

/** The write of a status, when it says something new. */
const write = (bundle: Bundle, status: BundleStatus): ResourceEffect[] =>
  equal(bundle.status ?? {}, status) ? [] : [{ kind: 'UpdateStatus', object: { ...bundle, status } }];

/** The status with the condition Ready. */
const ready = (status: BundleStatus, value: 'True' | 'False', reason: Reason, at: Moment): BundleStatus => ({
  ...status,
  observedGeneration: at.generation,
  conditions: withCondition(status.conditions, { type: 'Ready', status: value, reason, generation: at.generation }, at.now),
});

interface Moment {
  readonly generation: number;
  readonly now: number;
}

const momentOf = (world: BundleWorld, now: number): Moment => ({ generation: world.bundle.metadata.generation ?? 1, now });

const baseStatus = (bundle: Bundle): BundleStatus => ({
  ...bundle.status,
  phase: phaseOf(bundle.status),
  version: bundleVersion(bundle.spec ?? {}),
});

/** Stays as it is, with a condition that says why. */
const hold = (world: BundleWorld, reason: Reason, now: number): Decision => ({
  writes: write(world.bundle, ready(baseStatus(world.bundle), 'False', reason, momentOf(world, now))),
  reason,
});

/** Why the controller does not act on the Bundle at all (spec, "Bundle has no matching Pipeline"). */
const ignored = (world: BundleWorld): Reason | undefined => {
  const { bundle, pipeline } = world;
  const label = bundle.metadata.labels?.[PIPELINE_LABEL];
  const wanted = bundle.spec?.pipeline ?? '';
  if (label === undefined) {
    return { code: 'LabelMissing', message: `the label ${PIPELINE_LABEL} is missing; set it to ${JSON.stringify(wanted)}` };
  }
  if (!belongs(bundle)) {
    return {
      code: 'LabelMismatch',
      message: `the label ${PIPELINE_LABEL} is ${JSON.stringify(label)}, but spec.pipeline is ${JSON.stringify(wanted)}; they must be equal`,
    };
  }
  if (pipeline === undefined) {
    return {
      code: 'NoMatchingPipeline',
      message: `there is no Pipeline ${JSON.stringify(wanted)} in namespace ${bundle.metadata.namespace ?? 'default'}; promotion starts when it is created`,
    };
  }
  return undefined;
};

/** Takes the next place: first from the Pipeline, by compare-and-swap, then into the Bundle. A crash in between leaves a gap, never a double. */
const takePlace = (world: BundleWorld, pipeline: Pipeline, now: number): Decision => {
  const first = unordered(world.siblings)[0];
  if (first && first.metadata.uid !== world.bundle.metadata.uid) {
    return wait('WaitingForOrder', `Bundle ${first.metadata.name} is older and takes its place first`);
  }
  const last = pipeline.status?.lastSequence;
  const sequence = Math.max(isPlace(last) ? last : 0, highestSequence(world.siblings)) + 1;
  const reason = { code: 'Ordered', message: `place ${sequence} in the order of Pipeline ${pipeline.metadata.name}` };
  return {
    writes: [
      { kind: 'UpdateStatus', object: { ...pipeline, status: { ...pipeline.status, lastSequence: sequence } } },
      ...write(world.bundle, { ...ready(baseStatus(world.bundle), 'False', reason, momentOf(world, now)), sequence }),
    ],
    reason,
  };
};

/** Moves to another phase, with the environments' records as they stand. */
const moveTo = (world: BundleWorld, phase: BundlePhase, reason: Reason, now: number): Decision => {
  const { bundle, steps } = world;
  const environments = mergeRecords(bundle.status?.environments, steps);
  const kept = { ...baseStatus(bundle), ...(environments.length > 0 ? { environments } : {}) };
  const moved = movePhase(kept, phase, reason, now);
  return { writes: write(bundle, ready(moved, phase === 'Verified' ? 'True' : 'False', reason, momentOf(world, now))), reason };
};

const supersede = (world: BundleWorld, newer: Bundle, now: number): Decision => {
  const version = newer.status?.version ?? newer.metadata.name;
  return moveTo(world, 'Superseded', { code: 'Superseded', message: `superseded by Bundle ${newer.metadata.name} (${version})` }, now);
};

/**
 * Nothing is promoted any more: keep the records up to date, and let a superseded Bundle's Graph go. Both in one pass, the records first: nobody looks
 * again at what has ended because of its own write.
 */
const finished = (world: BundleWorld): Decision => {
  const { bundle, graph } = world;
  const phase = phaseOf(bundle.status);
  const environments = mergeRecords(bundle.status?.environments, world.steps);
  const reason = { code: phase, message: bundle.status?.transitions?.at(-1)?.message ?? `the Bundle is ${phase}` };
  const changed = environments.length > 0 ? write(bundle, { ...bundle.status, environments }) : [];
  if (phase !== 'Superseded' || graph === undefined) return { writes: changed, reason };
  const ref = { kind: 'Graph', namespace: graph.metadata.namespace ?? 'default', name: graph.metadata.name } as const;
  return { writes: [...changed, { kind: 'DeleteResource', ref, uid: graph.metadata.uid ?? '' }], reason };
};

/** Skipping an environment with org gates needs a permission, which nothing in this version can grant. */
const deniedSkip = (world: BundleWorld): Reason | undefined => {
  const denied = skipsOf(world.bundle).filter((environment) => orgGates(world.gates, environment).length > 0);
  if (denied.length === 0) return undefined;
  const gates = denied.flatMap((environment) => orgGates(world.gates, environment)).map((gate) => gate.metadata.name);
  return {
    code: 'SkipDenied',
    message: `skipping ${denied.join(', ')} is denied: org gates ${[...new Set(gates)].join(', ')} apply, and this version evaluates no skip-permission gate in ${world.gates.policyNamespace} that could permit it`,
  };
};

const underWay = (world: BundleWorld, pipeline: Pipeline): Reason => ({
  code: 'Promoting',
  message: `promoting ${world.bundle.status?.version ?? ''} along Pipeline ${pipeline.metadata.name}`,
});

/** Steps that have started and not ended. */
const isFlying = (world: BundleWorld): boolean =>
  world.steps.some((step) => stateOf(step.status) !== 'Pending' && !isEnded(stateOf(step.status)));

const progress = (world: BundleWorld, pipeline: Pipeline, now: number): Decision => {
  const { graph, steps } = world;
  const environments = (graph?.spec?.nodes ?? []).filter((node) => node.kind === 'PromotionStep').map((node) => node.environment);
  const states = new Map(steps.map((step) => [step.spec?.environment, stateOf(step.status)]));
  const failed = steps.filter((step) => isFailed(stateOf(step.status)));
  if (failed.length > 0) {
    const names = failed.map((step) => step.spec?.environment).join(', ');
    const reason = { code: 'PromotionFailed', message: `${names} failed: ${failed[0]?.status?.message ?? ''}` };
    if (isFlying(world)) return hold(world, { ...reason, message: `${reason.message}; what is in flight ends first` }, now);
    return moveTo(world, 'Failed', reason, now);
  }
  if (environments.length > 0 && environments.every((name) => states.get(name) === 'Verified')) {
    return moveTo(world, 'Verified', { code: 'Verified', message: `Verified in ${environments.join(', ')}` }, now);
  }
  return hold(world, underWay(world, pipeline), now);
};

/** Makes the Graph, or lets it follow the Pipeline; undefined when it is as it shall be. */
const plan = (world: BundleWorld, pipeline: Pipeline, now: number): Decision | undefined => {
  const { bundle, graph } = world;
  if (world.graphTaken) {
    const message = `a Graph that is not this Bundle's is named ${bundle.metadata.name}; delete it`;
    return hold(world, { code: 'GraphTaken', message }, now);
  }
  const wanted = graphFor(world, pipeline);
  if (graph === undefined) {
    if (wanted.graph === undefined)
      return hold(world, wanted.refused ?? { code: 'Unplanned', message: 'the Bundle cannot be planned' }, now);
    return wait('Planning', 'the Graph is being made', [{ kind: 'CreateResource', object: wanted.graph }]);
  }
  if (wanted.graph?.spec && !equal(graph.spec, wanted.graph.spec)) {
    const object: Graph = { ...graph, spec: wanted.graph.spec };
    return wait('Planning', 'the Graph follows the Pipeline', [{ kind: 'UpdateResource', object }]);
  }
  return wanted.refused && !isFlying(world) ? hold(world, wanted.refused, now) : undefined;
};

/** Waits until the Graph was checked, and says what is wrong with it; undefined when it is accepted. */
const awaitAcceptance = (world: BundleWorld, now: number): Decision | undefined => {
  const accepted = conditionOf(world.graph?.status?.conditions, 'Accepted');
  if (accepted === undefined) return wait('Planning', 'the Graph has not been checked yet');
  return accepted.status === 'True' ? undefined : hold(world, { code: accepted.reason, message: accepted.message }, now);
};

const promote = (world: BundleWorld, pipeline: Pipeline, now: number): Decision => {
  const available = phaseOf(world.bundle.status) === 'Available';
  const denied = available ? deniedSkip(world) : undefined;
  if (denied) return moveTo(world, 'SkipDenied', denied, now);
  const held = plan(world, pipeline, now) ?? awaitAcceptance(world, now);
  if (held) return held;
  return available ? moveTo(world, 'Promoting', underWay(world, pipeline), now) : progress(world, pipeline, now);
};

const decideNext = (world: BundleWorld, now: number): Decision => {
  const { bundle, pipeline } = world;
  if (isFinished(bundle.status)) return finished(world);
  const why = ignored(world);
  if (why !== undefined) return hold(world, why, now);
  if (pipeline === undefined) return wait('NoMatchingPipeline', 'there is no Pipeline');
  if (bundle.status?.sequence === undefined) {
    const refused = refusedPlace(bundle, world.siblings);
    return refused ? hold(world, refused, now) : takePlace(world, pipeline, now);
  }
  const unplaced = unordered(world.siblings)[0];
  if (unplaced) return wait('WaitingForOrder', `Bundle ${unplaced.metadata.name} has no place in the order yet`);
  const newer = supersededBy(bundle, world.siblings);
  if (newer) return supersede(world, newer, now);
  return promote(world, pipeline, now);
};

/** What to do about a Bundle now. */
export const decideBundle = (world: BundleWorld, now: number): Decision => {
  if (world.bundle.metadata.deletionTimestamp !== undefined) return wait('Deleting', 'the Bundle is being deleted');
  const state: AuditState = { existing: world.audits, retentionMs: world.auditRetentionMs, now };
  const decision = decideNext(world, now);
  // Events follow what is persisted: those of this pass's transition are made once its write is durable, in this same pass.
  const next = decision.writes.find((effect) => effect.kind === 'UpdateStatus' && effect.object.kind === 'Bundle');
  const after = next?.kind === 'UpdateStatus' && next.object.kind === 'Bundle' ? next.object : world.bundle;
  return { ...decision, writes: [...decision.writes, ...bundleAudits(after, state)] };
};
