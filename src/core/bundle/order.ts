/** The order among the Bundles of one Pipeline: `status.sequence`, taken by compare-and-swap before anything acts on a Bundle. */
import type { Bundle } from '../../api/kinds/bundle.ts';
import { PIPELINE_LABEL } from '../labels.ts';
import { isFinished, phaseOf } from './phases.ts';

/** A Bundle type moves on one track, `mixed` on both. */
const tracksOf = (bundle: Bundle): readonly string[] => {
  const type = bundle.spec?.type ?? 'image';
  return type === 'mixed' ? ['image', 'config'] : [type];
};

/** Whether a newer one of the two supersedes the older. */
export const sharesTrack = (a: Bundle, b: Bundle): boolean => tracksOf(a).some((track) => tracksOf(b).includes(track));

/** Whether the controller promotes it at all: its label names the Pipeline that its spec names (spec, "Bundle"). */
export const belongs = (bundle: Bundle): boolean => {
  const pipeline = bundle.spec?.pipeline;
  return pipeline !== undefined && pipeline !== '' && bundle.metadata.labels?.[PIPELINE_LABEL] === pipeline;
};

const isLeaving = (bundle: Bundle): boolean => bundle.metadata.deletionTimestamp !== undefined;

/** Numeric resource versions break the tie of creation times, which have one-second precision. */
const versionOf = (bundle: Bundle): bigint => {
  const text = bundle.metadata.resourceVersion ?? '';
  return /^\d{1,30}$/.test(text) ? BigInt(text) : 0n;
};

const byAge = (a: Bundle, b: Bundle): number => {
  const left = a.metadata.creationTimestamp ?? '';
  const right = b.metadata.creationTimestamp ?? '';
  if (left !== right) return left < right ? -1 : 1;
  if (versionOf(a) !== versionOf(b)) return versionOf(a) < versionOf(b) ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
};

/** Bundles that have no place in the order yet, the next one to get it first. */
export const unordered = (siblings: readonly Bundle[]): readonly Bundle[] =>
  siblings
    .filter((bundle) => belongs(bundle) && !isLeaving(bundle) && bundle.status?.sequence === undefined && !isFinished(bundle.status))
    .sort(byAge);

/** A Bundle that is held before its first environment (an unknown target, a denied skip) replaces nothing that works. */
const hasBegun = (bundle: Bundle): boolean => !['Available', 'SkipDenied'].includes(phaseOf(bundle.status));

/** The newest Bundle that supersedes this one, if there is one. */
export const supersededBy = (bundle: Bundle, siblings: readonly Bundle[]): Bundle | undefined => {
  const own = bundle.status?.sequence;
  if (own === undefined) return undefined;
  return siblings
    .filter((other) => belongs(other) && other.metadata.uid !== bundle.metadata.uid && sharesTrack(bundle, other))
    .filter((other) => (other.status?.sequence ?? 0) > own && hasBegun(other))
    .sort((a, b) => (b.status?.sequence ?? 0) - (a.status?.sequence ?? 0))[0];
};

/** The highest place given out so far. */
export const highestSequence = (siblings: readonly Bundle[]): number =>
  siblings.reduce((highest, bundle) => Math.max(highest, bundle.status?.sequence ?? 0), 0);
