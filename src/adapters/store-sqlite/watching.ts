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
import { sqliteCode, unavailable } from './sqlite-error.ts';

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

type Step = IteratorResult<WatchEvent<Resource>, undefined>;
const FINISHED: Step = { done: true, value: undefined };

/** One watch: fed by the hub, read by its consumer. */
class Watch implements AsyncIterableIterator<WatchEvent<Resource>, undefined> {
  readonly #hub: HubOptions;
  readonly #selection: Selection;
  readonly #onEnd: (watch: Watch) => void;
  readonly #waiting: ((step: Step) => void)[] = [];
  #buffer: Pending[] = [];
  /** While not live: the history is read from after this version. */
  #cursor: number;
  #live: boolean;
  #ended = false;
  #error: StoreError | undefined;

  constructor(hub: HubOptions, selection: Selection, from: number, onEnd: (watch: Watch) => void) {
    this.#hub = hub;
    this.#selection = selection;
    this.#onEnd = onEnd;
    this.#cursor = from;
    this.#live = from === hub.versions().current;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    const step = this.#take();
    return step ? Promise.resolve(step) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<Step> {
    this.end();
    return Promise.resolve(FINISHED);
  }

  push(change: Change): void {
    if (!this.#live) return;
    const seen = seenChange(this.#selection, change);
    if (!seen) return;
    if (this.#buffer.length < this.#hub.bufferSize) {
      this.#add(seen);
      return;
    }
    // Too slow: everything from the first event that was not handed out is read from the history later.
    const first = this.#buffer[0] ?? change;
    this.#cursor = first.type === 'BOOKMARK' ? first.version : first.version - 1;
    this.#live = false;
    this.#buffer = [];
  }

  bookmark(version: number): void {
    if (this.#live && this.#buffer.length === 0) this.#add({ type: 'BOOKMARK', version, text: '' });
  }

  end(error?: StoreError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#buffer = [];
    this.#onEnd(this);
    this.#wake();
  }

  #wake(): void {
    while (this.#waiting.length > 0) {
      const step = this.#take();
      if (!step) return;
      this.#waiting.shift()?.(step);
    }
  }

  #add(pending: Pending): void {
    this.#buffer.push(pending);
    this.#wake();
  }

  #take(): Step | undefined {
    if (!this.#ended) this.#catchUp();
    const pending = this.#buffer.shift();
    if (pending) return { done: false, value: toEvent(pending) };
    if (!this.#ended) return undefined;
    const error = this.#error;
    this.#error = undefined;
    return error ? { done: false, value: { type: 'ERROR', error } } : FINISHED;
  }

  /** Fills the buffer from the history until there is something to hand out or nothing more was missed. */
  #catchUp(): void {
    while (!this.#live && !this.#ended && this.#buffer.length === 0) {
      const expired = checkVersion(this.#cursor, this.#hub.versions());
      if (expired) this.end(expired);
      else this.#readHistory();
    }
  }

  #readHistory(): void {
    try {
      const changes = this.#hub.rows.changesAfter(this.#selection.kind, this.#cursor, CHUNK);
      for (const change of changes) {
        const seen = seenChange(this.#selection, change);
        if (seen) this.#buffer.push(seen);
        this.#cursor = change.version;
      }
      this.#live = changes.length < CHUNK;
    } catch (error) {
      if (sqliteCode(error) === undefined) throw error;
      this.end(unavailable(error));
    }
  }
}

/** All watches of one store. */
export class Hub {
  readonly #options: HubOptions;
  readonly #watches = new Set<Watch>();
  #cancelBookmark: (() => void) | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
  }

  /** Starts a watch after a version; what happens from now on is not missed, however late the consumer begins. */
  open(selection: Selection, from: number, signal: AbortSignal): AsyncIterable<WatchEvent<Resource>> {
    const stop = (): void => watch.end();
    const watch = new Watch(this.#options, selection, from, (ended) => {
      this.#watches.delete(ended);
      signal.removeEventListener('abort', stop);
    });
    this.#watches.add(watch);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    this.#scheduleBookmark();
    return watch;
  }

  /** Tells every watch what was committed. */
  publish(changes: readonly Change[]): void {
    for (const watch of this.#watches) for (const change of changes) watch.push(change);
  }

  /** Ends every watch with this error. */
  close(error: StoreError): void {
    this.#cancelBookmark?.();
    for (const watch of this.#watches) watch.end(error);
  }

  #scheduleBookmark(): void {
    if (this.#watches.size === 0) return;
    const { clock, bookmarkInterval, versions } = this.#options;
    this.#cancelBookmark ??= clock.at(clock.now() + bookmarkInterval, () => {
      this.#cancelBookmark = undefined;
      for (const watch of this.#watches) watch.bookmark(versions().current);
      this.#scheduleBookmark();
    });
  }
}

/** A watch that ends at once with an error. */
export async function* failedWatch(error: StoreError): AsyncGenerator<WatchEvent<never>> {
  yield { type: 'ERROR', error };
}
