/** The store port over an open database. */
import { randomUUIDv7 } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Admit } from '../../api/admit.ts';
import type { Resource } from '../../api/meta.ts';
import { apiVersionOf, KINDS } from '../../api/registry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Store, StoreError, WriteResult } from '../../ports/store.ts';
import { readGiven } from './given.ts';
import { createObject, deleteObject, type Environment, updateObject } from './operations.ts';
import { asKind, createReads } from './reads.ts';
import { createRows, type Rows } from './rows.ts';
import type { Transaction } from './transaction.ts';
import { Hub } from './watching.ts';
import { type CommitInfo, Writer } from './writer.ts';

/** How a store behaves; every field but `clock` and `admit` has a default. */
export interface StoreOptions {
  readonly clock: Clock;
  /** Applies the rules and defaults of the kinds. */
  readonly admit: Admit;
  /** Random UUIDs by default. */
  readonly newUid?: () => string;
  /** Changes that are kept for watches and for pages of older lists; 10,000 by default. */
  readonly historySize?: number;
  /** Events that a slow watch may hold in memory before it goes back to the history; 1,000 by default. */
  readonly watchBuffer?: number;
  /** Milliseconds between bookmarks; a minute by default. */
  readonly bookmarkInterval?: number;
  /** Namespaces that exist from the start, besides `default`. Any other one is made by the first object that is created in it. */
  readonly namespaces?: readonly string[];
  /** Told of every commit that changed something. */
  readonly onCommit?: (info: CommitInfo) => void;
  /** Whether the database is still where it was opened; always when absent. */
  readonly present?: () => boolean;
}

/** A store in a SQLite database. */
export interface SqliteStore extends Store {
  /** Why nothing can be written, for those who ask whether the service is ready; undefined while the last attempt succeeded. */
  problem(): StoreError | undefined;
  /** Commits what waits, ends every watch and gives the data directory back. */
  close(): Promise<void>;
}

const CLOSED: StoreError = { code: 'Unavailable', message: 'The store is closed.' };

type Writes = Pick<Store, 'create' | 'update' | 'updateStatus' | 'delete'>;

const createWrites = (writer: Writer, environment: Environment): Writes => {
  const write = async <T extends Resource>(
    given: T,
    run: (transaction: Transaction, object: Resource) => WriteResult<Resource>,
  ): Promise<WriteResult<T>> => {
    const read = readGiven(given);
    return read.ok ? asKind(await writer.submit((transaction) => run(transaction, read.object))) : read;
  };
  return {
    create: (given, options = {}) => write(given, (transaction, object) => createObject(transaction, environment, object, options)),
    update: (given, options = {}) =>
      write(given, (transaction, object) => updateObject(transaction, environment, object, { ...options, status: false })),
    updateStatus: (given, options = {}) =>
      write(given, (transaction, object) => updateObject(transaction, environment, object, { ...options, status: true })),
    delete: async (kind, namespace, name, options = {}) =>
      asKind(await writer.submit((transaction) => deleteObject(transaction, environment, { kind, namespace, name }, options))),
  };
};

const createParts = (db: DatabaseSync, options: StoreOptions): { readonly rows: Rows; readonly writer: Writer; readonly hub: Hub } => {
  const { clock } = options;
  const rows = createRows(db);
  const writer: Writer = new Writer({
    db,
    rows,
    clock,
    historySize: options.historySize ?? 10_000,
    publish: (changes) => hub.publish(changes),
    onCommit: options.onCommit ?? (() => {}),
    present: options.present ?? (() => true),
  });
  const hub = new Hub({
    rows,
    clock,
    versions: () => writer.versions,
    bufferSize: options.watchBuffer ?? 1000,
    bookmarkInterval: options.bookmarkInterval ?? 60_000,
  });
  return { rows, writer, hub };
};

/** Builds the store; the database is open and has the newest schema. `release` is called once, when the store is closed. */
export const createSqliteStore = (db: DatabaseSync, options: StoreOptions, release: () => void): SqliteStore => {
  const { rows, writer, hub } = createParts(db, options);
  const environment: Environment = {
    admit: options.admit,
    now: () => options.clock.now(),
    newUid: options.newUid ?? (() => randomUUIDv7()),
  };
  let closed: StoreError | undefined;
  return {
    ...createReads({ rows, hub, versions: () => writer.versions, closed: () => closed }),
    ...createWrites(writer, environment),
    problem: () => closed ?? writer.failure,
    close: async () => {
      if (closed) return;
      writer.close();
      closed = CLOSED;
      hub.close(CLOSED);
      release();
    },
  };
};

/** Creates the namespaces that exist from the start. */
export const ensureNamespaces = async (store: Store, names: readonly string[]): Promise<StoreError | undefined> => {
  const missing = names.map((name) => store.create({ apiVersion: apiVersionOf(KINDS.Namespace), kind: 'Namespace', metadata: { name } }));
  for (const result of await Promise.all(missing)) if (!result.ok && result.error.code !== 'AlreadyExists') return result.error;
  return undefined;
};
