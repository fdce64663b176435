/** The tables, as a numbered list of migrations; `PRAGMA user_version` says how many have been applied. */
import type { DatabaseSync } from 'node:sqlite';
import { done, type Outcome, terminal } from '../../api/outcome.ts';

/** Marks a database as one of ours. */
const APPLICATION_ID = 0x70726d74;

/**
 * Applied in order, each in a transaction of its own; an entry that was released is never changed.
 * `objects` holds what is, `history` what happened (with the state before, for selectors and for pages of an older list), `labels` and `owners`
 * are indexes, `garbage` lists owners whose dependents are still to be looked at.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
   INSERT INTO meta VALUES ('version', 0), ('floor', 0);
   CREATE TABLE objects (
     id INTEGER PRIMARY KEY, kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, uid TEXT NOT NULL UNIQUE,
     version INTEGER NOT NULL, deleting INTEGER NOT NULL, object TEXT NOT NULL);
   CREATE UNIQUE INDEX objects_by_name ON objects (kind, namespace, name);
   CREATE INDEX objects_by_namespace ON objects (namespace, id);
   CREATE TABLE labels (
     kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, id INTEGER NOT NULL,
     PRIMARY KEY (kind, key, value, namespace, name)) WITHOUT ROWID;
   CREATE TABLE owners (owner TEXT NOT NULL, id INTEGER NOT NULL, blocking INTEGER NOT NULL, PRIMARY KEY (owner, id)) WITHOUT ROWID;
   CREATE TABLE history (
     version INTEGER PRIMARY KEY, kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
     object TEXT NOT NULL, previous TEXT);
   CREATE TABLE garbage (owner TEXT PRIMARY KEY, cursor INTEGER NOT NULL) WITHOUT ROWID;`,
];

const pragma = (db: DatabaseSync, name: string): number => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);

/** Brings a database to the newest schema. Terminal when it belongs to something else or to a newer version of the program. */
export const migrate = (db: DatabaseSync, migrations: readonly string[] = MIGRATIONS): Outcome<void> => {
  const applied = pragma(db, 'user_version');
  const application = pragma(db, 'application_id');
  const tables = Number(db.prepare("SELECT count(*) AS n FROM sqlite_master WHERE type = 'table'").get()?.['n'] ?? 0);
  if (application !== APPLICATION_ID && (application !== 0 || applied !== 0 || tables > 0)) {
    return terminal('StoreForeign', 'The database in the data directory was not made by promoter; choose another data directory.');
  }
  if (applied > migrations.length) {
    return terminal(
      'StoreTooNew',
      `The data directory was written by a newer version (schema ${applied}, this version knows up to ${migrations.length}); use that version, or restore a backup.`,
    );
  }
  for (const [index, sql] of migrations.entries()) {
    if (index < applied) continue;
    try {
      db.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${index + 1}; COMMIT;`);
    } finally {
      if (db.isTransaction) db.exec('ROLLBACK');
    }
  }
  return done(undefined);
};
