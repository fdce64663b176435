import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type ManualClock, manualClock } from '../../test/contract/manual-clock.ts';
import { bundle, NOW } from '../../test/fixtures/worlds.ts';
import type { Bundle } from '../api/kinds/bundle.ts';
import type { ListOptions, Page, ReadResult, Store, WatchEvent, WatchOptions } from '../ports/store.ts';
import type { Change } from './interest.ts';
import { startWatcher, type Watcher } from './watcher.ts';

type Listing = (options: ListOptions) => Promise<ReadResult<Page<Bundle>>>;
type Watching = (options: WatchOptions) => AsyncIterable<WatchEvent<Bundle>>;

const page = (names: readonly string[], more: { version?: string; continue?: string } = {}): ReadResult<Page<Bundle>> => ({
  ok: true,
  value: {
    items: names.map((name) => bundle(name)),
    resourceVersion: more.version ?? '1',
    ...(more.continue === undefined ? {} : { continue: more.continue }),
  },
});

const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string): WatchEvent<Bundle> => ({
  type,
  object: bundle(name),
  resourceVersion: '9',
});

/** A store of which only `list` and `watch` of Bundles are asked. */
const storeOf = (list: Listing, watch: Watching): Store => {
  const never = (): never => assert.fail('only list and watch are asked');
  return {
    get: never,
    create: never,
    update: never,
    updateStatus: never,
    delete: never,
    // The kind that is followed in these tests is Bundle.
    list: ((_: string, options: ListOptions = {}) => list(options)) as Store['list'],
    watch: ((_: string, options: WatchOptions) => watch(options)) as Store['watch'],
  };
};

/** Events that come when they are pushed; `end` ends the watch. */
const channel = () => {
  const waiting: WatchEvent<Bundle>[] = [];
  let ended = false;
  let wake = (): void => {};
  return {
    push: (next: WatchEvent<Bundle>): void => {
      waiting.push(next);
      wake();
    },
    end: (): void => {
      ended = true;
      wake();
    },
    events: async function* (): AsyncGenerator<WatchEvent<Bundle>> {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else if (ended) return;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
};

interface Heard {
  readonly changes: string[];
  readonly lists: { readonly names: readonly string[]; readonly again: boolean }[];
  readonly errors: string[];
}

interface Followed extends Heard {
  readonly watcher: Watcher;
  readonly clock: ManualClock;
}

const follow = (list: Listing, watch: Watching, onChange: (change: Change) => void = () => {}): Followed => {
  const heard: Heard = { changes: [], lists: [], errors: [] };
  const clock = manualClock(NOW);
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: (message: string) => void heard.errors.push(message) };
  const watcher = startWatcher({ store: storeOf(list, watch), clock, log }, 'Bundle', {
    changed: (change) => {
      heard.changes.push(`${change.type} ${change.object.metadata.name}`);
      onChange(change);
    },
    listed: (_, names, again) => void heard.lists.push({ names: [...names].sort(), again }),
  });
  return { ...heard, watcher, clock };
};

const silent: Watching = () => channel().events();

/** Lets everything that is ready happen, then the pause before the next round. */
const nextRound = async ({ clock }: Followed): Promise<void> => {
  await turn();
  clock.advance(1000);
  await turn();
};

test('every page is told, the watch begins at the version of the first page, and only then it is synced', async () => {
  const asked: (string | undefined)[] = [];
  const list: Listing = async (options) => {
    asked.push(options.continue);
    return options.continue === undefined ? page(['a'], { version: '5', continue: 'more' }) : page(['b'], { version: '8' });
  };
  const from: (string | undefined)[] = [];
  const followed = follow(list, (options) => {
    from.push(options.resourceVersion);
    return channel().events();
  });
  assert.equal(followed.watcher.synced(), false);
  await turn();
  assert.equal(followed.watcher.synced(), true);
  assert.deepEqual([asked, from], [[undefined, 'more'], ['5']]);
  assert.deepEqual(followed.changes, ['ADDED a', 'ADDED b']);
  assert.deepEqual(followed.lists, [{ names: ['default/a', 'default/b'], again: false }]);
  followed.watcher.stop();
});

test('events are told as they come, bookmarks are not', async () => {
  const events = channel();
  const followed = follow(async () => page([]), events.events);
  await turn();
  events.push({ type: 'BOOKMARK', resourceVersion: '7' });
  events.push(event('MODIFIED', 'a'));
  events.push(event('DELETED', 'a'));
  await turn();
  assert.deepEqual(followed.changes, ['MODIFIED a', 'DELETED a']);
  followed.watcher.stop();
});

const endings: Readonly<Record<string, Watching>> = {
  'that ends': async function* () {},
  'that is Expired': async function* () {
    yield { type: 'ERROR', error: { code: 'Expired', message: 'too old' } };
    yield event('ADDED', 'ghost');
  },
  'that throws': () => ({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('broken')) }),
  }),
};

for (const [name, watch] of Object.entries(endings)) {
  test(`after a watch ${name} everything is listed again after a pause, and what vanished meanwhile is known`, async () => {
    let names = ['a', 'b'];
    const followed = follow(async () => page(names), watch);
    await turn();
    names = ['b'];
    assert.equal(followed.lists.length, 1, 'not without a pause');
    await nextRound(followed);
    assert.deepEqual(followed.lists, [
      { names: ['default/a', 'default/b'], again: false },
      { names: ['default/b'], again: true },
    ]);
    assert.ok(!followed.changes.includes('ADDED ghost'), 'nothing behind an ERROR is told');
    assert.equal(followed.errors.length, name === 'that throws' ? 2 : 0);
    followed.watcher.stop();
  });
}

test('a list that is refused, or that throws, is repeated, and nothing is said to be complete before', async () => {
  let calls = 0;
  const followed = follow(async (options) => {
    calls += 1;
    if (calls === 1) return { ok: false, error: { code: 'Unavailable', message: 'no' } };
    if (calls === 2) throw new Error('a bug');
    if (calls === 3) return page(['a'], { continue: 'more' });
    if (options.continue) return { ok: false, error: { code: 'Expired', message: 'too old' } };
    return page(['a']);
  }, silent);
  for (let round = 0; round < 3; round += 1) {
    assert.equal(followed.watcher.synced(), false);
    await nextRound(followed);
  }
  assert.equal(followed.watcher.synced(), true);
  assert.deepEqual(followed.lists, [{ names: ['default/a'], again: false }]);
  followed.watcher.stop();
});

test('a listener that throws at one object leaves the kind followed', async () => {
  const events = channel();
  let watches = 0;
  const watch: Watching = () => {
    watches += 1;
    return watches === 1 ? events.events() : channel().events();
  };
  const followed = follow(
    async () => page(['a']),
    watch,
    (change) => {
      if (change.type === 'MODIFIED') throw new Error('a bug');
    },
  );
  await turn();
  events.push(event('MODIFIED', 'a'));
  await nextRound(followed);
  assert.equal(followed.errors.length, 1);
  assert.equal(watches, 2);
  assert.equal(followed.lists.at(-1)?.again, true);
  followed.watcher.stop();
});

test('a resync lists again beside the watch, never rejects, and says what is gone', async () => {
  let answer = page(['a', 'b']);
  let throws = false;
  const followed = follow(async () => {
    if (throws) throw new Error('a bug');
    return answer;
  }, silent);
  await turn();
  answer = page(['b']);
  await followed.watcher.resync();
  assert.deepEqual(followed.lists.at(-1), { names: ['default/b'], again: true });
  throws = true;
  await followed.watcher.resync();
  assert.equal(followed.lists.length, 2);
  followed.watcher.stop();
});

test('what the watch reports while a list is being read is not taken for gone when the list is complete', async () => {
  const events = channel();
  let answer = (_: ReadResult<Page<Bundle>>): void => {};
  let lists = 0;
  const followed = follow((options) => {
    lists += 1;
    if (lists === 1) return Promise.resolve(page(['a', 'z']));
    if (options.continue === undefined) return Promise.resolve(page(['a'], { continue: 'more' }));
    return new Promise((resolve) => {
      answer = resolve;
    });
  }, events.events);
  await turn();
  const resync = followed.watcher.resync();
  await turn();
  events.push(event('ADDED', 'aa'));
  events.push(event('DELETED', 'a'));
  await turn();
  answer(page(['z']));
  await resync;
  assert.deepEqual(followed.lists.at(-1)?.names, ['default/aa', 'default/z']);
  followed.watcher.stop();
});

test('a stop ends the watch; nothing is listed or told afterwards', async () => {
  const events = channel();
  let signal: AbortSignal | undefined;
  let lists = 0;
  const followed = follow(
    async () => {
      lists += 1;
      return page(['a']);
    },
    (options) => {
      signal = options.signal;
      return events.events();
    },
  );
  await turn();
  followed.watcher.stop();
  assert.equal(signal?.aborted, true);
  events.push(event('ADDED', 'b'));
  events.end();
  await nextRound(followed);
  await followed.watcher.resync();
  assert.deepEqual(followed.changes, ['ADDED a']);
  assert.equal(lists, 1);
  assert.equal(followed.lists.length, 1);
});
