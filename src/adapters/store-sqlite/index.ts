/** The embedded store. */
export { type OpenOptions, openSqliteStore } from './open.ts';
export type { SqliteStore, StoreOptions } from './store.ts';
export type { CommitInfo } from './writer.ts';
