/** The decision about one PromotionStep. */
import type { Image } from '../../api/kinds/bundle.ts';
import type { Environment, Pipeline } from '../../api/kinds/pipeline.ts';
import type { PromotionStep, PromotionStepStatus } from '../../api/kinds/promotion-step.ts';
import { type Reason, transient } from '../../api/outcome.ts';
import { resolveEnvironment } from '../../api/resolve.ts';
import { type AuditState, startedName, stepAudits } from '../audit/due.ts';
import { isFinished, phaseOf } from '../bundle/phases.ts';
import type { Decision, ResourceEffect } from '../effect.ts';
import { equal } from '../equal.ts';
import { whyNotStarted } from '../graph/decide.ts';
import { advanceHealth } from '../health/advance.ts';
import { observe } from '../health/observe.ts';
import { healthTarget } from '../health/target.ts';
import { fromTimestamp } from '../time.ts';
import { ACTIVITY_STEPS } from './builtin/table.ts';
import { holdsWrite } from './holds.ts';
import { abort, currentIndex, enter, fail, freshRecord, succeed } from './progress.ts';
import { type Run, runOf } from './run.ts';
import { runnable, sequenceOf, unsupportedBy } from './sequence.ts';
import { isEnded, moveState, stateOf } from './states.ts';
import type { StepWorld } from './world.ts';

const wait = (reason: Reason, lookAgainAt?: number): Decision => ({
  writes: [],
  reason,
  ...(lookAgainAt === undefined ? {} : { lookAgainAt }),
});

const write = (step: PromotionStep, status: PromotionStepStatus, reason: Reason, lookAgainAt?: number): Decision => {
  const next = { ...status, observedGeneration: step.metadata.generation ?? 1 };
  const writes: ResourceEffect[] = equal(step.status ?? {}, next) ? [] : [{ kind: 'UpdateStatus', object: { ...step, status: next } }];
  return { writes, reason, ...(lookAgainAt === undefined ? {} : { lookAgainAt }) };
};

const environmentOf = (world: StepWorld): Environment | undefined =>
  world.pipeline?.spec?.environments?.find((candidate) => candidate.name === world.step.spec?.environment);

/** What the promotion starts with is written down before anything else; what cannot be done fails here, before anything is written outside. */
const begin = (world: StepWorld, begun: PromotionStepStatus, now: number): Decision => {
  const { step, bundle } = world;
  const { git = {}, environment = {} } = begun.started ?? {};
  const resolved = resolveEnvironment(git, environment, step.metadata.namespace ?? 'default');
  const refused = unsupportedBy(resolved, bundle);
  if (refused) return write(step, moveState(begun, 'Failed', refused, now), refused);
  const sequence = sequenceOf(resolved, bundle?.spec?.type ?? 'image');
  const reason = { code: 'Promoting', message: `${sequence[0] ?? ''} is next` };
  const fresh = { ...begun, steps: sequence.map(freshRecord) };
  const promoting = stateOf(begun) === 'Promoting' ? fresh : moveState(fresh, 'Promoting', reason, now);
  return write(step, enter(promoting, 0, now), reason);
};

/** Pending → Promoting. */
const start = (world: StepWorld, pipeline: Pipeline, now: number): Decision => {
  const { step, bundle } = world;
  const name = step.spec?.environment ?? '';
  const environment = environmentOf(world);
  if (environment === undefined || bundle === undefined) {
    return wait({ code: 'EnvironmentGone', message: `Pipeline ${pipeline.metadata.name} has no environment ${name} any more` });
  }
  const attempt = step.status?.attempt ?? 1;
  const repeated = world.audits.has(startedName(bundle, name, attempt));
  const started = { git: pipeline.spec?.git ?? {}, environment, ...(repeated ? { repeated } : {}) };
  return begin(world, { ...step.status, attempt, started }, now);
};

/**
 * A promotion that has not reached its repository yet follows the Pipeline: it has done nothing, and what keeps it from its start (an address, a
 * branch, a credential) is what people correct there. Undefined when there is nothing to follow.
 */
const followPipeline = (world: StepWorld, now: number): Decision | undefined => {
  const status = world.step.status ?? {};
  const { started } = status;
  const environment = environmentOf(world);
  const untouched = started?.historyBase === undefined && !started?.repeated && status.steps?.[0]?.state === 'Failed';
  if (!untouched || environment === undefined) return undefined;
  const git = world.pipeline?.spec?.git ?? {};
  if (equal(started?.git, git) && equal(started?.environment, environment)) return undefined;
  return begin(world, { ...status, started: { git, environment } }, now);
};

/** Why a step that exists may not start yet: what was true when it was created need not be true any more. */
const whyNotYet = (world: StepWorld): Reason | undefined => {
  const held = holdsWrite(world);
  if (held) return held;
  const name = world.step.spec?.environment ?? '';
  const node = world.graph?.graph.spec?.nodes.find((candidate) => candidate.environment === name && candidate.kind === 'PromotionStep');
  if (world.graph === undefined || node === undefined) {
    return { code: 'EnvironmentGone', message: `the Graph has no environment ${name} any more` };
  }
  return whyNotStarted(world.graph, node);
};

const imagesOf = (run: Run): readonly Image[] => run.bundle.spec?.images ?? [];

const checkHealth = (world: StepWorld, run: Run, index: number, now: number): Decision => {
  const { step } = world;
  const status = step.status ?? {};
  const workloads = world.workloads ?? transient('NotRead', 'health has not been read yet');
  const target = healthTarget(run.environment, run.bundle.spec?.pipeline ?? '');
  const rules = { target, bake: run.environment.bake, observingSince: world.observingSince };
  const { record, verdict, reason } = advanceHealth(status.health ?? {}, observe(workloads, target, imagesOf(run)), rules, now);
  const next = { ...status, health: record, reason: record.reason ?? reason.code, message: record.message ?? reason.message };
  switch (verdict.verdict) {
    case 'wait':
      return write(step, next, reason, verdict.lookAgainAt);
    case 'verified': {
      const proof = record.proven ? '' : ' (unproven: nothing shows which version is healthy)';
      return write(step, succeed(next, index, { message: `${reason.message}${proof}`, outputs: {} }, now), reason);
    }
    case 'failed':
      return write(step, fail(next, index, reason, now), reason);
    case 'alarm': {
      const alarm = { code: 'HealthAlarm', message: `health alarm in the bake: ${reason.message}` };
      if (run.environment.onHealthFailure === 'abort') return write(step, abort(next, index, alarm, now), alarm);
      return write(step, fail(next, index, alarm, now), alarm);
    }
  }
};

/**
 * There is no record to go on with. All have succeeded: the end was not written. There are none: they were lost, and the sequence starts over,
 * which the search for the run's own commit makes safe.
 */
const resume = (world: StepWorld, run: Run, now: number): Decision => {
  const { step } = world;
  const status = step.status ?? {};
  const reason = { code: 'Resumed', message: 'the records of its steps were lost or complete; it goes on from what there is' };
  if (status.steps?.length) return write(step, enter(status, status.steps.length, now), reason);
  const { historyBase: _, ...started } = status.started ?? {};
  const sequence = sequenceOf(run.environment, run.bundle.spec?.type ?? 'image');
  const begun = { ...status, outputs: {}, started: { ...started, repeated: true }, steps: sequence.map(freshRecord) };
  return write(step, enter(begun, 0, now), reason);
};

const advance = (world: StepWorld, run: Run, now: number): Decision => {
  const { step } = world;
  const index = currentIndex(step.status);
  const record = step.status?.steps?.[index];
  if (record === undefined) return resume(world, run, now);
  const name = runnable(record.name);
  if (name === undefined) {
    const reason = { code: 'Unsupported', message: `step ${record.name} is not available in this version` };
    return write(step, fail(step.status ?? {}, index, reason, now), reason);
  }
  if (name === 'health-check') return checkHealth(world, run, index, now);
  const held = holdsWrite(world);
  if (held) return wait(held);
  const followed = followPipeline(world, now);
  if (followed) return followed;
  const nextTry = fromTimestamp(record.nextTryAt);
  if (nextTry !== undefined && nextTry > now) {
    return wait({ code: record.reason ?? 'Retrying', message: record.message ?? '' }, nextTry);
  }
  const activity = ACTIVITY_STEPS[name]({ run, index, outputs: step.status?.outputs ?? {} });
  return { writes: [], activity, reason: { code: 'Running', message: `${name} is running` } };
};

const decideNext = (world: StepWorld, now: number): Decision => {
  const { step, bundle, pipeline } = world;
  const state = stateOf(step.status);
  if (isEnded(state)) return wait({ code: state, message: step.status?.message ?? '' });
  if (bundle === undefined) return wait({ code: 'BundleGone', message: `Bundle ${step.spec?.bundle ?? ''} does not exist any more` });
  if (state === 'Pending') {
    const held = whyNotYet(world);
    if (held) return wait(held);
    if (pipeline === undefined)
      return wait({ code: 'PipelineGone', message: `Pipeline ${step.spec?.pipeline ?? ''} does not exist any more` });
    return start(world, pipeline, now);
  }
  const run = runOf(step, bundle);
  if (run === undefined) return wait({ code: 'NotStarted', message: 'what the promotion started with is not recorded' });
  // A Bundle that has ended leaves its steps where they are.
  if (isFinished(bundle.status))
    return wait({ code: `Bundle${phaseOf(bundle.status)}`, message: `its Bundle is ${phaseOf(bundle.status)}` });
  return advance(world, run, now);
};

/** What to do about a PromotionStep now. */
export const decideStep = (world: StepWorld, now: number): Decision => {
  const { step, bundle } = world;
  if (step.metadata.deletionTimestamp !== undefined) return wait({ code: 'Deleting', message: 'the PromotionStep is being deleted' });
  const decision = decideNext(world, now);
  if (bundle === undefined) return decision;
  const state: AuditState = { existing: world.audits, retentionMs: world.auditRetentionMs, now };
  const next = decision.writes.find((effect) => effect.kind === 'UpdateStatus' && effect.object.kind === 'PromotionStep');
  const after = next?.kind === 'UpdateStatus' && next.object.kind === 'PromotionStep' ? next.object : step;
  return {
    ...decision,
    writes: [...decision.writes, ...stepAudits(bundle, step.spec?.environment ?? '', after.status?.transitions, state)],
  };
};
