import { fromTimestamp } from '../../time.ts';
import { intentOf } from '../run.ts';
import { activityBase, type MakesActivity } from './activity-step.ts';

/** Clocks of hosts differ; a commit of the run is looked for from this long before the Bundle was made. */
const SKEW_MS = 86_400_000;

/** Lands the change on the target branch; gives `git.commit` as it is there. */
export const gitPush: MakesActivity = (context) => {
  const since = context.run.step.status?.started?.historyBase;
  const created = fromTimestamp(context.run.bundle.metadata.creationTimestamp) ?? 0;
  return {
    kind: 'GitPush',
    ...activityBase(context),
    ...(since ? { since } : {}),
    notBefore: Math.max(0, created - SKEW_MS),
    ...intentOf(context.run),
  };
};
