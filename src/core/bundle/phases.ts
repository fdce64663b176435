/** The phases of a Bundle and every arrow between them (spec, "Bundle phases"). A phase changes here and nowhere else. */

import { BUNDLE_PHASES, type BundlePhase, type BundleStatus } from '../../api/kinds/bundle.ts';
import type { Transition } from '../../api/meta.ts';
import type { Reason } from '../../api/outcome.ts';
import { sentence } from '../sentence.ts';
import { toTimestamp } from '../time.ts';

/** From each phase: where it may go, and what brings it there. */
export const BUNDLE_ARROWS: Readonly<Record<BundlePhase, Readonly<Partial<Record<BundlePhase, string>>>>> = {
  Available: {
    Promoting: 'its Graph was accepted',
    Superseded: 'a newer Bundle of the same Pipeline and type exists',
    SkipDenied: 'its skip list names an environment with org gates and no skip-permission gate permits it',
  },
  Promoting: {
    Verified: 'every environment of its Graph is Verified',
    Failed: 'an environment failed, and nothing else is in flight',
    Superseded: 'a newer Bundle of the same Pipeline and type exists',
  },
  Verified: {},
  Failed: {},
  Superseded: {},
  SkipDenied: {},
};

/** The phase of a status; Available before the first write, and for a word that is none. */
export const phaseOf = (status: BundleStatus | undefined): BundlePhase =>
  BUNDLE_PHASES.find((phase) => phase === status?.phase) ?? 'Available';

/** Whether nothing promotes the Bundle any more. */
export const isFinished = (status: BundleStatus | undefined): boolean => !['Available', 'Promoting'].includes(phaseOf(status));

/** The status after a move; a move without an arrow is a bug. */
export const movePhase = (status: BundleStatus, to: BundlePhase, reason: Reason, now: number): BundleStatus => {
  const from = phaseOf(status);
  if (BUNDLE_ARROWS[from][to] === undefined) throw new Error(`no arrow from ${from} to ${to}`);
  const transition: Transition = { at: toTimestamp(now), from, to, reason: reason.code, message: sentence(reason.message) };
  return { ...status, phase: to, transitions: [...(status.transitions ?? []), transition] };
};
