/** What holds an outside write of a promotion at this moment: read in every decision that emits one, hours later or after a retry included. */
import type { Reason } from '../../api/outcome.ts';
import { belongs, supersededBy, unordered } from '../bundle/order.ts';
import { phaseOf } from '../bundle/phases.ts';
import { closedGates } from '../gate/closed.ts';
import type { StepWorld } from './world.ts';

/** Why nothing may be written now; undefined when it may. */
export const holdsWrite = (world: StepWorld): Reason | undefined => {
  const { bundle, siblings, step } = world;
  const environment = step.spec?.environment ?? '';
  if (bundle === undefined || bundle.metadata.deletionTimestamp !== undefined) {
    return { code: 'BundleGone', message: `Bundle ${step.spec?.bundle ?? ''} does not exist any more` };
  }
  if (!belongs(bundle))
    return { code: 'LabelMismatch', message: `the label of Bundle ${bundle.metadata.name} no longer names its Pipeline` };
  if (world.pipeline === undefined || world.pipeline.metadata.deletionTimestamp !== undefined) {
    return { code: 'NoMatchingPipeline', message: `Pipeline ${step.spec?.pipeline ?? ''} does not exist any more` };
  }
  const phase = phaseOf(bundle.status);
  if (phase !== 'Promoting') return { code: `Bundle${phase}`, message: `its Bundle is ${phase}` };
  const newer = supersededBy(bundle, siblings);
  if (newer) return { code: 'Superseded', message: `Bundle ${newer.metadata.name} is newer` };
  const unplaced = unordered(siblings)[0];
  if (unplaced) return { code: 'WaitingForOrder', message: `Bundle ${unplaced.metadata.name} has no place in the order yet` };
  return closedGates(world.gates, environment);
};
