/** What one run of a PromotionStep works with: the environment it started with, its identity, its change. */

import { formatImage } from '../../api/image-reference.ts';
import type { Bundle, Image } from '../../api/kinds/bundle.ts';
import type { PromotionStep } from '../../api/kinds/promotion-step.ts';
import { bundleVersion, runId } from '../../api/names.ts';
import { type ResolvedEnvironment, resolveEnvironment } from '../../api/resolve.ts';
import type { CommitIntent, EditSpec, ImageChange } from '../effect.ts';
import { fromTimestamp } from '../time.ts';
import { attemptStart } from './attempt.ts';

/** A run that has started. */
export interface Run {
  readonly step: PromotionStep;
  readonly bundle: Bundle;
  readonly environment: ResolvedEnvironment;
  /** `<Bundle UID>/<environment>/<attempt>`. */
  readonly id: string;
}

/** The run of a step that has started; undefined before. */
export const runOf = (step: PromotionStep, bundle: Bundle): Run | undefined => {
  const started = step.status?.started;
  if (started?.environment === undefined) return undefined;
  const environment = resolveEnvironment(started.git ?? {}, started.environment, step.metadata.namespace ?? 'default');
  return { step, bundle, environment, id: runId(bundle.metadata.uid ?? '', environment.name, step.status?.attempt ?? 1) };
};

const imageChange = (image: Image): ImageChange => ({
  repository: image.repository ?? '',
  ...(image.tag ? { tag: image.tag } : {}),
  ...(image.digest ? { digest: image.digest } : {}),
});

const join = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('/');

/** The edit of one set-image step. */
export const editOf = (run: Run, step: 'overlay-set-image' | 'chart-set-image'): EditSpec => {
  const images = (run.bundle.spec?.images ?? []).map(imageChange);
  const { path, chart } = run.environment;
  if (step === 'overlay-set-image') return { edit: 'overlay', path, images };
  return { edit: 'chart', file: join(path, chart.file), valuePath: chart.path, images };
};

/** The whole change of the run: the edits of its set-image steps, one after the other. */
export const changeOf = (run: Run): EditSpec => {
  const edits = (run.step.status?.steps ?? []).flatMap((record) =>
    record.name === 'overlay-set-image' || record.name === 'chart-set-image' ? [editOf(run, record.name)] : [],
  );
  return edits.length === 1 && edits[0] ? edits[0] : { edit: 'sequence', edits };
};

/** One line without control characters, so that nothing given from outside can forge a trailer. */
const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').trim();

const messageOf = (run: Run): string => {
  const { bundle, environment } = run;
  const pipeline = oneLine(bundle.spec?.pipeline ?? '');
  const version = oneLine(bundle.status?.version ?? bundleVersion(bundle.spec ?? {}));
  const images = (bundle.spec?.images ?? []).map((image) => `- ${oneLine(formatImage(image))}`);
  return [
    `Promote ${pipeline} ${version} to ${environment.name}`,
    '',
    ...(images.length > 0 ? [...images, ''] : []),
    `Promoter-Bundle: ${bundle.metadata.namespace ?? 'default'}/${bundle.metadata.name}`,
    `Promoter-Environment: ${environment.name}`,
    `Promoter-Pipeline: ${pipeline}`,
    `Promoter-Run: ${run.id}`,
    '',
  ].join('\n');
};

/** When the attempt began, in milliseconds: the time that its commits carry. */
export const intentTime = (step: PromotionStep): number => {
  return fromTimestamp(attemptStart(step.status?.transitions)?.at) ?? 0;
};

/** All that the run's commit is a function of. */
export const intentOf = (run: Run): CommitIntent => ({
  edit: changeOf(run),
  run: run.id,
  message: messageOf(run),
  time: intentTime(run.step),
});
