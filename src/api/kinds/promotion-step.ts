import type { Type } from 'typebox';
import { conditionsSchema, type TypedResource, transitionsSchema } from '../meta.ts';
import { fields, flag, integer, list, optional, record, stringMap, text, timestamp } from '../schema.ts';
import { environmentSchema, pipelineGitSchema } from './pipeline.ts';

/** PromotionStep.spec. */
export const promotionStepSpecSchema = record(
  {
    pipeline: text('Pipeline.', { maxLength: 253 }),
    bundle: text('Bundle.', { maxLength: 253 }),
    environment: text('Environment.', { maxLength: 63 }),
    inputs: optional(stringMap('Inputs of the steps.')),
  },
  'One environment promotion for one Bundle.',
);

/** The record of one step of the sequence. */
export const stepRecordSchema = record(
  {
    name: text('The step, as in `uses`.', { maxLength: 253 }),
    state: text('Pending, Running, Succeeded or Failed.', { maxLength: 32 }),
    attempts: integer('How often it was tried.'),
    startedAt: optional(timestamp('When it was first tried.')),
    finishedAt: optional(timestamp('When it ended.')),
    nextTryAt: optional(timestamp('When it is tried again.')),
    reason: optional(text('A code in CamelCase when it failed or waits.', { maxLength: 256 })),
    message: optional(text('A sentence for people.', { maxLength: 4096 })),
    outputs: optional(stringMap('What it gave to later steps.')),
  },
  'One step of the sequence.',
);

/** What has been seen of the environment's health since the change was written. */
export const healthRecordSchema = fields(
  {
    since: timestamp('Since when health is being checked.'),
    lastHealthyAt: timestamp('The last healthy observation.'),
    healthySince: timestamp('Start of the present run of contiguous healthy observations.'),
    everHealthy: flag('Whether the window has begun: health was proven, or has held for health.settle.'),
    paused: flag('Whether a rollout is under way inside the window; its time does not count.'),
    proven: flag('Whether something showed that the new version is what is healthy.'),
    reason: text('A code for what was last seen.', { maxLength: 256 }),
    message: text('A sentence for what was last seen.', { maxLength: 4096 }),
  },
  'Health so far.',
);

/** PromotionStep.status. */
export const promotionStepStatusSchema = fields(
  {
    state: text('Pending, Promoting, WaitingForMerge, HealthChecking, Verified, Failed, AbortedByAlarm or RollingBack.', { maxLength: 64 }),
    reason: text('A code for why it is there.', { maxLength: 256 }),
    message: text('A sentence for why it is there.', { maxLength: 4096 }),
    prURL: text('Pull request.', { maxLength: 2048 }),
    attempt: integer('The attempt that this status speaks of, from 1.', { minimum: 1 }),
    started: fields(
      {
        git: pipelineGitSchema,
        environment: environmentSchema,
        repeated: flag('The run had begun before and its status was lost: its commit may be anywhere in the history.'),
        historyBase: text('Tip of the target branch when the run began; its commit can only be after this one.', { maxLength: 64 }),
      },
      'What the promotion started with; later edits of the Pipeline do not reach it.',
    ),
    steps: list(stepRecordSchema, 'A record for each step.', { maxItems: 64 }),
    outputs: stringMap('Outputs of all steps.'),
    health: healthRecordSchema,
    evidence: fields(
      {
        metrics: stringMap('Metric values at promotion.'),
        gates: list(
          record(
            {
              name: text('Gate.', { maxLength: 512 }),
              expression: text('CEL.', { maxLength: 8192 }),
              result: text('PASS, FAIL or ERROR.', { maxLength: 16 }),
              values: stringMap('Evaluated values.'),
            },
            'One gate.',
          ),
          'Gate results at promotion.',
          { maxItems: 256 },
        ),
        approver: text('Who approved.', { maxLength: 256 }),
        timing: stringMap('When what happened.'),
      },
      'Why it was promoted.',
    ),
    conditions: conditionsSchema,
    transitions: transitionsSchema,
    observedGeneration: integer('The generation that this status speaks of.'),
  },
  'Where it stands.',
);

export type PromotionStepSpec = Type.Static<typeof promotionStepSpecSchema>;
export type StepRecord = Type.Static<typeof stepRecordSchema>;
export type HealthRecord = Type.Static<typeof healthRecordSchema>;
export type PromotionStepStatus = Type.Static<typeof promotionStepStatusSchema>;
/** One environment promotion for one Bundle; created only by the graph engine. */
export type PromotionStep = TypedResource<'PromotionStep', PromotionStepSpec, PromotionStepStatus>;

/** PromotionStep states (spec, "PromotionStep states"). */
export const STEP_STATES = [
  'Pending',
  'Promoting',
  'WaitingForMerge',
  'HealthChecking',
  'Verified',
  'Failed',
  'AbortedByAlarm',
  'RollingBack',
] as const;
export type StepState = (typeof STEP_STATES)[number];
