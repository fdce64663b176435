/** Why a Pipeline stands where it stands: the very decisions that drive a promotion, read instead of carried out. */
import type { Bundle, BundlePhase } from '../../api/kinds/bundle.ts';
import type { GraphNode } from '../../api/kinds/graph.ts';
import type { Pipeline } from '../../api/kinds/pipeline.ts';
import type { PromotionStepStatus, StepRecord, StepState } from '../../api/kinds/promotion-step.ts';
import type { Reason } from '../../api/outcome.ts';
import { decideBundle } from '../bundle/decide.ts';
import { isFinished, phaseOf } from '../bundle/phases.ts';
import type { BundleWorld } from '../bundle/world.ts';
import type { Decision } from '../effect.ts';
import { decideGraph, whyNotStarted } from '../graph/decide.ts';
import type { GraphWorld } from '../graph/world.ts';
import { decideStep } from '../step/decide.ts';
import { landedCommit } from '../step/landed-commit.ts';
import { isEnded, isFailed, stateOf } from '../step/states.ts';
import type { StepWorld } from '../step/world.ts';
import { fromTimestamp, toTimestamp } from '../time.ts';

/** All that an explanation depends on. */
export interface ExplainWorld {
  readonly pipeline: Pipeline;
  /** Absent when the Pipeline has no Bundle. */
  readonly bundle: BundleWorld | undefined;
  readonly graph: GraphWorld | undefined;
  readonly steps: readonly StepWorld[];
}

/** One environment. */
export interface EnvironmentExplanation {
  readonly name: string;
  readonly state: StepState;
  /** What it waits for, or how it ended. */
  readonly reason: Reason;
  /** Since when it has been in that state. */
  readonly since?: string;
  /** When it is looked at again at the latest. */
  readonly until?: string;
  /** Commit on the target branch. */
  readonly commit?: string;
  readonly steps: readonly StepRecord[];
}

/** Where a Pipeline stands. */
export interface Explanation {
  readonly pipeline: string;
  readonly namespace: string;
  readonly bundle?: { readonly name: string; readonly version: string; readonly phase: BundlePhase; readonly reason: Reason };
  readonly environments: readonly EnvironmentExplanation[];
  /** One sentence: the gist. */
  readonly result: string;
}

/** The word for why it failed is in the arrow that led there; the decision about a step that has ended knows only that it has. */
const whyFailed = (status: Pick<PromotionStepStatus, 'state' | 'transitions'> | undefined): string | undefined =>
  isFailed(stateOf(status)) ? status?.transitions?.at(-1)?.reason : undefined;

const explainStep = (world: StepWorld, now: number): EnvironmentExplanation => {
  const { status, spec } = world.step;
  const decision = decideStep(world, now);
  const last = status?.transitions?.at(-1)?.at;
  const commit = landedCommit(status);
  return {
    name: spec?.environment ?? '',
    state: stateOf(status),
    reason: { code: whyFailed(status) ?? decision.reason.code, message: decision.reason.message || (status?.message ?? '') },
    ...(last === undefined ? {} : { since: last }),
    ...(decision.lookAgainAt === undefined ? {} : { until: toTimestamp(decision.lookAgainAt) }),
    ...(commit === undefined ? {} : { commit }),
    steps: status?.steps ?? [],
  };
};

/** Whether the Graph's decision creates the PromotionStep of the environment. */
const starts = ({ writes }: Decision, environment: string): boolean =>
  writes.some(
    (write) => write.kind === 'CreateResource' && write.object.kind === 'PromotionStep' && write.object.spec?.environment === environment,
  );

const STARTING: Reason = { code: 'Starting', message: 'its promotion is about to start' };

/** An environment without a PromotionStep; with nothing in its way it starts, unless the Graph as a whole does not. */
const explainNode = (world: GraphWorld, node: GraphNode, decision: Decision): EnvironmentExplanation => ({
  name: node.environment,
  state: 'Pending',
  reason: whyNotStarted(world, node) ?? (starts(decision, node.environment) ? STARTING : decision.reason),
  steps: [],
});

const explainKept = (bundle: Bundle): EnvironmentExplanation[] =>
  (bundle.status?.environments ?? []).map((kept) => {
    const last = kept.transitions.at(-1)?.at;
    return {
      name: kept.name,
      state: stateOf({ state: kept.state }),
      reason: { code: whyFailed(kept) ?? kept.state, message: kept.message },
      ...(last === undefined ? {} : { since: last }),
      ...(kept.commit === undefined ? {} : { commit: kept.commit }),
      steps: [],
    };
  });

const explainEnvironments = (world: ExplainWorld, bundle: Bundle, now: number): readonly EnvironmentExplanation[] => {
  const steps = new Map(world.steps.map((step) => [step.step.spec?.environment ?? '', step]));
  const { graph } = world;
  if (graph === undefined) return explainKept(bundle);
  const decision = decideGraph(graph, now);
  return (graph.graph.spec?.nodes ?? [])
    .filter((node) => node.kind === 'PromotionStep')
    .map((node) => {
      const step = steps.get(node.environment);
      return step ? explainStep(step, now) : explainNode(graph, node, decision);
    });
};

const sinceText = (environment: EnvironmentExplanation, now: number): string => {
  const since = fromTimestamp(environment.since);
  return since === undefined ? '' : `, ${environment.state} for ${Math.max(0, Math.round((now - since) / 1000))}s`;
};

const resultOf = (environments: readonly EnvironmentExplanation[], bundle: Bundle, reason: Reason, now: number): string => {
  const version = bundle.status?.version ?? bundle.metadata.name;
  const phase = phaseOf(bundle.status);
  if (isFinished(bundle.status)) return `${version} is ${phase}: ${reason.message}`;
  if (phase !== 'Promoting') return `${version} is held before its first environment: ${reason.message}`;
  const failed = environments.find((environment) => isFailed(environment.state));
  if (failed) return `${version} failed in ${failed.name}: ${failed.reason.message}`;
  const active = environments.find((environment) => !isEnded(environment.state));
  if (active) return `${version} waits at ${active.name}${sinceText(active, now)}: ${active.reason.message}`;
  return `${version} is ${phase}: ${reason.message}`;
};

/** Why there is nothing to say about an environment. */
const offTheWay = (pipeline: Pipeline, environment: string): string => {
  const names = (pipeline.spec?.environments ?? []).map((candidate) => candidate.name ?? '');
  if (names.includes(environment)) return `${environment} is not on the way of this Bundle: it is skipped, or lies beyond its target`;
  return `Pipeline ${pipeline.metadata.name} has no environment ${environment}; it has ${names.join(', ')}`;
};

/** Explains a Pipeline's newest Bundle, in one environment or in all. */
export const explain = (world: ExplainWorld, now: number, environment?: string): Explanation => {
  const { metadata } = world.pipeline;
  const place = { pipeline: metadata.name, namespace: metadata.namespace ?? 'default' };
  if (world.bundle === undefined) {
    return {
      ...place,
      environments: [],
      result: `Pipeline ${metadata.name} has no Bundle yet; create one with: promoter create bundle ${metadata.name} --image REPOSITORY:TAG`,
    };
  }
  const { bundle } = world.bundle;
  const decision = decideBundle(world.bundle, now);
  const all = explainEnvironments(world, bundle, now);
  const environments = all.filter((candidate) => environment === undefined || candidate.name === environment);
  return {
    ...place,
    bundle: { name: bundle.metadata.name, version: bundle.status?.version ?? '', phase: phaseOf(bundle.status), reason: decision.reason },
    environments,
    result:
      environments.length === 0 && environment !== undefined
        ? offTheWay(world.pipeline, environment)
        : resultOf(environments, bundle, decision.reason, now),
  };
};
