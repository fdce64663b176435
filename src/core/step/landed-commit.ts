/** Commits that are on the target branch, as opposed to those that were only made. */
import type { PromotionStepStatus } from '../../api/kinds/promotion-step.ts';

/** The commit that the promotion stands on, once the push has said so; undefined before. */
export const landedCommit = (status: PromotionStepStatus | undefined): string | undefined =>
  status?.outputs?.['git.branch'] === undefined ? undefined : status.outputs['git.commit'];
