/** The Git engine: promotions written straight into bare mirrors and pushed in groups. */
import type { FileEdit } from '../../api/file-edit.ts';
import type { Outcome } from '../../api/outcome.ts';
import { done, transient } from '../../api/outcome.ts';
import type { CommitSha, Repository } from '../../api/repository.ts';
import { parseCommitSha } from '../../api/repository.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CommitPlan, Committed, FileChange, GitPort, Pushed, PushPlan } from '../../ports/git.ts';
import type { Log } from '../../ports/log.ts';
import type { Secrets } from '../../ports/secrets.ts';
import { Children } from './children.ts';
import { Credentials, credentialKey } from './credentials.ts';
import type { GitHome } from './environment.ts';
import { baseEnvironment, baseSettings, prepareHome } from './environment.ts';
import { checkGitVersion } from './git-version.ts';
import type { GitLimits } from './limits.ts';
import { defaultLimits } from './limits.ts';
import { Mirror } from './mirror.ts';
import { ReaderPool } from './object-reader.ts';
import { preview } from './preview.ts';
import type { ProcessEvent } from './process.ts';
import { GitRunner } from './process.ts';
import type { ChainSettings } from './push-chain.ts';
import { makeCommit } from './push-chain.ts';
import { PushGroup } from './push-group.ts';
import { PushQueue } from './push-queue.ts';
import type { RemoteUrl } from './repository-url.ts';
import { parseRepositoryUrl } from './repository-url.ts';
import { Session } from './session.ts';

/** What the engine is made of. */
export interface GitOptions {
  /** The engine's own folder; created when it is not there. Only one engine uses it at a time. */
  readonly directory: string;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<GitLimits>;
  /** Whether file:// repositories are accepted; not by default. */
  readonly allowFileUrls?: boolean;
  /** Author and committer; `promoter <promoter@localhost>` by default. */
  readonly identity?: { readonly name: string; readonly email: string };
  /** Told of each git process when it ends. */
  readonly onProcess?: (event: ProcessEvent) => void;
  /** Where PATH, proxies and certificate settings come from; the process's own by default. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** Totals since the engine was made. */
export interface GitCounters {
  readonly processes: number;
  readonly bytes: number;
}

/** The engine. */
export interface Git extends GitPort {
  /** Git processes that have ended, and the bytes they wrote to us. */
  counters(): GitCounters;
  /** Ends all git processes; what is under way ends as transient `GitUnavailable` or the like. */
  close(): Promise<void>;
}

/**
 * Makes the engine, and ends what an earlier one left running. Transient `GitUnavailable` when the folder cannot be used, terminal `GitUnusable`
 * when git is missing or too old.
 */
export async function createGit(options: GitOptions): Promise<Outcome<Git>> {
  try {
    const home = prepareHome(options.directory);
    const usable = checkGitVersion(baseEnvironment(home, false, options.environment ?? process.env));
    if (usable.outcome !== 'done') return usable;
    const children = new Children(home);
    const ended = await children.endLeftovers();
    if (ended > 0) options.log.warn('Git processes of an earlier start were still running and have been ended', { ended });
    return done(new Engine(options, home, children));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return transient('GitUnavailable', `the Git folder ${options.directory} cannot be used (${code})`);
  }
}

class Engine implements Git {
  readonly #options: GitOptions;
  readonly #home: GitHome;
  readonly #limits: GitLimits;
  readonly #runner: GitRunner;
  readonly #credentials: Credentials;
  readonly #identity: string;
  readonly #readers: ReaderPool;
  readonly #mirrors = new Map<string, Mirror>();
  readonly #sessions = new Map<string, { readonly session: Session; readonly queue: PushQueue }>();
  #processes = 0;
  #bytes = 0;

  constructor(options: GitOptions, home: GitHome, children: Children) {
    this.#options = options;
    this.#home = home;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#readers = new ReaderPool(this.#limits.readers);
    this.#credentials = new Credentials(options.secrets, home);
    const { name, email } = options.identity ?? { name: 'promoter', email: 'promoter@localhost' };
    this.#identity = `${plain(name)} <${plain(email)}>`;
    this.#runner = new GitRunner({
      children,
      clock: options.clock,
      environment: baseEnvironment(home, options.allowFileUrls ?? false, options.environment ?? process.env),
      settings: baseSettings(this.#limits),
      timeoutMs: this.#limits.operationMs,
      onProcess: (event) => {
        this.#processes += 1;
        this.#bytes += event.bytes;
        options.onProcess?.(event);
      },
    });
  }

  counters(): GitCounters {
    return { processes: this.#processes, bytes: this.#bytes };
  }

  async fetch(repository: Repository, branch: string): Promise<Outcome<{ readonly tip: CommitSha }>> {
    return this.#with(repository, ({ session }) => session.use(() => session.fetchBranch(branch)));
  }

  async preview(repository: Repository, base: CommitSha, edit: FileEdit): Promise<Outcome<readonly FileChange[]>> {
    return this.#with(repository, ({ session }) => session.use(() => preview(session, this.#settings(session), { base, edit })));
  }

  async commit(repository: Repository, base: CommitSha, plan: CommitPlan): Promise<Outcome<Committed>> {
    return this.#with(repository, ({ session }) => session.use(() => this.#commit(session, base, plan)));
  }

  async push(repository: Repository, plan: PushPlan, guard: () => Promise<boolean>): Promise<Outcome<Pushed>> {
    return this.#with(repository, ({ queue }) => queue.push(plan, guard));
  }

  async close(): Promise<void> {
    await this.#runner.close();
  }

  async #commit(session: Session, base: CommitSha, plan: CommitPlan): Promise<Outcome<Committed>> {
    const reached = await session.reach(base);
    if (reached.outcome !== 'done') return reached;
    let made = await makeCommit(this.#settings(session), base, plan);
    if (made.outcome === 'done' && 'missing' in made.value) {
      const brought = await session.bringObjects(made.value.missing);
      if (brought.outcome !== 'done') return brought;
      made = await makeCommit(this.#settings(session), base, plan);
    }
    if (made.outcome !== 'done') return made;
    if ('missing' in made.value) return transient('GitMirrorCorrupt', 'fetched files are not in the mirror');
    const commit = parseCommitSha(made.value.commit);
    if (commit === undefined) throw new Error('a commit was made without an id');
    const written = await session.mirror.writer.write(made.value.objects);
    return written.outcome === 'done' ? done({ base, commit, changed: made.value.changed }) : written;
  }

  #settings(session: Session): ChainSettings {
    return { store: session.mirror.store, identity: this.#identity, fileBytes: this.#limits.fileBytes };
  }

  async #with<T>(
    repository: Repository,
    use: (door: { readonly session: Session; readonly queue: PushQueue }) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const url = parseRepositoryUrl(repository.url, this.#options.allowFileUrls ?? false);
    if (url.outcome !== 'done') return url;
    return use(this.#door(url.value, repository));
  }

  #door(url: RemoteUrl, repository: Repository): { readonly session: Session; readonly queue: PushQueue } {
    const key = credentialKey(url, repository.credential);
    const name = `${url.key} ${key}`;
    const known = this.#sessions.get(name);
    if (known !== undefined) return known;
    const session = new Session({ mirror: this.#mirror(url), url, key, secret: repository.credential, credentials: this.#credentials });
    const group = new PushGroup(session, this.#identity, this.#limits.fileBytes);
    const door = { session, queue: new PushQueue(session, group, this.#limits.groupSize) };
    this.#sessions.set(name, door);
    return door;
  }

  #mirror(url: RemoteUrl): Mirror {
    const known = this.#mirrors.get(url.key);
    if (known !== undefined) return known;
    const { clock, log } = this.#options;
    const mirror = new Mirror({ home: this.#home, url, runner: this.#runner, readers: this.#readers, clock, log, limits: this.#limits });
    this.#mirrors.set(url.key, mirror);
    return mirror;
  }
}

/** Identities may not hold what git uses to take them apart. */
const plain = (text: string): string => text.replace(/[<>\r\n\0]/g, '').trim();
