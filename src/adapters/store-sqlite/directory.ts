/** The data directory: private to its user, and used by one process at a time. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { done, type Outcome, terminal } from '../../api/outcome.ts';
import { SQLITE, sqliteCode } from './sqlite-error.ts';

/** The database's file name. */
export const DATABASE_FILE = 'store.db';
const LOCK_FILE = 'store.lock';
const OWNER_FILE = 'store.pid';

/**
 * Makes a file of mode 0600 where there is none. A file that exists is never opened here: closing it would drop the locks that SQLite holds on
 * it in this process.
 */
const ensurePrivateFile = (path: string): void => {
  if (existsSync(path)) chmodSync(path, 0o600);
  else closeSync(openSync(path, 'wx', 0o600));
};

const syncDirectory = (directory: string): void => {
  const handle = openSync(directory, 'r');
  fsyncSync(handle);
  closeSync(handle);
};

const osCode = (error: unknown): string | undefined => {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && !code.startsWith('ERR_') ? code : undefined;
};

/**
 * Makes a directory and those above it, one at a time: asked for all at once, Node tries for ever where a file system refuses new entries in
 * a directory that is there (as /proc does).
 */
const makeDirectory = (path: string): void => {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (osCode(error) !== 'EEXIST') throw error;
  }
};

/** Makes the directory (0700) and the database file (0600). A shared directory that holds other things keeps its mode. */
export const prepareDirectory = (directory: string): Outcome<void> => {
  try {
    makeDirectory(resolve(directory));
    const entries = readdirSync(directory);
    if ((statSync(directory).mode & 0o077) !== 0 && (entries.length === 0 || entries.includes(DATABASE_FILE))) chmodSync(directory, 0o700);
    for (const file of [LOCK_FILE, DATABASE_FILE]) ensurePrivateFile(join(directory, file));
    syncDirectory(directory);
    return done(undefined);
  } catch (error) {
    const code = osCode(error);
    if (code === undefined) throw error;
    return terminal(
      'DataDirectoryUnusable',
      `The data directory ${directory} cannot be used (${code}); give one that this user can write to.`,
    );
  }
};

const holderOf = (directory: string): string => {
  try {
    const pid = Number.parseInt(readFileSync(join(directory, OWNER_FILE), 'utf8'), 10);
    return Number.isSafeInteger(pid) ? `process ${pid}` : 'another process';
  } catch {
    return 'another process';
  }
};

/**
 * Takes the directory for this process; the result gives it back. The lock is SQLite's own on a small database, so the kernel drops it with
 * the process however it ends. The file with the process id serves the message alone.
 */
export const lockDirectory = (directory: string): Outcome<() => void> => {
  const lock = new DatabaseSync(join(directory, LOCK_FILE), { timeout: 0 });
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    const code = sqliteCode(error);
    if (code === SQLITE.BUSY) {
      return terminal(
        'DataDirectoryInUse',
        `The data directory ${directory} is in use by ${holderOf(directory)}; stop it, or choose another directory.`,
      );
    }
    if (code === undefined) throw error;
    return terminal(
      'DataDirectoryUnusable',
      `The data directory ${directory} cannot be locked (SQLite error ${code}); it must lie on a local disk.`,
    );
  }
  writeFileSync(join(directory, OWNER_FILE), `${process.pid}\n`, { mode: 0o600 });
  return done(() => lock.close());
};
