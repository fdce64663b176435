import type { KindMap } from '../api/registry.ts';

/** The commit that a PromotionStep left on its target branch (or found there); undefined before the push has landed. */
export const commitOf = (step: KindMap['PromotionStep']): string | undefined => {
  const outputs = step.status?.outputs ?? {};
  // `git.branch` is written with the landed push; before that, `git.commit` is a commit that only the mirror has.
  return outputs['git.branch'] === undefined ? undefined : outputs['git.commit'];
};
