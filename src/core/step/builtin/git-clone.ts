import { activityBase, type MakesActivity } from './activity-step.ts';

/** Brings the target branch into the mirror; gives `git.base`. */
export const gitClone: MakesActivity = (context) => ({ kind: 'GitFetch', ...activityBase(context) });
