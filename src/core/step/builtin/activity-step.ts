/** What the activities of all steps share, and what they are made from. */
import type { ActivityEffect } from '../../effect.ts';
import type { Run } from '../run.ts';

/** What every step is asked with. */
export interface StepContext {
  readonly run: Run;
  /** Index of the step's record. */
  readonly index: number;
  /** Outputs of all steps so far. */
  readonly outputs: Readonly<Record<string, string>>;
}

/** What all activities of a step share. */
export const activityBase = (context: StepContext) => {
  const { run, index } = context;
  const name = run.step.status?.steps?.[index]?.name ?? '';
  return {
    key: `${run.id}/${index}/${name}`,
    step: { kind: 'PromotionStep', namespace: run.step.metadata.namespace ?? 'default', name: run.step.metadata.name } as const,
    stepUid: run.step.metadata.uid ?? '',
    attempt: run.step.status?.attempt ?? 1,
    index,
    repository: run.environment.repository,
    branch: run.environment.branch,
  };
};

/** Makes the activity of a step. */
export type MakesActivity = (context: StepContext) => ActivityEffect;
