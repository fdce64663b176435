/** Somebody who carries a new tag to an environment of an app and pushes it. */
import type { Remote } from '../sample/remote.ts';

/** How long one promotion took, in milliseconds. */
export interface Sample {
  readonly total: number;
  /** Without the processes that talk to the remote; only where that is known. */
  readonly own?: number;
}

/** One promotion. */
export interface Promotion {
  readonly app: number;
  readonly environment: string;
  readonly tag: string;
}

/** One way to do it, ready to begin. */
export interface Contender {
  readonly promote: (promotion: Promotion) => Promise<Sample>;
  readonly close: () => Promise<void>;
}

/** Makes a contender ready: whatever it keeps between promotions is there afterwards. */
export type Prepare = (remote: Remote, folder: string) => Promise<Contender>;

/** The time a piece of work takes, in milliseconds. */
export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await work();
  return performance.now() - started;
};
