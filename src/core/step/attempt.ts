/** Where an attempt begins in the journal. */
import type { Transition } from '../../api/meta.ts';

/** Leaving Pending or Failed for Promoting starts an attempt; coming back to Promoting from elsewhere does not. */
export const startsAttempt = (transition: Transition): boolean =>
  transition.to === 'Promoting' && ['Pending', 'Failed'].includes(transition.from);

/** The transition that began the latest attempt; undefined before the first. */
export const attemptStart = (transitions: readonly Transition[] | undefined): Transition | undefined =>
  transitions?.findLast(startsAttempt);
