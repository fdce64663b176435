import { intentOf } from '../run.ts';
import { activityBase, type MakesActivity } from './activity-step.ts';

/** Writes the commit into the mirror; gives `git.commit`. */
export const gitCommit: MakesActivity = (context) => ({
  kind: 'GitCommit',
  ...activityBase(context),
  base: context.outputs['git.base'] ?? '',
  ...intentOf(context.run),
});
