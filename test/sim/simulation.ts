/** One run: a scenario, its faults, the real controllers over in-memory adapters, and the invariants that watch. A seed is the whole run. */

import type { KindName } from '../../src/api/registry.ts';
import { type ControllerOptions, type ControllerPorts, type Controllers, startControllers } from '../../src/controller/index.ts';
import type { Log } from '../../src/ports/log.ts';
import { drawFaults, type FaultProfile, Faults, gitFaults, noFaults } from './faults.ts';
import { GitRemotes, type RemoteCommit } from './git-remotes.ts';
import { startGitops } from './gitops.ts';
import { allInvariants } from './invariants/all.ts';
import { partsOf } from './invariants/commits.ts';
import { type Observer, type Scene, type Violation, WIPE } from './invariants/observer.ts';
import { firstFiles, overwriteImages } from './manifests.ts';
import { clusterUnreachable, createMemoryCluster } from './memory-cluster.ts';
import { createMemoryGit } from './memory-git.ts';
import { shared } from './memory-list.ts';
import { createMemoryStore, type StoreFaults } from './memory-store.ts';
import { planScenario, pushBegins, type Stage } from './plan-scenario.ts';
import { createRandom, type Random } from './random.ts';
import { BRANCH, drawScenario, type Scenario } from './scenario.ts';
import { Livelock, type Release, Scheduler, turn, WORLD } from './scheduler.ts';
import { StoreCore } from './store-core.ts';
import { StoreViews } from './store-views.ts';
import { createTrace, type Trace } from './trace.ts';

/** How a run is made. */
export interface RunOptions {
  /** Hears every line of the trace. */
  readonly echo?: (line: string) => void;
  /** The scenario without its faults. */
  readonly withoutFaults?: boolean;
  /** Puts something between the controllers and their ports: how a bug is planted. */
  readonly wrap?: (ports: ControllerPorts) => ControllerPorts;
}

/** The end of a run. */
export interface RunResult {
  readonly seed: string;
  readonly steps: number;
  readonly faults: number;
  readonly crashes: number;
  /** Calls around which a process died, such as `git.push swap: effect without answer`. */
  readonly crashPoints: ReadonlySet<string>;
  /** Virtual milliseconds. */
  readonly elapsed: number;
  readonly violation: Violation | undefined;
  /** How each Pipeline ended, where its scenario allows but one end. */
  readonly ends: ReadonlyMap<string, string>;
  readonly tail: readonly string[];
  readonly hash: string;
}

const MINUTE = 60_000;
/** Nothing written for this long, after the last planned event and fault, counts as rest. */
const QUIET_MS = 25 * MINUTE;
/** After rest, nothing may be written for this long (I13). */
const REST_MS = 60 * MINUTE;
/** A run that is not at rest by then never will be. */
const PATIENCE_MS = 24 * 60 * MINUTE;
const MAX_STEPS = 400_000;
const STATUS_KINDS: readonly KindName[] = ['Pipeline', 'Bundle', 'Graph', 'PromotionStep'];

/** How much more a crash at this moment tells than one at any moment: most between a write and its answer. */
const painOf = ({ what, writes, label }: Release): number => {
  if (!writes) return 1;
  const git = label.startsWith('git.push') ? 3 : 1;
  return git * (what === 'effect' ? 20 : 5);
};

/** What is asked of what: the first words of a call's label, without the repository. */
const verbOf = (label: string): string =>
  label
    .split(' ', 2)
    .filter((word) => !word.endsWith('.git'))
    .join(' ');

/** See the head of this file. */
export class Simulation {
  readonly #seed: string;
  readonly #options: RunOptions;
  readonly #random: Random;
  readonly #scenario: Scenario;
  readonly #faults: Faults;
  readonly #trace: Trace;
  readonly #scheduler: Scheduler;
  readonly #core: StoreCore;
  readonly #remotes = new GitRemotes();
  readonly #observers: readonly Observer[];
  readonly #start: number;
  #incarnation = WORLD;
  #controllers: Controllers | undefined;
  #crashes = 0;
  #wiped = false;
  readonly #crashPoints = new Set<string>();
  readonly #created = new Set<string>();
  readonly #ends = new Map<string, string>();
  readonly #overwritten = new Set<string>();
  #lastWrite = 0;
  #violation: Violation | undefined;

  constructor(seed: string, options: RunOptions = {}) {
    this.#seed = seed;
    this.#options = options;
    this.#random = createRandom(seed);
    this.#scenario = drawScenario(this.#random.fork('scenario'));
    this.#start = Date.UTC(2026, 0, 5, 8) + this.#random.fork('start').below(1000);
    const elapsed = () => this.#scheduler.now() - this.#start;
    const drawn = drawFaults(this.#random.fork('profile'), this.#scenario.endMs);
    const profile: FaultProfile = options.withoutFaults ? noFaults : drawn;
    this.#faults = new Faults(profile, this.#random.fork('faults'), elapsed);
    this.#trace = createTrace({ elapsed, ...(options.echo ? { echo: options.echo } : {}) });
    this.#scheduler = new Scheduler({
      random: this.#random.fork('schedule'),
      trace: this.#trace,
      pace: this.#faults.pace(),
      start: this.#start,
    });
    const uids = this.#random.fork('uids');
    let made = 0;
    // Ordered by creation, like the uids of the embedded store.
    const nextUid = (): string => {
      made += 1;
      const [time = '', random = ''] = [made, uids.below(0x1_0000_0000)].map((part) => part.toString(16).padStart(8, '0'));
      return `${time}-0000-7000-8000-0000${random}`;
    };
    const world = this.#scheduler.turnstile(WORLD);
    this.#core = new StoreCore({
      now: () => this.#scheduler.now(),
      uid: nextUid,
      defer: (label, effect) => world.later(label, effect),
    });
    const scene: Scene = {
      scenario: this.#scenario,
      profile,
      core: this.#core,
      remotes: this.#remotes,
      now: () => this.#scheduler.now(),
      wiped: () => this.#wiped,
      disturbed: (url, path) =>
        this.#overwritten.has(`${url} ${path}`) ||
        this.#scenario.outside.some((change) => change.url === url && (change.rewinds !== undefined || change.overwrites === path)),
      concluded: (pipeline, end) => this.#ends.set(pipeline, end),
      report: (violation) => {
        this.#violation ??= violation;
        this.#trace.line(`VIOLATION ${violation.invariant}: ${violation.message}`);
      },
    };
    this.#observers = allInvariants(scene);
  }

  /** Runs to the end, or to the first violation. */
  async run(): Promise<RunResult> {
    this.#setUp();
    try {
      await this.#untilRest();
      if (!this.#violation) for (const observer of this.#observers) observer.ended?.();
      if (!this.#violation) await this.#rest();
    } catch (error) {
      if (!(error instanceof Livelock)) throw error;
      this.#report('I14', error.message);
    }
    this.#scheduler.revoke(this.#incarnation, () => false);
    return {
      seed: this.#seed,
      steps: this.#scheduler.steps,
      faults: this.#faults.count,
      crashes: this.#crashes,
      crashPoints: this.#crashPoints,
      elapsed: this.#elapsed(),
      violation: this.#violation,
      ends: this.#ends,
      tail: this.#trace.tail(80),
      hash: this.#trace.hash(),
    };
  }

  /** A bug that showed itself outside of any call, such as a rejection that nobody handles. */
  fault(message: string): void {
    this.#report('BUG', message);
  }

  #elapsed(): number {
    return this.#scheduler.now() - this.#start;
  }

  #report(invariant: string, message: string): void {
    this.#violation ??= { invariant, message };
    this.#trace.line(`VIOLATION ${invariant}: ${message}`);
  }

  #setUp(): void {
    const [scenario, core, scheduler] = [this.#scenario, this.#core, this.#scheduler];
    for (const url of scenario.repositories) this.#remotes.seed(url, [BRANCH], firstFiles(scenario, url));
    startGitops({ scenario, remotes: this.#remotes, core, scheduler });
    core.onChange((change) => {
      for (const observer of this.#observers) observer.changed?.(change);
    });
    this.#remotes.onLanded((landed) => {
      this.#trace.line(`landed on ${landed.branch}: ${landed.commit.sha.slice(0, 7)} ${landed.commit.run ?? 'from outside'}`);
      for (const observer of this.#observers) observer.landed?.(landed);
      if (landed.commit.run !== undefined && this.#faults.strikes('gitOverwrite')) this.#overwrite(landed.url, landed.commit);
    });
    planScenario(this.#stage());
    const { wipeAtMs } = this.#faults.profile;
    if (wipeAtMs !== undefined) scheduler.after(wipeAtMs, 'all status is wiped', () => this.#wipe());
    this.#boot();
  }

  #stage(): Stage {
    return { scenario: this.#scenario, core: this.#core, scheduler: this.#scheduler, remotes: this.#remotes, created: this.#created };
  }

  /** Somebody writes over what a promotion has just written. */
  #overwrite(url: string, commit: RemoteCommit): void {
    const before = commit.parent && this.#remotes.commit(commit.parent)?.files;
    const path = [...commit.files.keys()].find((candidate) => commit.files.get(candidate) !== before?.get(candidate));
    if (!path) return;
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    this.#overwritten.add(`${url} ${folder}`);
    this.#scheduler.after(this.#faults.random.below(this.#faults.random.pick([1, 1_000, 5_000])), `somebody overwrites ${folder}`, () =>
      this.#remotes.writeOutside(url, BRANCH, {
        message: `Somebody overwrites ${folder}`,
        time: this.#scheduler.now(),
        edit: (files) => overwriteImages(files, folder, `hotfix-${this.#faults.count}`),
      }),
    );
  }

  #wipe(): void {
    this.#wiped = true;
    this.#faults.count += 1;
    for (const kind of STATUS_KINDS) {
      for (const object of [...this.#core.all(kind).values()]) {
        const { status: _, ...bare } = { status: undefined, ...object };
        this.#core.updateStatus(bare, WIPE);
      }
    }
  }

  /** Starts the process under test. */
  #boot(): void {
    this.#incarnation += 1;
    const incarnation = this.#incarnation;
    const [core, scheduler, faults] = [this.#core, this.#scheduler, this.#faults];
    const turnstile = scheduler.turnstile(incarnation);
    const views = new StoreViews(core, this.#random.fork(`views-${incarnation}`));
    const cached = new StoreViews(core, this.#random.fork(`cluster-views-${incarnation}`));
    const guardAsked = (plan: Parameters<NonNullable<Observer['guardAsked']>>[0]) => {
      const heard = this.#observers.map((observer) => observer.guardAsked?.(plan));
      return (answer: boolean) => {
        this.#trace.line(`#${incarnation} guard of ${plan.run}: ${answer}`);
        for (const hear of heard) hear?.(answer);
      };
    };
    const ports: ControllerPorts = {
      store: createMemoryStore({
        core,
        turnstile,
        actor: `incarnation ${incarnation}`,
        handOut: shared,
        faults: this.#storeFaults(views),
        refused: (object) => {
          for (const observer of this.#observers) observer.refused?.(object);
        },
      }),
      git: createMemoryGit({
        remotes: this.#remotes,
        turnstile,
        faults: gitFaults(faults, this.#remotes, { closed: (url) => this.#closed(url), refuses: (_url, paths) => this.#refusal(paths) }),
        watcher: {
          guardAsked,
          looked: ({ run }) => {
            const created = pushBegins(this.#stage(), partsOf(run).bundle);
            if (created) this.#trace.line(`world: Bundle ${created} is created while an older one is pushed`);
          },
        },
        serial: this.#random.fork(`queue-${incarnation}`).chance(0.5),
      }),
      cluster: createMemoryCluster({
        core,
        turnstile,
        faults: {
          failure: () => (faults.strikes('clusterFailure') ? clusterUnreachable() : undefined),
          stale: () => (faults.strikes('clusterStale') ? cached.stale('Deployment') : undefined),
        },
        observed: (namespace, name, seen) => {
          for (const observer of this.#observers) observer.observed?.({ at: scheduler.now(), incarnation, namespace, name, seen });
        },
      }),
      clock: scheduler.clock(incarnation),
      log: this.#log(incarnation),
    };
    const options: ControllerOptions = {
      concurrency: this.#random.fork(`concurrency-${incarnation}`).pick([1, 1, 3]),
      resyncMs: 10 * MINUTE,
    };
    this.#trace.line(`#${incarnation} starts`);
    this.#controllers = startControllers(this.#options.wrap?.(ports) ?? ports, options);
  }

  #closed(url: string): boolean {
    const now = this.#elapsed();
    return this.#scenario.outages.some((outage) => outage.url === url && outage.from <= now && now < outage.to);
  }

  #refusal(paths: readonly string[]): string | undefined {
    const refused = paths.find((path) => this.#scenario.protectedPaths.some((prefix) => path.startsWith(prefix)));
    return refused && `${refused} is protected`;
  }

  #storeFaults(views: StoreViews): StoreFaults {
    const faults = this.#faults;
    return {
      unreadable: () => {
        const struck = faults.strikes('storeRefused');
        if (struck) for (const observer of this.#observers) observer.unread?.();
        return struck;
      },
      stale: (kind) => {
        if (faults.frozen()) return views.still(kind);
        return faults.strikes('staleRead') ? views.stale(kind) : undefined;
      },
      write: () => {
        if (faults.strikes('storeRefused')) return 'refused';
        if (faults.strikes('storeAnswerLost')) return 'answer lost';
        return faults.strikes('storeLate') ? 'late' : 'carried out';
      },
      beforeWrite: ({ kind, metadata }) => {
        if (!faults.strikes('conflict')) return;
        const object = STATUS_KINDS.map((candidate) =>
          candidate === kind ? this.#core.get(candidate, metadata.namespace ?? '', metadata.name) : undefined,
        ).find(Boolean);
        if (!object) return;
        const annotations = { ...object.metadata.annotations, 'sim/touched': String(faults.count) };
        this.#core.update({ ...object, metadata: { ...object.metadata, annotations } }, 'somebody');
      },
      event: () => {
        if (faults.strikes('watchDropped')) return 'dropped';
        if (faults.strikes('watchEnded')) return faults.random.chance(0.5) ? 'watch ends' : 'watch expires';
        return 'delivered';
      },
    };
  }

  #log(incarnation: number): Log {
    const write = (level: string) => (message: string, fields?: Readonly<Record<string, unknown>>) =>
      this.#trace.line(`#${incarnation} ${level}: ${message} ${fields ? JSON.stringify(fields) : ''}`);
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: (message, fields) => {
        const error = fields?.['error'];
        this.#report('BUG', `${message}: ${error instanceof Error ? error.stack : JSON.stringify(fields)}`);
      },
    };
  }

  #afterRelease(release: Release): void {
    const own = release.owner === this.#incarnation && this.#controllers !== undefined;
    if (!own) return;
    if (release.writes) this.#lastWrite = this.#elapsed();
    if (this.#faults.strikes('crash', painOf(release))) this.#crash(release);
  }

  #crash(release: Release): void {
    const { random, profile } = this.#faults;
    const incarnation = this.#incarnation;
    this.#crashes += 1;
    this.#trace.line(`#${incarnation} CRASHES`);
    this.#controllers = undefined;
    if (release.what !== 'effect') this.#crashPoints.add(`${verbOf(release.label)}: effect and answer`);
    for (const { label, fate } of this.#scheduler.revoke(incarnation, () => random.chance(profile.landsAfterCrash))) {
      this.#crashPoints.add(`${verbOf(label)}: ${fate}`);
    }
    this.#scheduler.after(random.below(profile.maxDowntimeMs + 1), 'a new process starts', () => this.#boot());
  }

  /** Until nothing was written for a while after everything planned has happened. */
  async #untilRest(): Promise<void> {
    const quiet = () => this.#elapsed() - Math.max(this.#lastWrite, this.#scenario.endMs, this.#faults.profile.horizonMs) > QUIET_MS;
    await turn();
    while (!this.#violation && !quiet()) {
      await this.#step();
      if (this.#elapsed() > PATIENCE_MS || this.#scheduler.steps > MAX_STEPS) {
        this.#report('I14', `not at rest after ${this.#scheduler.steps} steps and ${Math.round(this.#elapsed() / MINUTE)} virtual minutes`);
      }
    }
  }

  /** At rest, nothing is written (I13). */
  async #rest(): Promise<void> {
    const end = this.#elapsed() + REST_MS;
    const before = this.#lastWrite;
    let idle = false;
    while (!this.#violation && this.#elapsed() < end) {
      idle ||= this.#controllers?.idle() === true;
      await this.#step();
      if (this.#lastWrite > before) this.#report('I13', `a write at rest, ${Math.round(this.#elapsed() / MINUTE)} minutes after the start`);
    }
    if (!idle) this.#report('I13', 'the controllers say that they are busy all the time at rest');
  }

  async #step(): Promise<void> {
    const release = await this.#scheduler.step();
    if (release) this.#afterRelease(release);
    else this.#report('I14', 'nothing is left to happen, not even a timer');
  }
}

/** Runs one seed; what is thrown or rejected anywhere meanwhile counts as a violation. */
export const runSeed = async (seed: string, options: RunOptions = {}): Promise<RunResult> => {
  const simulation = new Simulation(seed, options);
  const rejected = (error: unknown) => simulation.fault(`unhandled: ${error instanceof Error ? error.stack : String(error)}`);
  process.on('unhandledRejection', rejected);
  try {
    return await simulation.run();
  } finally {
    process.off('unhandledRejection', rejected);
  }
};
