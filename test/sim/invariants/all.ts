/** Every invariant that a run is watched by. */
import { bakeInvariants } from './bake.ts';
import { commitInvariants } from './commits.ts';
import { leftoverInvariants } from './leftovers.ts';
import type { Observer, Scene } from './observer.ts';
import { outcomeInvariants } from './outcome.ts';
import { transitionInvariants } from './transitions.ts';

/** Makes them all. */
export const allInvariants = (scene: Scene): readonly Observer[] => [
  commitInvariants(scene),
  transitionInvariants(scene),
  bakeInvariants(scene),
  outcomeInvariants(scene),
  leftoverInvariants(scene),
];
