/** The decision about one Bundle: its place in the order, its Graph, its phase. */
import type { Bundle, BundleStatus } from '../../api/kinds/bundle.ts';
import type { Graph } from '../../api/kinds/graph.ts';
import type { Pipeline } from '../../api/kinds/pipeline.ts';
import type { PromotionStep } from '../../api/kinds/promotion-step.ts';
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

const supersede = (world: BundleWorld, newer: Bundle, now: number): Decision => {
  const { bundle } = world;
  const version = newer.status?.version ?? newer.metadata.name;
  const reason = { code: 'Superseded', message: `superseded by Bundle ${newer.metadata.name} (${version})` };
  const kept = { ...baseStatus(bundle), environments: mergeRecords(bundle.status?.environments, world.steps) };
  const status = ready(movePhase(kept, 'Superseded', reason, now), 'False', reason, momentOf(world, now));
  return { writes: write(bundle, status), reason };
};

/** Nothing is promoted any more: keep the records up to date, and let a superseded Bundle's Graph go. */
const finished = (world: BundleWorld): Decision => {
  const { bundle, graph } = world;
  const phase = phaseOf(bundle.status);
  const environments = mergeRecords(bundle.status?.environments, world.steps);
  const reason = { code: phase, message: bundle.status?.transitions?.at(-1)?.message ?? `the Bundle is ${phase}` };
  const changed = environments.length > 0 ? write(bundle, { ...bundle.status, environments }) : [];
  if (changed.length > 0) return { writes: changed, reason };
  if (phase !== 'Superseded' || graph === undefined) return { writes: [], reason };
  const ref = { kind: 'Graph', namespace: graph.metadata.namespace ?? 'default', name: graph.metadata.name } as const;
  return { writes: [{ kind: 'DeleteResource', ref, uid: graph.metadata.uid ?? '' }], reason };
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

const progress = (world: BundleWorld, now: number): Decision => {
  const { bundle, graph, steps } = world;
  const environments = (graph?.spec?.nodes ?? []).filter((node) => node.kind === 'PromotionStep').map((node) => node.environment);
  const states = new Map(steps.map((step) => [step.spec?.environment, stateOf(step.status)]));
  const failed = steps.filter((step) => isFailed(stateOf(step.status)));
  const kept = { ...baseStatus(bundle), environments: mergeRecords(bundle.status?.environments, steps) };
  if (failed.length > 0) {
    const names = failed.map((step) => step.spec?.environment).join(', ');
    const reason = { code: 'PromotionFailed', message: `${names} failed: ${failed[0]?.status?.message ?? ''}` };
    if (isFlying(world)) return hold(world, { ...reason, message: `${reason.message}; what is in flight ends first` }, now);
    return { writes: write(bundle, ready(movePhase(kept, 'Failed', reason, now), 'False', reason, momentOf(world, now))), reason };
  }
  if (environments.length > 0 && environments.every((name) => states.get(name) === 'Verified')) {
    const reason = { code: 'Verified', message: `Verified in ${environments.join(', ')}` };
    return { writes: write(bundle, ready(movePhase(kept, 'Verified', reason, now), 'True', reason, momentOf(world, now))), reason };
  }
  return wait('Promoting', 'promotion is under way');
};

const UNPLANNED: Reason = { code: 'Unplanned', message: 'the Bundle cannot be planned' };

const planning = (object: Graph): Decision => ({
  writes: [{ kind: 'CreateResource', object }],
  reason: { code: 'Planning', message: 'the Graph is being made' },
});

/** Steps that have started and not ended. */
const flyingOf = (world: BundleWorld): readonly PromotionStep[] =>
  world.steps.filter((step) => stateOf(step.status) !== 'Pending' && !isEnded(stateOf(step.status)));

const isFlying = (world: BundleWorld): boolean => flyingOf(world).length > 0;

const promote = (world: BundleWorld, pipeline: Pipeline, now: number): Decision => {
  const { bundle, graph } = world;
  const denied = phaseOf(bundle.status) === 'Available' ? deniedSkip(world) : undefined;
  if (denied) {
    return {
      writes: write(bundle, ready(movePhase(baseStatus(bundle), 'SkipDenied', denied, now), 'False', denied, momentOf(world, now))),
      reason: denied,
    };
  }
  const wanted = graphFor(world, pipeline);
  if (world.graphTaken) {
    return hold(
      world,
      { code: 'GraphTaken', message: `a Graph that is not this Bundle's is named ${bundle.metadata.name}; delete it` },
      now,
    );
  }
  if (graph === undefined) return wanted.graph ? planning(wanted.graph) : hold(world, wanted.refused ?? UNPLANNED, now);
  if (wanted.graph?.spec && !equal(graph.spec, wanted.graph.spec)) {
    const object: Graph = { ...graph, spec: wanted.graph.spec };
    return { writes: [{ kind: 'UpdateResource', object }], reason: { code: 'Planning', message: 'the Graph follows the Pipeline' } };
  }
  if (wanted.refused && !isFlying(world)) return hold(world, wanted.refused, now);
  const accepted = conditionOf(graph.status?.conditions, 'Accepted');
  if (accepted === undefined) return wait('Planning', 'the Graph has not been checked yet');
  if (accepted.status !== 'True') return hold(world, { code: accepted.reason, message: accepted.message }, now);
  if (phaseOf(bundle.status) === 'Promoting') return progress(world, now);
  const reason = { code: 'Promoting', message: `promoting ${bundle.status?.version ?? ''} along Pipeline ${pipeline.metadata.name}` };
  return {
    writes: write(bundle, ready(movePhase(baseStatus(bundle), 'Promoting', reason, now), 'False', reason, momentOf(world, now))),
    reason,
  };
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
