/**
 * Group commit: the writes of one turn of the event loop share one transaction and one sync to the disk. The transaction runs without a pause,
 * so nobody reads in between; answers and events wait for the commit. When the transaction ends in an error, every member fails.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Resource } from '../../api/meta.ts';
import type { Clock } from '../../ports/clock.ts';
import type { WriteResult } from '../../ports/store.ts';
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
}

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

/** The writer of one database. */
export const createWriter = (options: WriterOptions) => {
  const { db, rows, clock } = options;
  let queue: Member[] = [];
  let scheduled: NodeJS.Immediate | undefined;
  let closed = false;
  let garbage = rows.nextGarbage() !== undefined;
  let cancelRetry: (() => void) | undefined;
  let versions: Versions = { current: rows.meta('version'), floor: rows.meta('floor') };

  const schedule = (): void => {
    scheduled ??= setImmediate(flush);
  };

  /** Trims in larger pieces, so that not every commit deletes. */
  const trim = (transaction: Transaction, floor: number): number => {
    const slack = Math.max(1, Math.floor(options.historySize / 10));
    if (transaction.version - floor <= options.historySize + slack) return floor;
    const next = transaction.version - options.historySize;
    rows.trim(next);
    rows.setMeta('floor', next);
    return next;
  };

  const runAll = (
    members: readonly Member[],
  ): { results: WriteResult<Resource>[]; transaction: Transaction; floor: number; more: boolean } => {
    db.exec('BEGIN IMMEDIATE');
    const transaction = beginTransaction(rows);
    const before = transaction.version;
    const results = members.map((member) => {
      try {
        return member.write(transaction);
      } catch (error) {
        throw sqliteCode(error) === undefined ? new MemberBug(member, error) : error;
      }
    });
    let more = garbage || transaction.changes.length > 0;
    // Work that members of this transaction have made waits for the next one; they are acknowledged first.
    for (let pieces = 0; garbage && more && pieces < PIECES; pieces++) more = collectGarbage(transaction, clock.now());
    more = rows.nextGarbage() !== undefined;
    let { floor } = versions;
    if (transaction.version !== before) {
      floor = trim(transaction, rows.meta('floor'));
      rows.setMeta('version', transaction.version);
    }
    db.exec('COMMIT');
    return { results, transaction, floor, more };
  };

  const rollBack = (): void => {
    if (!db.isTransaction) return;
    try {
      db.exec('ROLLBACK');
    } catch (error) {
      if (sqliteCode(error) === undefined) throw error;
    }
  };

  const fail = (members: readonly Member[], error: unknown): void => {
    const answer = { ok: false, error: unavailable(error) } as const;
    for (const member of members) member.resolve(answer);
    if (!garbage || closed) return;
    cancelRetry ??= clock.at(clock.now() + RETRY, () => {
      cancelRetry = undefined;
      schedule();
    });
  };

  const commitGroup = (members: readonly Member[]): void => {
    try {
      const { results, transaction, floor, more } = runAll(members);
      versions = { current: transaction.version, floor };
      garbage = more;
      if (transaction.changes.length > 0) options.onCommit({ members: members.length, changes: transaction.changes.length });
      options.publish(transaction.changes);
      for (const [index, member] of members.entries()) {
        const result = results[index];
        if (result) member.resolve(result);
      }
      if (garbage) schedule();
    } catch (error) {
      rollBack();
      if (!(error instanceof MemberBug)) {
        if (sqliteCode(error) === undefined) throw error;
        fail(members, error);
        return;
      }
      error.member.reject(error.cause);
      commitGroup(members.filter((member) => member !== error.member));
    }
  };

  const flush = (): void => {
    scheduled = undefined;
    const members = queue.slice(0, GROUP);
    queue = queue.slice(GROUP);
    if (members.length > 0 || garbage) commitGroup(members);
    if (queue.length > 0) schedule();
  };

  if (garbage) schedule();

  return {
    /** Runs a write in the next transaction; settles after its commit. */
    submit: (write: Write): Promise<WriteResult<Resource>> => {
      if (closed) return Promise.resolve({ ok: false, error: { code: 'Unavailable', message: 'The store is closed.' } });
      return new Promise((resolve, reject) => {
        queue.push({ write, resolve, reject });
        schedule();
      });
    },
    /** What is committed. */
    versions: (): Versions => versions,
    /** Commits what waits, then takes nothing more. */
    close: (): void => {
      closed = true;
      if (scheduled) clearImmediate(scheduled);
      while (queue.length > 0) flush();
      if (scheduled) clearImmediate(scheduled);
      cancelRetry?.();
    },
  };
};
