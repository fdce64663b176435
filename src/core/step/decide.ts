/** The decision about one PromotionStep. */
import type { Image } from '../../api/kinds/bundle.ts';
import type { Pipeline } from '../../api/kinds/pipeline.ts';
import type { PromotionStep, PromotionStepStatus } from '../../api/kinds/promotion-step.ts';
import type { Reason } from '../../api/outcome.ts';
import { resolveEnvironment } from '../../api/resolve.ts';
import { type AuditState, stepAudits } from '../audit/due.ts';
import type { Decision, ResourceEffect } from '../effect.ts';
import { equal } from '../equal.ts';
import { advanceHealth } from '../health/advance.ts';
import { observe } from '../health/observe.ts';
import { healthTarget } from '../health/target.ts';
import { fromTimestamp } from '../time.ts';
import { ACTIVITY_STEPS } from './builtin/table.ts';
import { holdsWrite } from './holds.ts';
import { currentIndex, fail, freshRecord, succeed } from './progress.ts';
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

/** Pending → Promoting: what the promotion starts with is written down before anything else. */
const start = (world: StepWorld, pipeline: Pipeline, now: number): Decision => {
  const { step, bundle } = world;
  const name = step.spec?.environment ?? '';
  const environment = pipeline.spec?.environments?.find((candidate) => candidate.name === name);
  if (environment === undefined) {
    return wait({ code: 'EnvironmentGone', message: `Pipeline ${pipeline.metadata.name} has no environment ${name} any more` });
  }
  const git = pipeline.spec?.git ?? {};
  const resolved = resolveEnvironment(git, environment, step.metadata.namespace ?? 'default');
  const sequence = sequenceOf(resolved, bundle?.spec?.type ?? 'image');
  const begun: PromotionStepStatus = { ...step.status, attempt: step.status?.attempt ?? 1, started: { git, environment } };
  const refused = unsupportedBy(resolved, bundle);
  if (refused) return write(step, moveState(begun, 'Failed', refused, now), refused);
  const reason = { code: 'Promoting', message: `${sequence[0] ?? ''} is next` };
  return write(step, moveState({ ...begun, steps: sequence.map(freshRecord) }, 'Promoting', reason, now), reason);
};

const imagesOf = (run: Run): readonly Image[] => run.bundle.spec?.images ?? [];

const checkHealth = (world: StepWorld, run: Run, index: number, now: number): Decision => {
  const { step, workloads } = world;
  const status = step.status ?? {};
  const target = healthTarget(run.environment, run.bundle.spec?.pipeline ?? '');
  if (workloads === undefined) return wait({ code: 'HealthChecking', message: 'health has not been read yet' }, now + 1000);
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
    case 'timeout':
      return write(step, fail(next, index, reason, now), reason);
    case 'alarm': {
      const alarm = { code: 'HealthAlarm', message: `health alarm in the bake: ${reason.message}` };
      if (run.environment.onHealthFailure === 'abort') return write(step, moveState(next, 'AbortedByAlarm', alarm, now), alarm);
      return write(step, fail(next, index, alarm, now), alarm);
    }
  }
};

const advance = (world: StepWorld, run: Run, now: number): Decision => {
  const { step } = world;
  const index = currentIndex(step.status);
  const record = step.status?.steps?.[index];
  if (record === undefined) return wait({ code: 'Done', message: 'all steps have succeeded' });
  const name = runnable(record.name);
  if (name === undefined) {
    const reason = { code: 'Unsupported', message: `step ${record.name} is not available in this version` };
    return write(step, fail(step.status ?? {}, index, reason, now), reason);
  }
  if (name === 'health-check') return checkHealth(world, run, index, now);
  const held = holdsWrite(world);
  if (held) return wait(held);
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
    const held = holdsWrite(world);
    if (held) return wait(held);
    if (pipeline === undefined)
      return wait({ code: 'PipelineGone', message: `Pipeline ${step.spec?.pipeline ?? ''} does not exist any more` });
    return start(world, pipeline, now);
  }
  const run = runOf(step, bundle);
  if (run === undefined) return wait({ code: 'NotStarted', message: 'what the promotion started with is not recorded' });
  if (phaseHolds(world)) return wait({ code: 'Superseded', message: 'its Bundle is no longer being promoted' });
  return advance(world, run, now);
};

/** A Bundle that is no longer promoted leaves its steps where they are. */
const phaseHolds = (world: StepWorld): boolean => !['Promoting', 'Available'].includes(world.bundle?.status?.phase ?? 'Available');

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
