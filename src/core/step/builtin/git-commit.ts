import { intentOf } from '../run.ts';
import { activityBase, type Built } from './step-move.ts';

/** Writes the commit into the mirror; gives `git.commit`. */
export const gitCommit: Built = (context) => ({
  kind: 'GitCommit',
  ...activityBase(context),
  base: context.outputs['git.base'] ?? '',
  ...intentOf(context.run),
});
