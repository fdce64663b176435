/**
 * What may go wrong in one run. Every seed draws which kinds of faults it has and how often (so that a run is not always the same mixture);
 * after the horizon nothing goes wrong any more and everything must come to rest.
 */
import { type Outcome, transient } from '../../src/api/outcome.ts';
import type { GitRemotes } from './git-remotes.ts';
import type { GitFaults } from './memory-git.ts';
import type { Random } from './random.ts';
import type { Pace } from './scheduler.ts';
import type { Target } from './turnstile.ts';

/** How often each fault happens, as a probability per call, and how slow everything is. */
export interface FaultProfile {
  /** Milliseconds after the start when faults end. */
  readonly horizonMs: number;
  readonly storeRefused: number;
  readonly storeAnswerLost: number;
  readonly storeLate: number;
  readonly conflict: number;
  readonly staleRead: number;
  readonly watchDropped: number;
  readonly watchEnded: number;
  readonly gitFailure: number;
  readonly gitAnswerLost: number;
  readonly gitLate: number;
  readonly gitRace: number;
  /** Somebody overwrites what a promotion has just written. */
  readonly gitOverwrite: number;
  readonly clusterFailure: number;
  readonly clusterStale: number;
  readonly crash: number;
  /** Of the writes in flight at a crash, how many land all the same. */
  readonly landsAfterCrash: number;
  readonly maxDowntimeMs: number;
  /** Milliseconds after the start at which all status of our kinds is wiped. */
  readonly wipeAtMs: number | undefined;
  readonly latency: Readonly<Record<Target, number>>;
  /** Milliseconds after the start between which the cache behind unfresh reads stands still. */
  readonly frozen: { readonly from: number; readonly to: number } | undefined;
  /** How many calls are late at all. */
  readonly late: number;
  readonly heldAnswer: number;
}

/** The faults that are drawn at each call. */
export type Chance = Exclude<
  keyof FaultProfile,
  'horizonMs' | 'wipeAtMs' | 'frozen' | 'latency' | 'late' | 'maxDowntimeMs' | 'landsAfterCrash' | 'heldAnswer'
>;

/** No faults, no delays. */
export const noFaults: FaultProfile = {
  horizonMs: 0,
  storeRefused: 0,
  storeAnswerLost: 0,
  storeLate: 0,
  conflict: 0,
  staleRead: 0,
  watchDropped: 0,
  watchEnded: 0,
  gitFailure: 0,
  gitAnswerLost: 0,
  gitLate: 0,
  gitRace: 0,
  gitOverwrite: 0,
  clusterFailure: 0,
  clusterStale: 0,
  crash: 0,
  landsAfterCrash: 0,
  maxDowntimeMs: 0,
  wipeAtMs: undefined,
  frozen: undefined,
  latency: { store: 0, watch: 0, git: 0, cluster: 0 },
  late: 0,
  heldAnswer: 0,
};

/** Draws a profile: each kind of fault is on in half of the seeds, rarely or often. */
export const drawFaults = (random: Random, scenarioEndMs: number): FaultProfile => {
  const horizonMs = Math.round(scenarioEndMs * (0.5 + random.next() * 0.8));
  const sometimes = (rare: number, often: number): number => (random.chance(0.5) ? (random.chance(0.6) ? rare : often) : 0);
  const latency = (most: number): number => (random.chance(0.6) ? random.pick([50, 1000, most]) : 0);
  return {
    horizonMs,
    storeRefused: sometimes(0.01, 0.1),
    storeAnswerLost: sometimes(0.02, 0.15),
    storeLate: sometimes(0.01, 0.1),
    conflict: sometimes(0.02, 0.2),
    staleRead: sometimes(0.1, 0.7),
    watchDropped: sometimes(0.02, 0.3),
    watchEnded: sometimes(0.01, 0.05),
    gitFailure: sometimes(0.05, 0.4),
    gitAnswerLost: sometimes(0.1, 0.4),
    gitLate: sometimes(0.1, 0.4),
    gitRace: sometimes(0.1, 0.6),
    gitOverwrite: random.chance(0.35) ? random.pick([0.1, 0.6]) : 0,
    clusterFailure: sometimes(0.05, 0.3),
    clusterStale: sometimes(0.1, 0.5),
    crash: sometimes(0.003, 0.008),
    landsAfterCrash: random.pick([0, 0.5, 1]),
    maxDowntimeMs: random.pick([0, 2_000, 30_000]),
    wipeAtMs: random.chance(0.06) ? random.below(horizonMs) : undefined,
    latency: { store: latency(3_000), watch: latency(10_000), git: latency(20_000), cluster: latency(5_000) },
    frozen: random.chance(0.25) ? drawFrozen(random, horizonMs) : undefined,
    late: random.pick([0.2, 0.5, 0.9]),
    heldAnswer: sometimes(0.1, 0.4),
  };
};

const drawFrozen = (random: Random, horizonMs: number): FaultProfile['frozen'] => {
  const from = random.below(horizonMs);
  return { from, to: Math.min(horizonMs, from + random.between(5_000, 60_000)) };
};

/** The faults of one run, counted. */
export class Faults {
  readonly profile: FaultProfile;
  readonly random: Random;
  readonly #elapsed: () => number;
  /** Injected so far. */
  count = 0;

  constructor(profile: FaultProfile, random: Random, elapsed: () => number) {
    this.profile = profile;
    this.random = random;
    this.#elapsed = elapsed;
  }

  /** Whether faults may still happen. */
  active(): boolean {
    return this.#elapsed() < this.profile.horizonMs;
  }

  /** Draws one fault; where it hurts most, it strikes that many times as often. */
  strikes(kind: Chance, weight = 1): boolean {
    if (!this.active() || !this.random.chance(this.profile[kind] * weight)) return false;
    this.count += 1;
    return true;
  }

  /** Whether the cache stands still now. */
  frozen(): boolean {
    const { frozen } = this.profile;
    return frozen !== undefined && this.#elapsed() >= frozen.from && this.#elapsed() < frozen.to;
  }

  /** How calls are delayed: without end of faults there are delays, afterwards only the order is random. */
  pace(): Pace {
    const { random, profile } = this;
    return {
      latency: (target) => {
        const most = this.active() ? profile.latency[target] : 0;
        return most > 0 && random.chance(profile.late) ? random.below(most) : 0;
      },
      answerDelay: (target) => {
        if (!this.active() || !random.chance(profile.heldAnswer)) return undefined;
        return random.chance(0.5) ? 0 : random.below(profile.latency[target] + 1);
      },
    };
  }
}

/** What the scenario itself does to Git: times without access, and a hook that protects paths. */
export interface GitWeather {
  readonly closed: (url: string) => boolean;
  readonly refuses: GitFaults['refuses'];
}

/** What goes wrong with Git. */
export const gitFaults = (faults: Faults, remotes: GitRemotes, weather: GitWeather): GitFaults => ({
  failure: (url): Outcome<never> | undefined => {
    if (weather.closed(url)) return transient('GitUnauthorized', 'the Git server refused access (403)');
    return faults.strikes('gitFailure')
      ? transient(faults.random.pick(['GitUnreachable', 'GitUnauthorized', 'GitServerError']), 'the Git server did not answer')
      : undefined;
  },
  handOver: () => {
    if (faults.strikes('gitAnswerLost')) return 'answer lost';
    if (faults.strikes('gitLate')) return 'late';
    return faults.strikes('gitFailure') ? 'failed' : 'carried out';
  },
  beforeSwap: (url, branch) => {
    if (!faults.strikes('gitRace')) return;
    const number = faults.count;
    remotes.writeOutside(url, branch, {
      message: `Somebody else writes (${number})`,
      time: 0,
      edit: (files) => files.set('README.md', `# Manifests\n${number}\n`),
    });
  },
  refuses: weather.refuses,
});
