import { editOf } from '../run.ts';
import { activityBase, type MakesActivity } from './activity-step.ts';

/** Works out the edit of the overlay at the base (`overlay-set-image`); gives `edit.files`. Nothing is written yet. */
export const overlaySetImage: MakesActivity = (context) => ({
  kind: 'GitPreview',
  ...activityBase(context),
  base: context.outputs['git.base'] ?? '',
  edit: editOf(context.run, 'overlay-set-image'),
});

/** Works out the edit of the values file at the base (`chart-set-image`); gives `edit.files`. Nothing is written yet. */
export const chartSetImage: MakesActivity = (context) => ({
  kind: 'GitPreview',
  ...activityBase(context),
  base: context.outputs['git.base'] ?? '',
  edit: editOf(context.run, 'chart-set-image'),
});
