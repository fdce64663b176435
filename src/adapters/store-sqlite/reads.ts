/** The reads of the port: what is committed, never older. */
import { setImmediate } from 'node:timers/promises';
import type { Resource } from '../../api/meta.ts';
import type { KindMap, KindName } from '../../api/registry.ts';
import { describe } from '../../api/store-semantics.ts';
import type { ListOptions, Page, ReadResult, Store, StoreError } from '../../ports/store.ts';
import { checkVersion, listPage, readSelection, type Versions } from './listing.ts';
import { placeOf } from './operations.ts';
import { parseStored, type Rows } from './rows.ts';
import { sqliteCode, unavailable } from './sqlite-error.ts';
import { failedWatch, type Hub } from './watching.ts';

/** What reads need. */
export interface ReadSide {
  readonly rows: Rows;
  readonly hub: Hub;
  readonly versions: () => Versions;
  /** Why the store does not answer; undefined while it is open. */
  readonly closed: () => StoreError | undefined;
}

/** What was stored under a kind has passed its rules. */
export const asKind = <T>(value: unknown): T => value as T;

const readVersion = (text: string): number | undefined => {
  const version = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(version) ? version : undefined;
};

const getter = ({ rows }: ReadSide, kind: KindName, namespace: string, name: string): ReadResult<unknown> => {
  const place = placeOf(kind, namespace);
  const row = rows.byName(kind, place, name);
  if (row) return { ok: true, value: parseStored(row.text) };
  const subject = describe({ apiVersion: '', kind, metadata: { namespace: place, name } });
  return { ok: false, error: { code: 'NotFound', message: `${subject} does not exist` } };
};

/** Objects that are read before others get a turn. */
const TURN = 500;

type ReadPage = (options: ListOptions) => ReadResult<Page<Resource>>;

/**
 * A list without a limit may be very long, so it is read page by page with a pause after each; all pages show one state. Should the history
 * since the first page be trimmed meanwhile, the list is read again in one go.
 */
const listAll = async (read: ReadPage, options: ListOptions): Promise<ReadResult<Page<Resource>>> => {
  const items: Resource[] = [];
  let page = read({ ...options, limit: TURN });
  while (page.ok) {
    items.push(...page.value.items);
    const { continue: next, resourceVersion } = page.value;
    if (next === undefined) return { ok: true, value: { items, resourceVersion } };
    await setImmediate();
    page = read({ ...options, limit: TURN, continue: next });
  }
  return page.error.code === 'Expired' ? read(options) : page;
};

/** get, list and watch. */
export const createReads = (side: ReadSide): Pick<Store, 'get' | 'list' | 'watch'> => {
  const reading = <T>(read: () => ReadResult<unknown>): ReadResult<T> => {
    const closed = side.closed();
    if (closed) return { ok: false, error: closed };
    try {
      return asKind(read());
    } catch (error) {
      if (sqliteCode(error) === undefined) throw error;
      return { ok: false, error: unavailable(error) };
    }
  };
  return {
    get: async <K extends KindName>(kind: K, namespace: string, name: string) =>
      reading<KindMap[K]>(() => getter(side, kind, namespace, name)),
    list: async <K extends KindName>(kind: K, options: ListOptions = {}) => {
      const read: ReadPage = (page) => reading(() => listPage(side.rows, kind, page, side.versions()));
      return asKind<ReadResult<Page<KindMap[K]>>>(options.limit ? read(options) : await listAll(read, options));
    },
    watch: (kind, options) => {
      const closed = side.closed();
      if (closed) return failedWatch(closed);
      const selection = readSelection(kind, options);
      if (!selection.ok) return failedWatch(selection.error);
      const versions = side.versions();
      const from = options.resourceVersion === undefined ? versions.current : readVersion(options.resourceVersion);
      if (from === undefined) {
        return failedWatch({ code: 'BadRequest', message: `resourceVersion: ${JSON.stringify(options.resourceVersion)} is not a version` });
      }
      const expired = checkVersion(from, versions);
      return expired ? failedWatch(expired) : asKind(side.hub.open(selection.value, from, options.signal));
    },
  };
};
