/** The statements on objects and their indexes. They know no rules: what is asked is done. */
import type { Resource } from '../../api/meta.ts';
import { integer, type SqlRow, type Statements, text } from './statements.ts';

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

/** Reads a stored object. The store wrote the text itself, from an object that passed the checks. */
export const parseStored = (stored: string): Resource => JSON.parse(stored) as Resource;

type Place = Pick<Row, 'kind' | 'namespace' | 'name'>;

const addToIndexes = ({ run }: Statements, id: number, object: Resource, place: Place): void => {
  for (const [key, value] of Object.entries(object.metadata.labels ?? {})) {
    run('INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?)', place.kind, key, value, place.namespace, place.name, id);
  }
  for (const owner of object.metadata.ownerReferences ?? []) {
    run('INSERT OR REPLACE INTO owners VALUES (?, ?, ?)', owner.uid, id, owner.blockOwnerDeletion === true ? 1 : 0);
  }
};

const dropFromIndexes = ({ run }: Statements, row: Row): void => {
  const { metadata } = parseStored(row.text);
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    const sql = 'DELETE FROM labels WHERE kind = ? AND key = ? AND value = ? AND namespace = ? AND name = ?';
    run(sql, row.kind, key, value, row.namespace, row.name);
  }
  for (const owner of metadata.ownerReferences ?? []) run('DELETE FROM owners WHERE owner = ? AND id = ?', owner.uid, row.id);
};

const indexed = ({ metadata }: Resource): string => JSON.stringify([metadata.labels, metadata.ownerReferences]);

/** Reads single objects and small groups of them. */
const readers = ({ one, all }: Statements) => {
  const row = (found: SqlRow | undefined): Row | undefined => found && toRow(found);
  return {
    byName: (kind: string, namespace: string, name: string) =>
      row(one('SELECT * FROM objects WHERE kind = ? AND namespace = ? AND name = ?', kind, namespace, name)),
    byUid: (uid: string) => row(one('SELECT * FROM objects WHERE uid = ?', uid)),
    byId: (id: number) => row(one('SELECT * FROM objects WHERE id = ?', id)),
    /** Whether a namespace exists, and whether it is being deleted. */
    namespace: (name: string): { readonly deleting: boolean; readonly uid: string } | undefined => {
      const found = one("SELECT uid, deleting FROM objects WHERE kind = 'Namespace' AND namespace = '' AND name = ?", name);
      return found && { deleting: integer(found, 'deleting') === 1, uid: text(found, 'uid') };
    },
    /** Objects in a namespace, from an id on. */
    inNamespace: (namespace: string, after: number, limit: number): readonly Row[] =>
      all('SELECT * FROM objects WHERE namespace = ? AND id > ? ORDER BY id LIMIT ?', namespace, after, limit).map(toRow),
    /** Objects that name this uid as an owner, from an id on. */
    dependents: (owner: string, after: number, limit: number): readonly Row[] =>
      all(
        'SELECT o.* FROM owners w CROSS JOIN objects o ON o.id = w.id WHERE w.owner = ? AND w.id > ? ORDER BY w.id LIMIT ?',
        owner,
        after,
        limit,
      ).map(toRow),
    hasDependents: (owner: string): boolean => one('SELECT 1 FROM owners WHERE owner = ? LIMIT 1', owner) !== undefined,
    hasBlockingDependents: (owner: string): boolean =>
      one('SELECT 1 FROM owners WHERE owner = ? AND blocking = 1 LIMIT 1', owner) !== undefined,
  };
};

/** Writes objects together with their entries in the indexes. */
const writers = (statements: Statements) => ({
  insert: (object: Resource, version: number, stored: string): void => {
    const { name, namespace = '', uid = '' } = object.metadata;
    const id = statements.run(
      'INSERT INTO objects (kind, namespace, name, uid, version, deleting, object) VALUES (?, ?, ?, ?, ?, 0, ?)',
      ...[object.kind, namespace, name, uid, version, stored],
    );
    addToIndexes(statements, id, object, { kind: object.kind, namespace, name });
  },
  replace: (old: Row, object: Resource, version: number, stored: string): void => {
    const deleting = object.metadata.deletionTimestamp ? 1 : 0;
    statements.run('UPDATE objects SET version = ?, deleting = ?, object = ? WHERE id = ?', version, deleting, stored, old.id);
    if (indexed(parseStored(old.text)) === indexed(object)) return;
    dropFromIndexes(statements, old);
    addToIndexes(statements, old.id, object, old);
  },
  remove: (old: Row): void => {
    dropFromIndexes(statements, old);
    statements.run('DELETE FROM objects WHERE id = ?', old.id);
  },
});

/** The statements on objects. */
export const objectRows = (statements: Statements) => ({ ...readers(statements), ...writers(statements) });
