/** Time, so that the whole service can run under a virtual clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once at or after the time (milliseconds); the result cancels it. Never holds the process open on its own. */
  at(time: number, callback: () => void): () => void;
}
