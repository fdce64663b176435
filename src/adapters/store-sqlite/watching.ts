/**
 * Watches. A watcher first reads what it missed from the history, then lives on what is published after each commit. One that does not keep
 * up holds a bounded number of events: beyond that it goes back to the history, and when that has been trimmed it ends with Expired.
 */
import type { Resource } from '../../api/meta.ts';
import { selectedChange } from '../../api/store-semantics.ts';
import type { Clock } from '../../ports/clock.ts';
import type { StoreError, WatchEvent } from '../../ports/store.ts';
import { checkVersion, isSelected, type Selection, type Versions } from './listing.ts';
import { type Change, parseStored, type Rows } from './rows.ts';

/** How many changes are read from the history at a time. */
const CHUNK = 100;

/** What the watches of a store need. */
export interface HubOptions {
  readonly rows: Rows;
  readonly clock: Clock;
  readonly versions: () => Versions;
  /** Events that a watcher may hold before it goes back to the history. */
  readonly bufferSize: number;
  /** Milliseconds between bookmarks. */
  readonly bookmarkInterval: number;
}

interface Pending {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly version: number;
  readonly text: string;
}

/** What a selection sees of a change; objects that leave the selection are shown as they were before. */
const seenChange = (selection: Selection, change: Change): Pending | undefined => {
  if (change.kind !== selection.kind) return undefined;
  if (selection.namespace !== undefined && selection.namespace !== change.namespace) return undefined;
  const { version, text, previous } = change;
  if (selection.labels.length === 0 && selection.fields.length === 0) return { type: change.type, version, text };
  const after = isSelected(selection, parseStored(text));
  const before = previous !== undefined && isSelected(selection, parseStored(previous));
  const type = selectedChange(change.type, { before, after });
  if (type === undefined) return undefined;
  return { type, version, text: type === 'DELETED' && change.type !== 'DELETED' ? (previous ?? text) : text };
};

const toEvent = ({ type, version, text }: Pending): WatchEvent<Resource> => {
  const resourceVersion = String(version);
  if (type === 'BOOKMARK') return { type, resourceVersion };
  const object = parseStored(text);
  return { type, object: { ...object, metadata: { ...object.metadata, resourceVersion } }, resourceVersion };
};

/** One watch: fed by the hub, read by its consumer. */
interface Watcher {
  push(change: Change): void;
  bookmark(version: number): void;
  end(error?: StoreError): void;
}

type Step = IteratorResult<WatchEvent<Resource>, undefined>;
const FINISHED: Step = { done: true, value: undefined };

/** All watches of one store. */
export const createHub = (options: HubOptions) => {
  const watchers = new Set<Watcher>();
  let cancelBookmark: (() => void) | undefined;

  const scheduleBookmark = (): void => {
    cancelBookmark ??= options.clock.at(options.clock.now() + options.bookmarkInterval, () => {
      cancelBookmark = undefined;
      for (const watcher of watchers) watcher.bookmark(options.versions().current);
      if (watchers.size > 0) scheduleBookmark();
    });
  };

  const open = (selection: Selection, from: number, signal: AbortSignal): AsyncIterableIterator<WatchEvent<Resource>> => {
    const watch = createWatch(options, selection, from, () => watchers.delete(watch.watcher));
    watchers.add(watch.watcher);
    scheduleBookmark();
    const stop = (): void => watch.watcher.end();
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    return watch.iterator;
  };

  return {
    /** Starts a watch after a version. */
    open,
    /** Tells every watcher what was committed. */
    publish: (changes: readonly Change[]): void => {
      for (const watcher of watchers) for (const change of changes) watcher.push(change);
    },
    /** Ends every watch with this error. */
    close: (error: StoreError): void => {
      cancelBookmark?.();
      for (const watcher of watchers) watcher.end(error);
    },
  };
};

const createWatch = (options: HubOptions, selection: Selection, from: number, onEnd: () => void) => {
  const { rows, versions, bufferSize } = options;
  let buffer: Pending[] = [];
  /** The last version that was handed out or skipped: where the history is read from. */
  let cursor = from;
  let live = from === versions().current;
  let ended = false;
  let error: StoreError | undefined;
  const waiting: ((step: Step) => void)[] = [];

  const end = (reason?: StoreError): void => {
    if (ended) return;
    ended = true;
    error = reason;
    buffer = [];
    onEnd();
    for (const resolve of waiting.splice(0)) resolve(take());
  };
  /** Fills the buffer from the history until there is something to hand out or nothing more was missed. */
  const catchUp = (): void => {
    while (!live && !ended && buffer.length === 0) {
      const expired = checkVersion(cursor, versions());
      if (expired) return end(expired);
      const changes = rows.changesAfter(selection.kind, cursor, CHUNK);
      buffer = changes.map((change) => seenChange(selection, change)).filter((seen) => seen !== undefined);
      live = changes.length < CHUNK;
      cursor = live ? versions().current : (changes.at(-1)?.version ?? cursor);
    }
  };
  const next = (): Step | undefined => {
    catchUp();
    const pending = buffer.shift();
    if (pending) return { done: false, value: toEvent(pending) };
    return ended ? take() : undefined;
  };
  const take = (): Step => {
    if (!error) return FINISHED;
    const value = { type: 'ERROR', error } as const;
    error = undefined;
    return { done: false, value };
  };
  const add = (pending: Pending): void => {
    const resolve = waiting.shift();
    if (resolve) resolve({ done: false, value: toEvent(pending) });
    else buffer.push(pending);
  };

  const watcher: Watcher = {
    push: (change) => {
      if (!live || ended) return;
      const seen = seenChange(selection, change);
      if (seen && buffer.length >= bufferSize) {
        live = false;
        // The history is read again from the first event that was not handed out.
        cursor = (buffer[0]?.version ?? change.version) - 1;
        buffer = [];
        return;
      }
      cursor = change.version;
      if (seen) add(seen);
    },
    bookmark: (version) => {
      if (live && !ended && buffer.length === 0) add({ type: 'BOOKMARK', version, text: '' });
    },
    end,
  };
  const iterator: AsyncIterableIterator<WatchEvent<Resource>> = {
    [Symbol.asyncIterator]: () => iterator,
    next: () => {
      const step = next();
      return step ? Promise.resolve(step) : new Promise((resolve) => waiting.push(resolve));
    },
    return: () => {
      end();
      return Promise.resolve(FINISHED);
    },
  };
  return { watcher, iterator };
};

/** A watch that ends at once with an error. */
export async function* failedWatch(error: StoreError): AsyncGenerator<WatchEvent<never>> {
  yield { type: 'ERROR', error };
}
