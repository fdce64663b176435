/**
 * One bare mirror of one repository: commits and trees of the wanted branches, and the few files that somebody asked for.
 *
 * The mirror's configuration names no promisor remote; only the fetching process is told so. That is what makes partial transfer possible without
 * any reading process ever fetching on its own.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from '../../api/outcome.ts';
import { done, terminal, transient } from '../../api/outcome.ts';
import type { CommitSha } from '../../api/repository.ts';
import { parseCommitSha } from '../../api/repository.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Access } from './credentials.ts';
import type { GitHome } from './environment.ts';
import { fillHome } from './environment.ts';
import { Housekeeping } from './housekeeping.ts';
import type { GitLimits } from './limits.ts';
import { removeStaleLocks } from './locks.ts';
import { createMirrorFolder, moveAway, trackingRef } from './mirror-folder.ts';
import type { ReaderPool } from './object-reader.ts';
import { ObjectReader } from './object-reader.ts';
import { ObjectStore } from './object-store.ts';
import { ObjectWriter, storageFailure } from './object-writer.ts';
import type { GitCommand, GitExit, GitRunner } from './process.ts';
import type { RefResult } from './push-report.ts';
import { readPushReport } from './push-report.ts';
import type { RemoteUrl } from './repository-url.ts';
import { isBranchName } from './repository-url.ts';
import { Serial, SharedLock } from './serial.ts';
import { classifyFailure, lockInTheWay, missingBranch, objectNotServed } from './transport-failure.ts';

/** What a mirror works with. */
export interface MirrorOptions {
  readonly home: GitHome;
  readonly url: RemoteUrl;
  readonly runner: GitRunner;
  readonly readers: ReaderPool;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: GitLimits;
}

/** A branch to be moved. */
export interface RefUpdate {
  readonly branch: string;
  readonly expected: string;
  readonly commit: string;
}

/** What a push came to: results of the branches that the server spoke of, and what went wrong when it did not speak of all. */
export interface PushExit {
  readonly refs: ReadonlyMap<string, RefResult>;
  readonly failure?: Outcome<never>;
}

/** Tips, or why there is none, by branch. */
export type Tips = ReadonlyMap<string, Outcome<{ readonly tip: CommitSha }>>;

const partial: readonly (readonly [string, string])[] = [
  ['remote.origin.promisor', 'true'],
  ['remote.origin.partialclonefilter', 'blob:none'],
];

/** Marks a mirror that holds all files, because its server hands out none by id. */
const wholeMark = 'promoter-whole';

/** A mirror on disk and its reading process. */
export class Mirror {
  readonly url: RemoteUrl;
  readonly path: string;
  /** Network operations, one at a time. */
  readonly remote = new Serial();
  /** Everything that uses the folder is shared; replacing or packing it is exclusive. */
  readonly lock = new SharedLock();
  /** Credentials that have reached the repository in this process. */
  readonly admitted = new Set<string>();
  #store: ObjectStore;
  #writer: ObjectWriter;
  #generation = 0;
  #opened = false;
  readonly #options: MirrorOptions;
  readonly #housekeeping: Housekeeping;
  readonly #tips = new Map<string, { readonly tip: CommitSha; readonly at: number }>();

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.url = options.url;
    this.path = join(options.home.mirrors, `${options.url.key}.git`);
    this.#store = this.#newStore();
    this.#writer = new ObjectWriter(this.path);
    const stopReading = (): Promise<void> => this.#store.reader.stop();
    this.#housekeeping = new Housekeeping({ ...options, path: this.path, address: this.url.address, lock: this.lock, stopReading });
  }

  /** What the mirror takes in. */
  get writer(): ObjectWriter {
    return this.#writer;
  }

  /** What the mirror holds. */
  get store(): ObjectStore {
    return this.#store;
  }

  /** Grows each time the mirror is made anew. */
  get generation(): number {
    return this.#generation;
  }

  /** Makes the folder when there is none, and takes away locks of processes that are gone; once, before anything else is done. */
  open(): Outcome<void> {
    if (this.#opened) return done(undefined);
    try {
      fillHome(this.#options.home);
      if (existsSync(join(this.path, 'config'))) removeStaleLocks(this.path, 'everything');
      else createMirrorFolder(this.path, this.url.address);
      this.#opened = true;
      return done(undefined);
    } catch (error) {
      return storageFailure(error);
    }
  }

  /** The tip that the remote named a moment ago. */
  freshTip(branch: string): CommitSha | undefined {
    const known = this.#tips.get(branch);
    return known !== undefined && this.#options.clock.now() - known.at < this.#options.limits.freshMs ? known.tip : undefined;
  }

  /** Brings the branches' commits and trees. */
  async fetchBranches(branches: readonly string[], access: Access): Promise<Outcome<Tips>> {
    const tips = new Map<string, Outcome<{ readonly tip: CommitSha }>>();
    const wanted = new Set<string>();
    for (const branch of branches) {
      if (isBranchName(branch)) wanted.add(branch);
      else tips.set(branch, terminal('GitBranchMissing', `"${branch.slice(0, 200)}" is not a name that a branch can have`));
    }
    while (wanted.size > 0) {
      const exit = await this.#fetch(
        Array.from(wanted, (branch) => `+refs/heads/${branch}:${trackingRef(branch)}`),
        access,
      );
      if (exit.code === 0) break;
      const missing = missingBranch(exit);
      if (missing === undefined || !wanted.delete(missing)) return this.#failure(exit, access);
      this.#tips.delete(missing);
      tips.set(missing, await this.#explainMissing(missing, access));
    }
    for (const branch of wanted) {
      const tip = await this.#readTip(branch);
      if (tip.outcome === 'transient') return tip;
      tips.set(branch, tip);
    }
    return done(tips);
  }

  async #readTip(branch: string): Promise<Outcome<{ readonly tip: CommitSha }>> {
    const oid = await this.#store.ref(trackingRef(branch));
    if (oid.outcome !== 'done') return oid;
    const tip = parseCommitSha(oid.value ?? '');
    if (tip === undefined) return transient('GitMirrorCorrupt', `the local mirror does not know the branch "${branch}" after a fetch`);
    this.#tips.set(branch, { tip, at: this.#options.clock.now() });
    return done({ tip });
  }

  /**
   * A repository without any branch is told apart from one that lacks this branch, and from an address where something else answers: git takes any
   * page for the list of references of a plain file server. Servers that speak git exchange packets, which the trace shows.
   */
  async #explainMissing(branch: string, access: Access): Promise<Outcome<never>> {
    const traced = { ...access, environment: { ...access.environment, GIT_TRACE_PACKET: '1' } };
    const exit = await this.#run(['ls-remote', '--heads', 'origin'], traced);
    const isEmpty = exit.code === 0 && exit.stdout.trim() === '';
    if (isEmpty && !/\bpacket: /.test(exit.stderr))
      return transient('GitServerError', `${this.url.address}: what answers there is no Git server, or one that has nothing to say`);
    if (isEmpty) return terminal('GitRepositoryEmpty', `${this.url.address} is empty: it has no branch`);
    return terminal('GitBranchMissing', `${this.url.address} has no branch "${branch}"`);
  }

  /** Brings objects by id. Some servers hand out none by id. */
  async fetchObjects(oids: readonly string[], access: Access): Promise<Outcome<'brought' | 'not served'>> {
    const exit = await this.#run(
      ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--filter=blob:none', '--stdin', 'origin'],
      access,
      { settings: [...partial, ['fetch.negotiationAlgorithm', 'noop']], input: `${oids.join('\n')}\n` },
    );
    if (exit.code === 0) return done('brought');
    return objectNotServed(exit) ? done('not served') : this.#failure(exit, access);
  }

  /** Brings everything there is, for servers that hand out no single objects. */
  async fetchEverything(access: Access): Promise<Outcome<void>> {
    this.#options.log.info('Git server hands out no single objects, the whole repository is fetched', { repository: this.url.address });
    const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--refetch', 'origin', '+refs/heads/*:refs/everything/*'];
    const exit = await this.#run(args, access, { timeoutMs: this.#options.limits.cloneMs });
    if (exit.code !== 0) return this.#failure(exit, access);
    try {
      writeFileSync(join(this.path, wholeMark), '');
      return done(undefined);
    } catch (error) {
      return storageFailure(error);
    }
  }

  /** Asks the remote whether it lets this access in. */
  async knock(access: Access): Promise<Outcome<void>> {
    const exit = await this.#run(['ls-remote', 'origin', 'HEAD'], access);
    return exit.code === 0 ? done(undefined) : this.#failure(exit, access);
  }

  /** Moves branches, each only from the commit that is expected there. */
  async push(updates: readonly RefUpdate[], access: Access): Promise<PushExit> {
    const settings = updates.map(({ branch }) => ['remote.origin.fetch', `+refs/heads/${branch}:${trackingRef(branch)}`] as const);
    const leases = updates.map(({ branch, expected }) => `--force-with-lease=refs/heads/${branch}:${expected}`);
    const refspecs = updates.map(({ branch, commit }) => `${commit}:refs/heads/${branch}`);
    const exit = await this.#run(['push', '--porcelain', '--no-verify', ...leases, 'origin', ...refspecs], access, { settings });
    const refs = readPushReport(exit);
    for (const { branch, commit } of updates) {
      const tip = parseCommitSha(commit);
      if (refs.get(branch)?.result === 'landed' && tip !== undefined) this.#tips.set(branch, { tip, at: this.#options.clock.now() });
      else if (refs.get(branch)?.result !== 'refused') this.#tips.delete(branch);
    }
    return updates.every(({ branch }) => refs.has(branch)) ? { refs } : { refs, failure: this.#failure(exit, access) };
  }

  /** Told at the end of each operation. */
  rest(): void {
    this.#housekeeping.rest();
  }

  /** Moves a damaged mirror away and begins a new one. Runs alone. */
  async replace(why: string): Promise<Outcome<void>> {
    this.#options.log.warn('Git mirror is damaged, a new one is made', { repository: this.url.address, why });
    await this.#store.reader.stop();
    try {
      fillHome(this.#options.home);
      moveAway(this.path, join(this.#options.home.spoiled, `${this.url.key}.git`));
      createMirrorFolder(this.path, this.url.address);
    } catch (error) {
      return storageFailure(error);
    }
    this.#generation += 1;
    this.#tips.clear();
    this.admitted.clear();
    this.#store = this.#newStore();
    this.#writer = new ObjectWriter(this.path);
    return done(undefined);
  }

  #newStore(): ObjectStore {
    const { runner, clock, limits, readers: pool } = this.#options;
    return new ObjectStore(new ObjectReader({ runner, clock, gitDirectory: this.path, idleMs: limits.idleMs, pool }));
  }

  #fetch(refspecs: readonly string[], access: Access): Promise<GitExit> {
    const whole = existsSync(join(this.path, wholeMark));
    const args = [
      'fetch',
      '--quiet',
      '--no-tags',
      '--no-write-fetch-head',
      ...(whole ? [] : ['--filter=blob:none']),
      'origin',
      ...refspecs,
    ];
    const { cloneMs, operationMs, fetchSilenceSeconds } = this.#options.limits;
    const transfer = whole ? [] : partial;
    if (!this.#hasPacks()) return this.#run(args, access, { settings: transfer, timeoutMs: cloneMs });
    const settings = [...transfer, ['http.lowSpeedTime', String(fetchSilenceSeconds)] as const];
    return this.#run(args, access, { settings, timeoutMs: operationMs });
  }

  #hasPacks(): boolean {
    return existsSync(join(this.path, 'objects', 'pack')) && readdirSync(join(this.path, 'objects', 'pack')).length > 0;
  }

  async #run(args: readonly string[], access: Access, rest: Pick<GitCommand, 'settings' | 'input' | 'timeoutMs'> = {}): Promise<GitExit> {
    const command: GitCommand = {
      ...rest,
      gitDirectory: this.path,
      args,
      settings: [...access.settings, ...(rest.settings ?? [])],
      environment: access.environment,
      secrets: access.secrets,
    };
    const exit = await this.#options.runner.run(command);
    // Network operations of a mirror never overlap, so a lock that one of them meets belongs to a process that is gone.
    if (exit.code === 0 || lockInTheWay(exit) === undefined) return exit;
    removeStaleLocks(this.path, 'locks');
    return this.#options.runner.run(command);
  }

  #failure(exit: GitExit, access: Access): Outcome<never> {
    return classifyFailure(exit, this.url.address, access.presented);
  }
}
