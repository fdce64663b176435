/** Watches over the log of a StoreCore: the changes after a revision, one at a time, each when the turnstile lets it through. */
import type { Resource } from '../../src/api/meta.ts';
import type { KindMap, KindName } from '../../src/api/registry.ts';
import { selectedChange } from '../../src/api/store-semantics.ts';
import type { StoreError, WatchEvent, WatchOptions } from '../../src/ports/store.ts';
import { type HandOut, type Matcher, matcher, place } from './memory-list.ts';
import type { Change, StoreCore } from './store-core.ts';
import type { Turnstile } from './turnstile.ts';

/** What becomes of a watch event. */
export type EventFate = 'delivered' | 'dropped' | 'watch ends' | 'watch expires';

/** What a watch works on. */
export interface Watched {
  readonly core: StoreCore;
  readonly turnstile: Turnstile;
  readonly handOut: HandOut;
  readonly fate: () => EventFate;
  /** Milliseconds of silence after which a bookmark is due; never when absent. */
  readonly bookmarkMs: number | undefined;
}

/** What is said about an object in the trace. */
export const summary = (object: Resource): string => {
  const status: unknown = Reflect.get(object, 'status');
  const word = typeof status === 'object' && status !== null ? (Reflect.get(status, 'state') ?? Reflect.get(status, 'phase')) : undefined;
  return `${object.kind} ${place(object)}${typeof word === 'string' ? ` ${word}` : ''} @${object.metadata.resourceVersion ?? 'any'}`;
};

interface Seen {
  readonly type: Change['type'];
  readonly object: Resource;
  readonly revision: number;
}

/** The changes of a kind after a revision that a selection sees. */
class Cursor {
  readonly #core: StoreCore;
  readonly #kind: KindName;
  readonly #matches: Matcher;
  #position: number;

  constructor(core: StoreCore, kind: KindName, { from, matches }: { readonly from: number; readonly matches: Matcher }) {
    this.#core = core;
    this.#kind = kind;
    this.#matches = matches;
    const after = core.changes(kind).findIndex((change) => change.revision > from);
    this.#position = after < 0 ? core.changes(kind).length : after;
  }

  /** The next one, without moving past it. */
  peek(): Seen | undefined {
    const log = this.#core.changes(this.#kind);
    for (; this.#position < log.length; this.#position += 1) {
      const change = log[this.#position];
      if (!change) return undefined;
      const { before, object, revision } = change;
      const selected = { before: before !== undefined && this.#matches(before), after: change.type !== 'DELETED' && this.#matches(object) };
      const type = selectedChange(change.type, selected);
      if (!type) continue;
      // What leaves a selection is shown as it last was in it.
      const left = type === 'DELETED' && change.type !== 'DELETED' && before !== undefined;
      return { type, revision, object: left ? { ...before, metadata: { ...before.metadata, resourceVersion: String(revision) } } : object };
    }
    return undefined;
  }

  skip(): void {
    this.#position += 1;
  }
}

const refusal = (core: StoreCore, from: number, given: string | undefined): StoreError | undefined => {
  if (!Number.isSafeInteger(from)) return { code: 'BadRequest', message: `resourceVersion ${JSON.stringify(given)} is none` };
  if (from < core.compacted || from > core.revision) return { code: 'Expired', message: `too old resource version: ${given}` };
  return undefined;
};

/** Begins a watch; the port's promise of `watch`. */
export const watch = <K extends KindName>(watched: Watched, kind: K, options: WatchOptions): AsyncIterable<WatchEvent<KindMap[K]>> => {
  type Result = IteratorResult<WatchEvent<KindMap[K]>>;
  const { core, turnstile, handOut, bookmarkMs } = watched;
  const end: Result = { done: true, value: undefined };
  const from = options.resourceVersion === undefined ? core.revision : Number(options.resourceVersion);
  const matches = matcher(kind, options);
  const failure = typeof matches === 'function' ? refusal(core, from, options.resourceVersion) : matches;
  const cursor = new Cursor(core, kind, { from, matches: typeof matches === 'function' ? matches : () => false });
  let ended = false;
  let heard = core.now();
  const bookmarkDue = () => bookmarkMs !== undefined && core.now() - heard >= bookmarkMs;
  options.signal.addEventListener('abort', () => turnstile.poke());

  const error = (given: StoreError): Result => {
    ended = true;
    return { done: false, value: { type: 'ERROR', error: given } };
  };

  const give = (): Result => {
    if (ended || options.signal.aborted) return end;
    if (failure) return error(failure);
    heard = core.now();
    const seen = cursor.peek();
    if (!seen) return { done: false, value: { type: 'BOOKMARK', resourceVersion: String(core.revision) } };
    const fate = watched.fate();
    if (fate === 'watch expires') return error({ code: 'Expired', message: 'too old resource version: the watch was too slow' });
    ended = fate === 'watch ends';
    if (ended) return end;
    cursor.skip();
    const resourceVersion = String(seen.revision);
    if (fate === 'dropped') return { done: false, value: { type: 'BOOKMARK', resourceVersion } };
    return { done: false, value: { type: seen.type, object: handOut.give(kind, seen.object), resourceVersion } };
  };

  return {
    [Symbol.asyncIterator]: () => ({
      next: () =>
        turnstile.call({
          target: 'watch',
          label: `watch ${kind}`,
          writes: false,
          ready: () => ended || options.signal.aborted || failure !== undefined || cursor.peek() !== undefined || bookmarkDue(),
          execute: give,
          show: (result) =>
            result.done ? 'ended' : 'object' in result.value ? `${result.value.type} ${summary(result.value.object)}` : result.value.type,
        }),
      return: () => {
        ended = true;
        turnstile.poke();
        return Promise.resolve(end);
      },
    }),
  };
};
