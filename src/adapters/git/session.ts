/** One repository as one credential sees it: the door through which every operation reaches the mirror. */
import type { Outcome } from '../../api/outcome.ts';
import { done, transient } from '../../api/outcome.ts';
import type { CommitSha, SecretRef } from '../../api/repository.ts';
import { Coalescer } from './coalescer.ts';
import type { Access, Credentials } from './credentials.ts';
import type { Mirror, Tips } from './mirror.ts';
import type { RemoteUrl } from './repository-url.ts';

/** A mirror together with a credential. */
export class Session {
  readonly mirror: Mirror;
  /** The mirror's address with the user information of this session, if any. */
  readonly #url: RemoteUrl;
  readonly #key: string;
  readonly #secret: SecretRef | undefined;
  readonly #credentials: Credentials;
  readonly #branches: Coalescer<Outcome<Tips>>;
  readonly #objects: Coalescer<Outcome<void>>;
  readonly #commits: Coalescer<Outcome<void>>;

  constructor(options: { mirror: Mirror; url: RemoteUrl; key: string; secret: SecretRef | undefined; credentials: Credentials }) {
    this.mirror = options.mirror;
    this.#url = options.url;
    this.#key = options.key;
    this.#secret = options.secret;
    this.#credentials = options.credentials;
    this.#branches = new Coalescer(this.mirror.remote, (branches) => this.withAccess((access) => this.fetchTips([...branches], access)));
    this.#objects = new Coalescer(this.mirror.remote, (oids) => this.withAccess((access) => this.fetchObjects([...oids], access)));
    this.#commits = new Coalescer(this.mirror.remote, (oids) => this.withAccess((access) => this.#fetchCommits([...oids], access)));
  }

  /** Runs an operation on the mirror; when it finds the mirror damaged, once more on a new one. */
  async use<T>(operation: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    try {
      return await this.#use(operation);
    } finally {
      this.mirror.rest();
    }
  }

  async #use<T>(operation: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const opened = this.mirror.open();
    if (opened.outcome !== 'done') return opened;
    const { lock } = this.mirror;
    let generation = this.mirror.generation;
    const first = await lock.shared(() => {
      generation = this.mirror.generation;
      return operation();
    });
    if (first.outcome !== 'transient' || first.reason.code !== 'GitMirrorCorrupt') return first;
    const replaced = await lock.exclusive(async () =>
      this.mirror.generation === generation ? this.mirror.replace(first.reason.message) : done(undefined),
    );
    return replaced.outcome === 'done' ? lock.shared(operation) : replaced;
  }

  /** Reads the credential for one operation and puts it away afterwards. */
  async withAccess<T>(task: (access: Access) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const access = await this.#credentials.access(this.#url, this.#secret);
    if (access.outcome !== 'done') return access;
    try {
      return this.#judge(await task(access.value));
    } finally {
      access.value.release();
    }
  }

  /** A credential that is refused may not read the mirror either, until it has reached the repository again. */
  #judge<T>(outcome: Outcome<T>): Outcome<T> {
    if (outcome.outcome === 'transient' && (outcome.reason.code === 'GitUnauthorized' || outcome.reason.code === 'GitRepositoryMissing'))
      this.mirror.admitted.delete(this.#key);
    return outcome;
  }

  /** Whether this credential has reached the repository in this process. */
  get admitted(): boolean {
    return this.mirror.admitted.has(this.#key);
  }

  /** Fetches branches; the caller has its turn already. */
  async fetchTips(branches: readonly string[], access: Access): Promise<Outcome<Tips>> {
    return this.#admit(await this.mirror.fetchBranches(branches, access));
  }

  /**
   * Fetches objects that belong to commits we have; the caller has its turn already. This admits nobody: git does not even ask the remote
   * for what is there.
   */
  async fetchObjects(oids: readonly string[], access: Access): Promise<Outcome<void>> {
    const fetched = await this.mirror.fetchObjects(oids, access);
    if (fetched.outcome !== 'done') return fetched;
    return fetched.value === 'brought' ? done(undefined) : this.mirror.fetchEverything(access);
  }

  /** Knocks at the remote's door, and fetches commits that may be gone; what is not served is no failure. */
  async #fetchCommits(oids: readonly string[], access: Access): Promise<Outcome<void>> {
    if (!this.admitted) {
      const knocked = this.#admit(await this.mirror.knock(access));
      if (knocked.outcome !== 'done') return knocked;
    }
    const missing: string[] = [];
    for (const oid of oids) {
      const present = await this.mirror.store.has(oid);
      if (present.outcome !== 'done') return present;
      if (!present.value) missing.push(oid);
    }
    if (missing.length === 0) return done(undefined);
    const fetched = await this.mirror.fetchObjects(missing, access);
    return fetched.outcome === 'done' ? done(undefined) : fetched;
  }

  #admit<T>(outcome: Outcome<T>): Outcome<T> {
    if (outcome.outcome === 'done') this.mirror.admitted.add(this.#key);
    return outcome;
  }

  /** Asks the remote for a branch, together with everybody else who asks. */
  async fetchBranch(branch: string): Promise<Outcome<{ readonly tip: CommitSha }>> {
    const tips = await this.#branches.ask([branch]);
    if (tips.outcome !== 'done') return tips;
    return tips.value.get(branch) ?? transient('GitServerError', `the fetch said nothing about the branch "${branch}"`);
  }

  /** Brings objects, together with everybody else who wants some. */
  bringObjects(oids: Iterable<string>): Promise<Outcome<void>> {
    return this.#objects.ask(oids);
  }

  /** Makes sure that the credential reaches the repository and the commit is in the mirror. */
  async reach(commit: string): Promise<Outcome<void>> {
    const { store } = this.mirror;
    if (this.admitted) {
      const present = await store.has(commit);
      if (present.outcome !== 'done') return present;
      if (present.value) return done(undefined);
    }
    const brought = await this.#commits.ask([commit]);
    if (brought.outcome !== 'done') return brought;
    const present = await store.has(commit);
    if (present.outcome !== 'done') return present;
    return present.value ? done(undefined) : transient('GitBaseMissing', `the commit ${commit} is no longer in ${this.mirror.url.address}`);
  }
}
