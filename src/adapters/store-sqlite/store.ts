/** The store port over an open database. */
import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Admit } from '../../api/admit.ts';
import type { Resource } from '../../api/meta.ts';
import { apiVersionOf, KINDS, type KindMap, type KindName } from '../../api/registry.ts';
import { isKindName } from '../../api/store-semantics.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  DeleteOptions,
  ListOptions,
  Page,
  ReadResult,
  Store,
  StoreError,
  WatchEvent,
  WatchOptions,
  WriteOptions,
  WriteResult,
} from '../../ports/store.ts';
import { checkVersion, listPage, readSelection } from './listing.ts';
import { createObject, deleteObject, type Environment, placeOf, updateObject } from './operations.ts';
import { createRows, parseStored } from './rows.ts';
import { sqliteCode, unavailable } from './sqlite-error.ts';
import { createHub, failedWatch } from './watching.ts';
import { type CommitInfo, createWriter } from './writer.ts';

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
  /** Namespaces that exist from the start, besides `default`. */
  readonly namespaces?: readonly string[];
  /** Told of every commit that changed something. */
  readonly onCommit?: (info: CommitInfo) => void;
}

/** A store in a SQLite database. */
export interface SqliteStore extends Store {
  /** Commits what waits, ends every watch and gives the data directory back. */
  close(): Promise<void>;
}

/** Levels of nesting that an object may have. */
const DEPTH_LIMIT = 100;

const exceedsDepth = (value: unknown, depth = 0): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  return depth >= DEPTH_LIMIT || Object.values(value).some((inner) => exceedsDepth(inner, depth + 1));
};

const badRequest = (message: string): { readonly ok: false; readonly error: StoreError } => ({
  ok: false,
  error: { code: 'BadRequest', message },
});

/** A copy that nobody else can change, or why the value is no object that can be kept. */
const readGiven = (
  given: Resource,
): { readonly ok: true; readonly object: Resource } | { readonly ok: false; readonly error: StoreError } => {
  if (typeof given !== 'object' || given === null) return badRequest('an object is needed');
  if (!isKindName(given.kind))
    return badRequest(`kind ${JSON.stringify(given.kind)} is not served; served are ${Object.keys(KINDS).join(', ')}`);
  if (typeof given.metadata !== 'object' || given.metadata === null || Array.isArray(given.metadata))
    return badRequest('metadata: must be an object');
  if (exceedsDepth(given))
    return { ok: false, error: { code: 'Invalid', message: `the object is nested more than ${DEPTH_LIMIT} levels deep` } };
  return { ok: true, object: parseStored(JSON.stringify(given)) };
};

/** What was stored under a kind has passed its rules. */
const asKind = <T>(value: unknown): T => value as T;

const reading = <T>(read: () => ReadResult<T>): ReadResult<T> => {
  try {
    return read();
  } catch (error) {
    if (sqliteCode(error) === undefined) throw error;
    return { ok: false, error: unavailable(error) };
  }
};

const CLOSED: StoreError = { code: 'Unavailable', message: 'The store is closed.' };

/** Builds the store; the database is open and has the newest schema. `release` is called once, when the store is closed. */
export const createSqliteStore = (db: DatabaseSync, options: StoreOptions, release: () => void): SqliteStore => {
  const rows = createRows(db);
  const environment: Environment = { admit: options.admit, now: () => options.clock.now(), newUid: options.newUid ?? randomUUID };
  const writer = createWriter({
    db,
    rows,
    clock: options.clock,
    historySize: options.historySize ?? 10_000,
    publish: (changes) => hub.publish(changes),
    onCommit: options.onCommit ?? (() => {}),
  });
  const hub = createHub({
    rows,
    clock: options.clock,
    versions: writer.versions,
    bufferSize: options.watchBuffer ?? 1000,
    bookmarkInterval: options.bookmarkInterval ?? 60_000,
  });
  let open = true;

  const update = async <T>(given: Resource, how: WriteOptions & { readonly status: boolean }): Promise<WriteResult<T & Resource>> => {
    const read = readGiven(given);
    if (!read.ok) return read;
    return asKind(await writer.submit((transaction) => updateObject(transaction, environment, read.object, how)));
  };

  return {
    get: async <K extends KindName>(kind: K, namespace: string, name: string): Promise<ReadResult<KindMap[K]>> => {
      if (!open) return { ok: false, error: CLOSED };
      return reading(() => {
        const row = rows.byName(kind, placeOf(kind, namespace), name);
        if (row) return { ok: true, value: asKind<KindMap[K]>(parseStored(row.text)) };
        return {
          ok: false,
          error: { code: 'NotFound', message: `${kind} ${JSON.stringify(namespace ? `${namespace}/${name}` : name)} does not exist` },
        };
      });
    },
    list: async <K extends KindName>(kind: K, how: ListOptions = {}): Promise<ReadResult<Page<KindMap[K]>>> => {
      if (!open) return { ok: false, error: CLOSED };
      return asKind(reading(() => listPage(rows, kind, how, writer.versions())));
    },
    watch: <K extends KindName>(kind: K, how: WatchOptions): AsyncIterable<WatchEvent<KindMap[K]>> => {
      if (!open) return failedWatch(CLOSED);
      const selection = readSelection(kind, how);
      if (!selection.ok) return failedWatch(selection.error);
      const versions = writer.versions();
      const from = how.resourceVersion === undefined ? versions.current : readVersion(how.resourceVersion);
      if (from === undefined)
        return failedWatch({ code: 'BadRequest', message: `resourceVersion: ${JSON.stringify(how.resourceVersion)} is not a version` });
      const expired = checkVersion(from, versions);
      return expired ? failedWatch(expired) : asKind<AsyncIterable<WatchEvent<KindMap[K]>>>(hub.open(selection.value, from, how.signal));
    },
    create: async <T extends KindMap[KindName]>(given: T, how: WriteOptions = {}): Promise<WriteResult<T>> => {
      const read = readGiven(given);
      if (!read.ok) return read;
      return asKind(await writer.submit((transaction) => createObject(transaction, environment, read.object, how)));
    },
    update: (given, how = {}) => update(given, { ...how, status: false }),
    updateStatus: (given, how = {}) => update(given, { ...how, status: true }),
    delete: async <K extends KindName>(
      kind: K,
      namespace: string,
      name: string,
      how: DeleteOptions = {},
    ): Promise<WriteResult<KindMap[K]>> =>
      asKind(await writer.submit((transaction) => deleteObject(transaction, environment, { kind, namespace, name }, how))),
    close: async () => {
      if (!open) return;
      writer.close();
      open = false;
      hub.close(CLOSED);
      release();
    },
  };
};

const readVersion = (text: string): number | undefined => {
  const version = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(version) ? version : undefined;
};

/** Creates the namespaces that exist from the start. */
export const ensureNamespaces = async (store: Store, names: readonly string[]): Promise<StoreError | undefined> => {
  const missing = names.map((name) => store.create({ apiVersion: apiVersionOf(KINDS.Namespace), kind: 'Namespace', metadata: { name } }));
  for (const result of await Promise.all(missing)) if (!result.ok && result.error.code !== 'AlreadyExists') return result.error;
  return undefined;
};
