/**
 * Group commit: the writes of one turn of the event loop share one transaction and one sync to the disk. The transaction runs without a pause,
 * so nobody reads in between; answers and events wait for the commit. When the transaction ends in an error, every member fails.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Resource } from '../../api/meta.ts';
import type { Clock } from '../../ports/clock.ts';
import type { StoreError, WriteResult } from '../../ports/store.ts';
import { collectGarbage } from './garbage.ts';
import type { Versions } from './listing.ts';
import type { Change, Rows } from './rows.ts';
import { sqliteCode, unavailable } from './sqlite-error.ts';
import { beginTransaction, type Transaction } from './transaction.ts';

/** Writes in one transaction. */
const GROUP = 500;
/** Pieces of collection work in one transaction. */
const PIECES = 20;
/** Milliseconds until the collection is tried again after the database failed. */
const RETRY = 1000;

/** What one commit was. */
export interface CommitInfo {
  /** Writes that were asked for and shared it. */
  readonly members: number;
  /** Versions that it added. */
  readonly changes: number;
}

/** What the writer needs. */
export interface WriterOptions {
  readonly db: DatabaseSync;
  readonly rows: Rows;
  readonly clock: Clock;
  /** Changes that are kept for watches and lists. */
  readonly historySize: number;
  readonly publish: (changes: readonly Change[]) => void;
  readonly onCommit: (info: CommitInfo) => void;
  /** Whether the database is still where it was opened; asked right before each commit. */
  readonly present: () => boolean;
}

const REMOVED: StoreError = {
  code: 'Unavailable',
  message:
    'The database was removed or replaced while it was open, so that nothing can be kept any more; stop the service, put its data directory back, and start it again.',
};

/** Ends a transaction whose commit nobody could read again. */
class Removed {}

type Write = (transaction: Transaction) => WriteResult<Resource>;

interface Member {
  readonly write: Write;
  readonly resolve: (result: WriteResult<Resource>) => void;
  readonly reject: (bug: unknown) => void;
}

/** A member threw something that is no failure of the database: a bug in a rule, which is the caller's alone. */
class MemberBug {
  readonly member: Member;
  readonly cause: unknown;
  constructor(member: Member, cause: unknown) {
    this.member = member;
    this.cause = cause;
  }
}

/** A transaction after its commit. */
interface Committed {
  readonly results: readonly WriteResult<Resource>[];
  readonly changes: readonly Change[];
  readonly versions: Versions;
  readonly garbage: boolean;
}

/** The writer of one database. */
export class Writer {
  readonly #options: WriterOptions;
  #queue: Member[] = [];
  #scheduled: NodeJS.Immediate | undefined;
  #closed = false;
  /** Whether owners are noted whose dependents have to be looked at. */
  #garbage: boolean;
  #cancelRetry: (() => void) | undefined;
  /** Why the last transaction failed. */
  #failure: StoreError | undefined;
  #versions: Versions;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#garbage = options.rows.hasGarbage();
    this.#versions = { current: options.rows.meta('version'), floor: options.rows.meta('floor') };
    if (this.#garbage) this.#schedule();
  }

  /** What is committed. */
  get versions(): Versions {
    return this.#versions;
  }

  /** Why nothing can be written; undefined as long as the last attempt succeeded. Each question makes a new attempt when it did not. */
  get failure(): StoreError | undefined {
    if (this.#failure === undefined && !this.#options.present()) this.#failure = REMOVED;
    if (this.#failure !== undefined && !this.#closed) this.#schedule();
    return this.#failure;
  }

  /** Runs a write in the next transaction; settles after its commit. */
  submit(write: Write): Promise<WriteResult<Resource>> {
    if (this.#closed) return Promise.resolve({ ok: false, error: { code: 'Unavailable', message: 'The store is closed.' } });
    return new Promise((resolve, reject) => {
      this.#queue.push({ write, resolve, reject });
      this.#schedule();
    });
  }

  /** Commits what waits, then takes nothing more. */
  close(): void {
    this.#closed = true;
    while (this.#queue.length > 0) this.#flush();
    if (this.#scheduled) clearImmediate(this.#scheduled);
    this.#cancelRetry?.();
  }

  #schedule(): void {
    this.#scheduled ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#scheduled) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    const members = this.#queue.splice(0, GROUP);
    if (members.length > 0 || this.#garbage || this.#failure !== undefined) this.#commitGroup(members);
    if (this.#queue.length > 0) this.#schedule();
  }

  #commitGroup(members: readonly Member[]): void {
    try {
      this.#acknowledge(members, this.#transact(members));
    } catch (error) {
      this.#rollBack();
      if (error instanceof Removed) return void this.#fail(members, REMOVED);
      if (error instanceof MemberBug) {
        error.member.reject(error.cause);
        this.#commitGroup(members.filter((member) => member !== error.member));
        return;
      }
      if (sqliteCode(error) === undefined) throw error;
      this.#fail(members, unavailable(error));
    }
  }

  /** Everything between BEGIN and COMMIT, without a pause. The counters are read anew, so a transaction that failed leaves no trace in memory. */
  #transact(members: readonly Member[]): Committed {
    const { db, rows, clock } = this.#options;
    db.exec('BEGIN IMMEDIATE');
    const transaction = beginTransaction(rows);
    const before = transaction.version;
    const results = members.map((member) => runMember(member, transaction));
    // What these members have left behind waits for the next transaction: they are acknowledged first.
    let more = this.#garbage;
    for (let pieces = 0; more && pieces < PIECES; pieces++) more = collectGarbage(transaction, clock.now());
    let floor = rows.meta('floor');
    // After a failure something is written in any case, to see whether it works again.
    if (transaction.version !== before || this.#failure !== undefined) {
      floor = this.#trim(transaction, floor);
      rows.setMeta('version', transaction.version);
    }
    const garbage = rows.hasGarbage();
    if (!this.#options.present()) throw new Removed();
    db.exec('COMMIT');
    return { results, changes: transaction.changes, versions: { current: transaction.version, floor }, garbage };
  }

  #acknowledge(members: readonly Member[], { results, changes, versions, garbage }: Committed): void {
    this.#failure = undefined;
    this.#versions = versions;
    this.#garbage = garbage;
    if (changes.length > 0) this.#options.onCommit({ members: members.length, changes: changes.length });
    this.#options.publish(changes);
    for (const [index, member] of members.entries()) {
      const result = results[index];
      if (result) member.resolve(result);
    }
    if (garbage && !this.#closed) this.#schedule();
  }

  /** Trims in larger pieces, so that not every commit deletes. */
  #trim(transaction: Transaction, floor: number): number {
    const { historySize, rows } = this.#options;
    const slack = Math.floor(historySize / 10);
    if (transaction.version - floor <= historySize + slack) return floor;
    const next = transaction.version - historySize;
    rows.trim(next);
    rows.setMeta('floor', next);
    return next;
  }

  #rollBack(): void {
    const { db } = this.#options;
    if (!db.isTransaction) return;
    try {
      db.exec('ROLLBACK');
    } catch (error) {
      // Tried again when the next group begins and cannot.
      if (sqliteCode(error) === undefined) throw error;
    }
  }

  #fail(members: readonly Member[], error: StoreError): void {
    const answer = { ok: false, error } as const;
    this.#failure = error;
    for (const member of members) member.resolve(answer);
    if (!this.#garbage || this.#closed) return;
    const { clock } = this.#options;
    this.#cancelRetry ??= clock.at(clock.now() + RETRY, () => {
      this.#cancelRetry = undefined;
      this.#schedule();
    });
  }
}

const runMember = (member: Member, transaction: Transaction): WriteResult<Resource> => {
  try {
    return member.write(transaction);
  } catch (error) {
    throw sqliteCode(error) === undefined ? new MemberBug(member, error) : error;
  }
};
