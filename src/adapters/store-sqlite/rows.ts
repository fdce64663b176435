/** Every SQL statement on objects and their indexes, prepared once. Knows no rules: what is asked is done. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Resource } from '../../api/meta.ts';

/** A stored object. */
export interface Row {
  readonly id: number;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: number;
  readonly deleting: boolean;
  readonly text: string;
}

/** One entry of the history: what happened at a version. */
export interface Change {
  readonly version: number;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** JSON after the change; for DELETED the last state under the version of the deletion. */
  readonly text: string;
  /** JSON before the change. */
  readonly previous: string | undefined;
}

type SqlRow = Record<string, unknown>;

const text = (row: SqlRow, column: string): string => String(row[column]);
const integer = (row: SqlRow, column: string): number => Number(row[column]);

const toRow = (row: SqlRow): Row => ({
  id: integer(row, 'id'),
  kind: text(row, 'kind'),
  namespace: text(row, 'namespace'),
  name: text(row, 'name'),
  uid: text(row, 'uid'),
  version: integer(row, 'version'),
  deleting: integer(row, 'deleting') === 1,
  text: text(row, 'object'),
});

const typeOf = (value: unknown): Change['type'] => (value === 'ADDED' || value === 'DELETED' ? value : 'MODIFIED');

const toChange = (row: SqlRow): Change => ({
  version: integer(row, 'version'),
  kind: text(row, 'kind'),
  namespace: text(row, 'namespace'),
  name: text(row, 'name'),
  type: typeOf(row['type']),
  text: text(row, 'object'),
  previous: typeof row['previous'] === 'string' ? row['previous'] : undefined,
});

/** Reads a stored object. The store wrote the text itself, from an object that passed the checks. */
export const parseStored = (stored: string): Resource => JSON.parse(stored) as Resource;

const STATEMENTS = 200;

/** Prepares a statement once and keeps it; the oldest go when there are very many. */
const statementCache = (db: DatabaseSync): ((sql: string) => StatementSync) => {
  const cache = new Map<string, StatementSync>();
  return (sql) => {
    const known = cache.get(sql);
    if (known) return known;
    const statement = db.prepare(sql);
    const oldest = cache.keys().next().value;
    if (cache.size >= STATEMENTS && oldest !== undefined) cache.delete(oldest);
    cache.set(sql, statement);
    return statement;
  };
};

/** The statements, bound to one database. */
export const createRows = (db: DatabaseSync) => {
  const statement = statementCache(db);
  const one = (sql: string, ...values: SQLInputValue[]): SqlRow | undefined => statement(sql).get(...values);
  const row = (sql: string, ...values: SQLInputValue[]): Row | undefined => {
    const found = one(sql, ...values);
    return found && toRow(found);
  };
  const run = (sql: string, ...values: SQLInputValue[]): void => {
    statement(sql).run(...values);
  };
  const index = (id: number, object: Resource, place: { kind: string; namespace: string; name: string }): void => {
    for (const [key, value] of Object.entries(object.metadata.labels ?? {})) {
      run('INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?)', place.kind, key, value, place.namespace, place.name, id);
    }
    for (const owner of object.metadata.ownerReferences ?? []) {
      run('INSERT OR REPLACE INTO owners VALUES (?, ?, ?)', owner.uid, id, owner.blockOwnerDeletion === true ? 1 : 0);
    }
  };
  const unindex = (id: number, object: Resource, place: { kind: string; namespace: string; name: string }): void => {
    for (const [key, value] of Object.entries(object.metadata.labels ?? {})) {
      run(
        'DELETE FROM labels WHERE kind = ? AND key = ? AND value = ? AND namespace = ? AND name = ?',
        place.kind,
        key,
        value,
        place.namespace,
        place.name,
      );
    }
    for (const owner of object.metadata.ownerReferences ?? []) run('DELETE FROM owners WHERE owner = ? AND id = ?', owner.uid, id);
  };

  return {
    byName: (kind: string, namespace: string, name: string) =>
      row('SELECT * FROM objects WHERE kind = ? AND namespace = ? AND name = ?', kind, namespace, name),
    byUid: (uid: string) => row('SELECT * FROM objects WHERE uid = ?', uid),
    byId: (id: number) => row('SELECT * FROM objects WHERE id = ?', id),
    /** Whether a namespace exists, and whether it is being deleted. */
    namespace: (name: string): { readonly deleting: boolean; readonly uid: string } | undefined => {
      const found = one("SELECT uid, deleting FROM objects WHERE kind = 'Namespace' AND namespace = '' AND name = ?", name);
      return found && { deleting: integer(found, 'deleting') === 1, uid: text(found, 'uid') };
    },
    /** Objects in a namespace, from an id on. */
    inNamespace: (namespace: string, after: number, limit: number): readonly Row[] =>
      statement('SELECT * FROM objects WHERE namespace = ? AND id > ? ORDER BY id LIMIT ?').all(namespace, after, limit).map(toRow),
    /** Objects that name this uid as an owner, from an id on. */
    dependents: (owner: string, after: number, limit: number): readonly Row[] =>
      statement('SELECT o.* FROM owners w CROSS JOIN objects o ON o.id = w.id WHERE w.owner = ? AND w.id > ? ORDER BY w.id LIMIT ?')
        .all(owner, after, limit)
        .map(toRow),
    hasDependents: (owner: string): boolean => one('SELECT 1 FROM owners WHERE owner = ? LIMIT 1', owner) !== undefined,
    hasBlockingDependents: (owner: string): boolean =>
      one('SELECT 1 FROM owners WHERE owner = ? AND blocking = 1 LIMIT 1', owner) !== undefined,
    insert: (object: Resource, version: number, stored: string): void => {
      const place = { kind: object.kind, namespace: object.metadata.namespace ?? '', name: object.metadata.name };
      const { lastInsertRowid } = statement(
        'INSERT INTO objects (kind, namespace, name, uid, version, deleting, object) VALUES (?, ?, ?, ?, ?, 0, ?)',
      ).run(place.kind, place.namespace, place.name, object.metadata.uid ?? '', version, stored);
      index(Number(lastInsertRowid), object, place);
    },
    replace: (old: Row, object: Resource, version: number, stored: string): void => {
      run(
        'UPDATE objects SET version = ?, deleting = ?, object = ? WHERE id = ?',
        version,
        object.metadata.deletionTimestamp ? 1 : 0,
        stored,
        old.id,
      );
      const before = parseStored(old.text);
      if (
        JSON.stringify([before.metadata.labels, before.metadata.ownerReferences]) ===
        JSON.stringify([object.metadata.labels, object.metadata.ownerReferences])
      ) {
        return;
      }
      unindex(old.id, before, old);
      index(old.id, object, old);
    },
    remove: (old: Row): void => {
      unindex(old.id, parseStored(old.text), old);
      run('DELETE FROM objects WHERE id = ?', old.id);
    },

    meta: (key: 'version' | 'floor'): number => integer(one('SELECT value FROM meta WHERE key = ?', key) ?? { value: 0 }, 'value'),
    setMeta: (key: 'version' | 'floor', value: number): void => run('UPDATE meta SET value = ? WHERE key = ?', value, key),
    record: (change: Change): void =>
      run(
        'INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?)',
        change.version,
        change.kind,
        change.namespace,
        change.name,
        change.type,
        change.text,
        change.previous ?? null,
      ),
    trim: (upTo: number): void => run('DELETE FROM history WHERE version <= ?', upTo),
    /** What happened to a kind after a version, oldest first. */
    changesAfter: (kind: string, version: number, limit: number): readonly Change[] =>
      statement('SELECT * FROM history WHERE version > ? AND kind = ? ORDER BY version LIMIT ?').all(version, kind, limit).map(toChange),
    /** The state that objects had at a version, for those that have changed or gone since; ordered by namespace and name. */
    before: (kind: string, version: number, from: { readonly namespace: string; readonly name: string }): Iterable<SqlRow> =>
      statement(
        `SELECT h.namespace, h.name, h.previous AS object FROM
           (SELECT min(version) AS first FROM history WHERE version > ? AND kind = ? AND (namespace, name) > (?, ?) GROUP BY namespace, name) f
           CROSS JOIN history h ON h.version = f.first WHERE h.previous IS NOT NULL ORDER BY h.namespace, h.name`,
      ).iterate(version, kind, from.namespace, from.name),
    /** Rows of any query, one at a time. */
    iterate: (sql: string, values: readonly SQLInputValue[]): Iterable<SqlRow> => statement(sql).iterate(...values),
    count: (sql: string, values: readonly SQLInputValue[]): number => integer(one(sql, ...values) ?? { n: 0 }, 'n'),

    /** Notes an owner whose dependents have to be looked at (again). */
    enqueueGarbage: (owner: string, cursor = 0): void => run('INSERT OR REPLACE INTO garbage VALUES (?, ?)', owner, cursor),
    nextGarbage: (): { readonly owner: string; readonly cursor: number } | undefined => {
      const found = one('SELECT owner, cursor FROM garbage LIMIT 1');
      return found && { owner: text(found, 'owner'), cursor: integer(found, 'cursor') };
    },
    dropGarbage: (owner: string): void => run('DELETE FROM garbage WHERE owner = ?', owner),
  };
};

/** The statements of one database. */
export type Rows = ReturnType<typeof createRows>;
