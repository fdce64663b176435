/** Every SQL statement that the store runs, bound to one database. */
import type { DatabaseSync } from 'node:sqlite';
import { journalRows } from './journal-rows.ts';
import { objectRows } from './object-rows.ts';
import { createStatements } from './statements.ts';

export type { Change } from './journal-rows.ts';
export { parseStored, type Row } from './object-rows.ts';

/** Binds the statements. */
export const createRows = (db: DatabaseSync) => {
  const statements = createStatements(db);
  return { ...objectRows(statements), ...journalRows(statements) };
};

/** The statements of one database. */
export type Rows = ReturnType<typeof createRows>;
