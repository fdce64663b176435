/** Bounds of the Git engine. Every one has a default that suits a hosted Git server over the internet. */
export interface GitLimits {
  /** Longest time for one network operation, in milliseconds; 5 minutes by default. */
  readonly operationMs: number;
  /** Longest time for the first fetch of a repository, in milliseconds; 1 hour by default. */
  readonly cloneMs: number;
  /** A transfer slower than this many bytes a second … 1000 by default. */
  readonly lowSpeedBytes: number;
  /** … for this many seconds is given up; 60 by default, because hooks of a server may take a while in silence. */
  readonly lowSpeedSeconds: number;
  /** The same for fetches once a mirror has its first pack: there is little to bring, and everybody of that repository waits; 20 by default. */
  readonly fetchSilenceSeconds: number;
  /** A reading process that nobody asked for this many milliseconds is ended; 30 seconds by default. */
  readonly idleMs: number;
  /** Most reading processes at once, one a mirror, as long as not all are at work; 32 by default. */
  readonly readers: number;
  /** Largest file that an edit may see, in bytes; 10 MiB by default. */
  readonly fileBytes: number;
  /** Most promotions in one push; 300 by default. */
  readonly groupSize: number;
  /** How long a branch tip that the remote told us is trusted for a first attempt to push, in milliseconds; 5 seconds by default, 0 never. */
  readonly freshMs: number;
  /** Loose objects from which a mirror is packed at a quiet time; 4000 by default. */
  readonly looseObjects: number;
  /** Packs from which they are joined at a quiet time; 50 by default. */
  readonly packs: number;
  /** A mirror that nobody used for this many milliseconds is quiet; 5 seconds by default. */
  readonly quietMs: number;
}

/** The limits that hold when nothing else is asked for. */
export const defaultLimits: GitLimits = {
  operationMs: 300_000,
  cloneMs: 3_600_000,
  lowSpeedBytes: 1000,
  lowSpeedSeconds: 60,
  fetchSilenceSeconds: 20,
  idleMs: 30_000,
  readers: 32,
  fileBytes: 10 * 1024 * 1024,
  groupSize: 300,
  freshMs: 5_000,
  looseObjects: 4_000,
  packs: 50,
  quietMs: 5_000,
};
