/** Opens the store in a data directory: one process at a time, durable writes, migrated schema. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { done, type Outcome, terminal, transient } from '../../api/outcome.ts';
import { DATABASE_FILE, lockDirectory, prepareDirectory } from './directory.ts';
import { watchPresence } from './presence.ts';
import { migrate } from './schema.ts';
import { SQLITE, sqliteCode } from './sqlite-error.ts';
import { createSqliteStore, ensureNamespaces, type SqliteStore, type StoreOptions } from './store.ts';

/** Where the store lives, and how it behaves. */
export interface OpenOptions extends StoreOptions {
  /** Made with mode 0700 when it is not there. */
  readonly directory: string;
}

/** A write is on the disk when its commit returns; the write-ahead log is kept small. */
const PRAGMAS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA cache_size = -32000;
  PRAGMA temp_store = MEMORY;`;

const refusal = (path: string, code: number): Outcome<never> => {
  switch (code) {
    case SQLITE.NOTADB:
    case SQLITE.CORRUPT:
      return terminal(
        'StoreCorrupt',
        `The database ${path} is damaged (SQLite error ${code}); restore it from a backup, or move it away to begin anew.`,
      );
    case SQLITE.FULL:
      return transient('StoreUnavailable', `The database ${path} cannot be written: the disk is full; make room.`);
    case SQLITE.BUSY:
      return transient('StoreUnavailable', `The database ${path} is held by another program; end it.`);
    default:
      return terminal(
        'StoreUnusable',
        `The database ${path} cannot be opened (SQLite error ${code}); check the disk and the rights on the file.`,
      );
  }
};

const openDatabase = (path: string): Outcome<DatabaseSync> => {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: 1000 });
    db.exec(PRAGMAS);
    const migrated = migrate(db);
    if (migrated.outcome === 'done') return done(db);
    db.close();
    return migrated;
  } catch (error) {
    db?.close();
    const code = sqliteCode(error);
    if (code === undefined) throw error;
    return refusal(path, code);
  }
};

/**
 * Opens or makes the store. Terminal: `DataDirectoryInUse`, `DataDirectoryUnusable`, `StoreCorrupt`, `StoreUnusable`, `StoreForeign`,
 * `StoreTooNew`; transient: `StoreUnavailable` on a full disk, or while another
 * program holds the database.
 */
export const openSqliteStore = async (options: OpenOptions): Promise<Outcome<SqliteStore>> => {
  const prepared = prepareDirectory(options.directory);
  if (prepared.outcome !== 'done') return prepared;
  const locked = lockDirectory(options.directory);
  if (locked.outcome !== 'done') return locked;
  const unlock = locked.value;
  const path = join(options.directory, DATABASE_FILE);
  const opened = openDatabase(path);
  if (opened.outcome !== 'done') {
    unlock();
    return opened;
  }
  const db = opened.value;
  const store = createSqliteStore(db, { present: watchPresence(path), ...options }, () => {
    db.close();
    unlock();
  });
  const failed = await ensureNamespaces(store, ['default', ...(options.namespaces ?? [])]);
  if (!failed) return done(store);
  await store.close();
  return transient('StoreUnavailable', failed.message);
};
