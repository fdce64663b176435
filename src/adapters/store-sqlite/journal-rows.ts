/** The statements on the counters, the history and the notes of the collection of garbage. */
import type { SQLInputValue } from 'node:sqlite';
import { integer, type SqlRow, type Statements, text } from './statements.ts';

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

/** The statements on what happened and what is still to do. */
export const journalRows = ({ one, all, iterate, run }: Statements) => ({
  meta: (key: 'version' | 'floor'): number => integer(one('SELECT value FROM meta WHERE key = ?', key) ?? { value: 0 }, 'value'),
  setMeta: (key: 'version' | 'floor', value: number) => run('UPDATE meta SET value = ? WHERE key = ?', value, key),
  record: (change: Change) =>
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
  trim: (upTo: number) => run('DELETE FROM history WHERE version <= ?', upTo),
  /** What happened to a kind after a version, oldest first. */
  changesAfter: (kind: string, version: number, limit: number): readonly Change[] =>
    all('SELECT * FROM history WHERE version > ? AND kind = ? ORDER BY version LIMIT ?', version, kind, limit).map(toChange),
  /** The state that objects had at a version, for those that have changed or gone since; ordered by namespace and name. */
  before: (kind: string, version: number, from: { readonly namespace: string; readonly name: string }): Iterable<SqlRow> =>
    iterate(
      `SELECT h.namespace, h.name, h.previous AS object FROM
           (SELECT min(version) AS first FROM history WHERE version > ? AND kind = ? AND (namespace, name) > (?, ?) GROUP BY namespace, name) f
           CROSS JOIN history h ON h.version = f.first WHERE h.previous IS NOT NULL ORDER BY h.namespace, h.name`,
      version,
      kind,
      from.namespace,
      from.name,
    ),
  /** Rows of any query, one at a time. */
  iterate: (sql: string, values: readonly SQLInputValue[]): Iterable<SqlRow> => iterate(sql, ...values),
  count: (sql: string, values: readonly SQLInputValue[]): number => integer(one(sql, ...values) ?? { n: 0 }, 'n'),

  /** Notes an owner whose dependents have to be looked at (again). */
  enqueueGarbage: (owner: string, cursor = 0) => run('INSERT OR REPLACE INTO garbage VALUES (?, ?)', owner, cursor),
  nextGarbage: (): { readonly owner: string; readonly cursor: number } | undefined => {
    const found = one('SELECT owner, cursor FROM garbage LIMIT 1');
    return found && { owner: text(found, 'owner'), cursor: integer(found, 'cursor') };
  },
  hasGarbage: (): boolean => one('SELECT 1 FROM garbage LIMIT 1') !== undefined,
  dropGarbage: (owner: string) => run('DELETE FROM garbage WHERE owner = ?', owner),
});
