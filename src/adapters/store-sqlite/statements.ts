/** Prepared statements, each made once. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** A row as SQLite gives it. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** A text column. */
export const text = (row: SqlRow, column: string): string => String(row[column]);
/** A number column. */
export const integer = (row: SqlRow, column: string): number => Number(row[column]);

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

/** Runs SQL with values; the statement is prepared at its first use. */
export interface Statements {
  one(sql: string, ...values: SQLInputValue[]): SqlRow | undefined;
  all(sql: string, ...values: SQLInputValue[]): readonly SqlRow[];
  /** Rows one at a time; nothing else may run the same SQL until it is done. */
  iterate(sql: string, ...values: SQLInputValue[]): Iterable<SqlRow>;
  /** Gives the id of the row that was inserted last. */
  run(sql: string, ...values: SQLInputValue[]): number;
}

/** The statements of one database. */
export const createStatements = (db: DatabaseSync): Statements => {
  const statement = statementCache(db);
  return {
    one: (sql, ...values) => statement(sql).get(...values),
    all: (sql, ...values) => statement(sql).all(...values),
    iterate: (sql, ...values) => statement(sql).iterate(...values),
    run: (sql, ...values) => Number(statement(sql).run(...values).lastInsertRowid),
  };
};
