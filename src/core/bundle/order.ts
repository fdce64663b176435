/** The order among the Bundles of one Pipeline: `status.sequence`, taken by compare-and-swap before anything acts on a Bundle. */
import type { Bundle } from '../../api/kinds/bundle.ts';
import { bundleVersion } from '../../api/names.ts';
import type { Reason } from '../../api/outcome.ts';
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

/** Whether the uid is a UUID of version 7, which the embedded store gives: ordered by creation. */
const isOrdered = (bundle: Bundle): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(bundle.metadata.uid ?? '');

/** Whether one was certainly created after the other; within one second only ordered uids can tell. */
const isNewer = (a: Bundle, b: Bundle): boolean => {
  const left = a.metadata.creationTimestamp ?? '';
  const right = b.metadata.creationTimestamp ?? '';
  if (left !== right) return left > right;
  return isOrdered(a) && isOrdered(b) && (a.metadata.uid ?? '') > (b.metadata.uid ?? '');
};

/** Creation times have one-second precision; within a second the uid decides, ordered or not, so that all agree. */
const byAge = (a: Bundle, b: Bundle): number => {
  const left = `${a.metadata.creationTimestamp ?? ''} ${a.metadata.uid ?? ''}`;
  const right = `${b.metadata.creationTimestamp ?? ''} ${b.metadata.uid ?? ''}`;
  return left < right ? -1 : 1;
};

const isPlaced = (bundle: Bundle): boolean => bundle.status?.sequence !== undefined;

const isSame = (a: Bundle, b: Bundle): boolean => a.metadata.uid === b.metadata.uid;

/**
 * Why a Bundle without a place gets none: the version exists already, or a newer Bundle was placed before it. Its place would otherwise make an old
 * version the newest.
 */
export const refusedPlace = (bundle: Bundle, siblings: readonly Bundle[]): Reason | undefined => {
  const rivals = siblings.filter((other) => !isSame(bundle, other) && belongs(other) && !isLeaving(other) && sharesTrack(bundle, other));
  const version = bundleVersion(bundle.spec ?? {});
  const twin = rivals.find((other) => bundleVersion(other.spec ?? {}) === version && (isPlaced(other) || byAge(other, bundle) < 0));
  if (twin) {
    return {
      code: 'DuplicateVersion',
      message: `version ${version} exists already as Bundle ${twin.metadata.name}; delete one of the two`,
    };
  }
  const newer = rivals.find((other) => isPlaced(other) && isNewer(other, bundle));
  if (newer === undefined) return undefined;
  return {
    code: 'Outdated',
    message: `Bundle ${newer.metadata.name} was created later and has its place; create this one again to promote it`,
  };
};

/** Bundles that have no place in the order yet and shall get one, the next one first. */
export const unordered = (siblings: readonly Bundle[]): readonly Bundle[] =>
  siblings
    .filter((bundle) => belongs(bundle) && !isLeaving(bundle) && !isPlaced(bundle) && !isFinished(bundle.status))
    .filter((bundle) => refusedPlace(bundle, siblings) === undefined)
    .sort(byAge);

/** A Bundle that is held before its first environment (an unknown target, a denied skip) replaces nothing that works. */
const hasBegun = (bundle: Bundle): boolean => !['Available', 'SkipDenied'].includes(phaseOf(bundle.status));

/** The newest Bundle that supersedes this one, if there is one. */
export const supersededBy = (bundle: Bundle, siblings: readonly Bundle[]): Bundle | undefined => {
  const own = bundle.status?.sequence;
  if (own === undefined) return undefined;
  return siblings
    .filter((other) => belongs(other) && other.metadata.uid !== bundle.metadata.uid && sharesTrack(bundle, other))
    .filter((other) => isPlace(other.status?.sequence) && other.status.sequence > own && hasBegun(other))
    .sort((a, b) => (b.status?.sequence ?? 0) - (a.status?.sequence ?? 0))[0];
};

/** The highest place given out so far; what is no place (somebody wrote it by hand) does not count. */
export const highestSequence = (siblings: readonly Bundle[]): number =>
  siblings
    .map((bundle) => bundle.status?.sequence ?? 0)
    .reduce((highest, place) => (isPlace(place) ? Math.max(highest, place) : highest), 0);

/** No Pipeline hands out so many; a number beyond it was written by hand and must not stop the counting. */
const LAST_PLACE = 1e12;

/** Whether the number can be a place. */
export const isPlace = (place: number | undefined): place is number =>
  place !== undefined && Number.isInteger(place) && place >= 0 && place < LAST_PLACE;
