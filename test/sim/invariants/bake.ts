/**
 * I9: an environment with a bake turns Verified only after contiguous healthy time that was observed: between two healthy observations of one
 * process that are close together, with none of ill health among them. A rollout in between, such as one that scales, pauses the window. And no
 * environment turns Verified whose Deployment was never seen healthy with the Bundle's images.
 */
import type { Deployment } from '../../../src/api/kinds/native.ts';
import type { PromotionStep } from '../../../src/api/kinds/promotion-step.ts';
import type { Outcome } from '../../../src/api/outcome.ts';
import { asStep } from './commits.ts';
import type { Observed, Observer, Scene } from './observer.ts';

/** Observations further apart do not count as contiguous; the same as the health check's own limit, with room for slow reads. */
const GAP_MS = 60_000;
/** A gap as long as this starts the window again. */
const LONG_GAP_MS = 90_000;
/** A reading is some calls old when it is judged. */
const TOLERANCE_MS = 20_000;

const imagesOf = (deployment: Deployment): readonly string[] =>
  (deployment.spec?.template?.spec?.containers ?? []).map((container) => container.image ?? '');

/** Two references to one image: by digest where both have one. */
const sameImage = (running: string, wanted: string): boolean => {
  const [left, right] = [running.split('@')[1], wanted.split('@')[1]];
  return left !== undefined && right !== undefined ? left === right : running === wanted;
};

/** A rollout of the right version pauses the window: its time counts for nothing and takes nothing away. */
type Seen = 'healthy' | 'rollout' | 'ill' | 'nothing';

const judge = (seen: Outcome<Deployment | undefined>, wanted: readonly string[]): Seen => {
  if (seen.outcome !== 'done') return 'nothing';
  const deployment = seen.value;
  if (!deployment) return 'ill';
  const { status, metadata } = deployment;
  const available = status?.conditions?.some((condition) => condition.type === 'Available' && condition.status === 'True') === true;
  const settled = status?.observedGeneration === metadata.generation && status?.updatedReplicas === status?.replicas;
  const right = wanted.every((image) => imagesOf(deployment).some((running) => sameImage(running, image)));
  if (right && !settled) return 'rollout';
  return available && right ? 'healthy' : 'ill';
};

/** An observation with what became of it. */
interface Judged extends Observed {
  /** What would have judged or recorded it failed. */
  lost: boolean;
}

/** Ill health that was seen and could not be recorded before the process died, or because the write failed, counts as not seen. */
const unrecorded = (observations: readonly Judged[], index: number): boolean => {
  const next = observations[index + 1];
  return observations[index]?.lost === true || (next !== undefined && next.incarnation !== observations[index]?.incarnation);
};

/** Observed healthy milliseconds in one piece, up to the last observation. */
const contiguous = (observations: readonly Judged[], wanted: readonly string[]): number => {
  let total = 0;
  let paused = false;
  let previous: Observed | undefined;
  for (const [index, observation] of observations.entries()) {
    const seen = judge(observation.seen, wanted);
    if (seen === 'nothing') continue;
    if (seen === 'rollout') {
      if (unrecorded(observations, index)) continue;
      previous = undefined;
      paused = true;
      continue;
    }
    if (seen === 'ill') {
      if (unrecorded(observations, index)) continue;
      total = 0;
      previous = undefined;
      continue;
    }
    const gap = previous ? observation.at - previous.at : 0;
    if (gap > LONG_GAP_MS && !paused) total = 0;
    paused = false;
    if (previous && previous.incarnation === observation.incarnation && gap <= GAP_MS) total += gap;
    previous = observation;
  }
  return total;
};

/** Watches what is observed and what turns Verified. */
export const bakeInvariants = (scene: Scene): Observer => {
  const observations = new Map<string, Judged[]>();

  const wantedImages = (step: PromotionStep): readonly string[] => {
    const planned = scene.scenario.bundles.find(({ bundle }) => bundle.metadata.name === step.spec?.bundle);
    return (planned?.bundle.spec?.images ?? []).map((image) => `${image.repository}:${image.tag}${image.digest ? `@${image.digest}` : ''}`);
  };

  const check = (step: PromotionStep): void => {
    const environment = step.spec?.environment ?? '';
    const bake = step.status?.started?.environment?.bake;
    const chart = step.status?.started?.environment?.update?.strategy === 'chart';
    const wanted = wantedImages(step).map((image) => (chart ? image.replace(/@.*/, '') : image));
    const seen = observations.get(`${environment}/${step.spec?.pipeline ?? ''}`) ?? [];
    const start = Date.parse(step.status?.health?.since ?? '') || 0;
    const relevant = seen.filter((observation) => observation.at >= start);
    if (!relevant.some((observation) => judge(observation.seen, wanted) === 'healthy')) {
      scene.report({ invariant: 'I9', message: `${step.metadata.name} is Verified and was never seen healthy with ${wanted.join(', ')}` });
    }
    const needed = (bake?.minutes ?? 0) * 60_000 - TOLERANCE_MS;
    const had = contiguous(relevant, wanted);
    if (had < needed) {
      scene.report({
        invariant: 'I9',
        message: `${step.metadata.name} is Verified after ${had / 1000}s of observed health; its bake is ${bake?.minutes} minutes`,
      });
    }
  };

  return {
    observed: (observation) => {
      const key = `${observation.namespace}/${observation.name}`;
      const list = observations.get(key) ?? [];
      observations.set(key, list);
      list.push({ ...observation, lost: false });
    },
    unread: () => {
      // The look that has just observed something may be the one whose next read failed, and then nobody judged it.
      for (const list of observations.values()) {
        const last = list.at(-1);
        if (last) last.lost = true;
      }
    },
    refused: (object) => {
      if (object.kind !== 'PromotionStep') return;
      const { spec } = asStep(object);
      const last = observations.get(`${spec?.environment ?? ''}/${spec?.pipeline ?? ''}`)?.at(-1);
      if (last) last.lost = true;
    },
    changed: ({ kind, type, before, object }) => {
      if (kind !== 'PromotionStep' || type === 'DELETED') return;
      const step = asStep(object);
      if (step.status?.state === 'Verified' && (!before || asStep(before).status?.state !== 'Verified')) check(step);
    },
  };
};
