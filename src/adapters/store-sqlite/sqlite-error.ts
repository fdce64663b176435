/** Errors of SQLite as data: which code, and whether the database itself is damaged. */
import type { StoreError } from '../../ports/store.ts';

/** SQLite's primary result codes that are told apart. */
export const SQLITE = { BUSY: 5, IOERR: 10, CORRUPT: 11, FULL: 13, CANTOPEN: 14, NOTADB: 26 } as const;

/** The primary result code of an error that node:sqlite threw; undefined for any other value. */
export const sqliteCode = (error: unknown): number | undefined => {
  if (!(error instanceof Error) || Reflect.get(error, 'code') !== 'ERR_SQLITE_ERROR') return undefined;
  const code: unknown = Reflect.get(error, 'errcode');
  return typeof code === 'number' ? code & 0xff : 0;
};

const SENTENCES: Readonly<Record<number, string>> = {
  [SQLITE.BUSY]: 'another program holds the database; the write can be repeated',
  [SQLITE.IOERR]: 'the disk reported an error; check it, then repeat the write',
  [SQLITE.CORRUPT]: 'the database file is damaged; restore it from a backup',
  [SQLITE.FULL]: 'the disk is full or the database has reached its largest size; make room, then repeat the write',
  [SQLITE.NOTADB]: 'the database file is damaged; restore it from a backup',
};

/** What a caller is told when SQLite fails. */
export const unavailable = (error: unknown): StoreError => {
  const code = sqliteCode(error);
  const known = code === undefined ? undefined : SENTENCES[code];
  const text = known ?? (error instanceof Error ? error.message : 'unknown error');
  return { code: 'Unavailable', message: `The store could not do this: ${text}${code === undefined ? '' : ` (SQLite error ${code})`}.` };
};
