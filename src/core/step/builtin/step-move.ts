/** What a step of the sequence wants next. */
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
    index,
    repository: run.environment.repository,
    branch: run.environment.branch,
  };
};

/** The activity that a step needs done. Steps without one have their own state of the PromotionStep. */
export type Built = (context: StepContext) => ActivityEffect;
