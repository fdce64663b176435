import { activityBase, type Built } from './step-move.ts';

/** Brings the target branch into the mirror; gives `git.base`. */
export const gitClone: Built = (context) => ({ kind: 'GitFetch', ...activityBase(context) });
