/** The steps that consist of an activity: adding one is one file and one line here. */
import type { RunnableStep } from '../sequence.ts';
import type { MakesActivity } from './activity-step.ts';
import { gitClone } from './git-clone.ts';
import { gitCommit } from './git-commit.ts';
import { gitPush } from './git-push.ts';
import { chartSetImage, overlaySetImage } from './set-image.ts';

/** Every runnable step but `health-check`, which is a state of its own. */
export const ACTIVITY_STEPS: Readonly<Record<Exclude<RunnableStep, 'health-check'>, MakesActivity>> = {
  'git-clone': gitClone,
  'overlay-set-image': overlaySetImage,
  'chart-set-image': chartSetImage,
  'git-commit': gitCommit,
  'git-push': gitPush,
};
