import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { Admit } from '../../api/admit.ts';
import type { ConfigMap } from '../../api/kinds/native.ts';
import type { Clock } from '../../ports/clock.ts';
import type { WriteResult } from '../../ports/store.ts';
import type { CommitInfo, SqliteStore } from './index.ts';
import { migrate } from './schema.ts';
import { createSqliteStore } from './store.ts';

const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data,
});

const passAll: Admit = ({ object }) => ({ ok: true, object, warnings: [] });

/** Until what was scheduled for the next turn of the event loop is done. */
const turn = async (): Promise<void> => {
  for (let count = 0; count < 3; count++) await new Promise((resolve) => setImmediate(resolve));
};

/** A store over a database that the test can reach into. */
const openBare = (admit: Admit = passAll) => {
  const directory = mkdtempSync(join(tmpdir(), 'promoter-store-'));
  const db = new DatabaseSync(join(directory, 'store.db'));
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  migrate(db);
  const commits: CommitInfo[] = [];
  const timers: (() => void)[] = [];
  const clock: Clock = {
    now: () => Date.parse('2026-02-03T04:05:06Z'),
    at: (_, callback) => {
      timers.push(callback);
      return () => {};
    },
  };
  const store = createSqliteStore(db, { clock, admit, onCommit: (info) => commits.push(info) }, () => db.close());
  return {
    db,
    store,
    commits,
    /** Runs what waits for a later time. */
    later: () => {
      for (const callback of timers.splice(0)) callback();
    },
    [Symbol.asyncDispose]: async () => {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

const pragma = (db: DatabaseSync, name: string): number => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]);

const stateOf = async (store: SqliteStore) => {
  const listed = await store.list('ConfigMap');
  assert.ok(listed.ok);
  return { version: Number(listed.value.resourceVersion), names: listed.value.items.map(({ metadata }) => metadata.name) };
};

const codes = (results: readonly WriteResult<ConfigMap>[]): readonly string[] =>
  results.map((result) => (result.ok ? 'ok' : result.error.code));

describe('writes of one turn', () => {
  it('share one commit', async () => {
    await using bare = openBare();
    const results = await Promise.all(Array.from({ length: 64 }, (_, index) => bare.store.create(configMap(`a-${index}`))));
    assert.ok(results.every(({ ok }) => ok));
    assert.deepEqual(bare.commits, [{ members: 64, changes: 65 }]);
  });

  it('see each other in their order, while nobody reads what is not committed', async () => {
    await using bare = openBare();
    const { store } = bare;
    const first = store.create(configMap('a', { v: '1' }));
    const second = store.update(configMap('a', { v: '2' }));
    const third = store.create(configMap('a'));
    const stale = store.update({ ...configMap('a'), metadata: { name: 'a', namespace: 'shop', resourceVersion: '1' } });
    const gone = store.delete('ConfigMap', 'shop', 'a');
    const again = store.create(configMap('a', { v: '3' }));
    assert.equal((await store.get('ConfigMap', 'shop', 'a')).ok, false);
    assert.deepEqual(await stateOf(store), { version: 0, names: [] });
    assert.deepEqual(codes(await Promise.all([first, second, third, stale, gone, again])), [
      'ok',
      'ok',
      'AlreadyExists',
      'Conflict',
      'ok',
      'ok',
    ]);
    assert.equal(bare.commits.length, 1);
    const read = await store.get('ConfigMap', 'shop', 'a');
    assert.deepEqual(read.ok && read.value.data, { v: '3' });
  });

  it('commit nothing when none of them changes anything', async () => {
    await using bare = openBare();
    assert.ok((await bare.store.create(configMap('a'))).ok);
    await Promise.all([
      bare.store.update(configMap('a')),
      bare.store.create(configMap('b'), { dryRun: true }),
      bare.store.create(configMap('a')),
    ]);
    assert.equal(bare.commits.length, 1);
  });

  it('are not harmed by a rule that throws: that one write alone is rejected', async () => {
    await using bare = openBare((request) => {
      if (request.object.metadata.name === 'bug') throw new TypeError('a bug in a rule');
      return passAll(request);
    });
    const [before, bug, after] = await Promise.allSettled(['a', 'bug', 'b'].map((name) => bare.store.create(configMap(name))));
    assert.ok(before?.status === 'fulfilled' && before.value.ok);
    assert.ok(after?.status === 'fulfilled' && after.value.ok);
    assert.ok(bug?.status === 'rejected' && bug.reason instanceof TypeError);
    assert.deepEqual((await stateOf(bare.store)).names, ['a', 'b']);
  });

  it('cannot be changed by their caller while they wait', async () => {
    await using bare = openBare();
    const given = configMap('a', { k: 'as given' });
    const creating = bare.store.create(given);
    given.data = { k: 'changed' };
    const result = await creating;
    assert.deepEqual(result.ok && result.object.data, { k: 'as given' });
  });
});

describe('a full disk', () => {
  const fill = { k: 'x'.repeat(20_000) };

  it('fails every write of the group, leaves no trace, and later writes work when there is room again', async () => {
    await using bare = openBare();
    const { db, store, commits } = bare;
    assert.ok((await store.create(configMap('before'))).ok);
    const before = await stateOf(store);
    const controller = new AbortController();
    const events = store.watch('ConfigMap', { signal: controller.signal })[Symbol.asyncIterator]();
    db.exec(`PRAGMA max_page_count = ${pragma(db, 'page_count') + 20}`);

    const group = [
      store.create(configMap('small')),
      store.create(configMap('before')),
      ...Array.from({ length: 10 }, (_, index) => store.create(configMap(`big-${index}`, fill))),
      store.update(configMap('before', { k: 'v' })),
    ];
    const results = await Promise.all(group);
    assert.deepEqual(new Set(codes(results)), new Set(['Unavailable']));
    for (const result of results) assert.ok(!result.ok && /full/.test(result.error.message));
    assert.deepEqual(await stateOf(store), before);
    assert.equal(db.isTransaction, false);
    assert.equal(commits.length, 1);
    assert.match(store.problem()?.message ?? '', /full/);

    const small = await store.create(configMap('small'));
    assert.ok(small.ok, 'what fits is still written');
    assert.equal(small.object.metadata.resourceVersion, String(before.version + 1));
    db.exec('PRAGMA max_page_count = 1000000');
    assert.ok((await store.create(configMap('big', fill))).ok);
    const seen = [await events.next(), await events.next()];
    assert.deepEqual(
      seen.map(({ value }) => value?.type !== 'ERROR' && value?.type !== 'BOOKMARK' && value?.object.metadata.name),
      ['small', 'big'],
    );
    controller.abort();
  });

  it('is a problem until a write succeeds, which is tried when somebody asks', async () => {
    await using bare = openBare();
    const { db, store, commits } = bare;
    assert.ok((await store.create(configMap('before'))).ok);
    assert.equal(store.problem(), undefined);
    db.exec('PRAGMA query_only = ON');
    assert.equal((await store.create(configMap('a'))).ok, false);
    assert.notEqual(store.problem(), undefined);
    await turn();
    assert.notEqual(store.problem(), undefined);
    db.exec('PRAGMA query_only = OFF');
    await turn();
    assert.equal(store.problem(), undefined);
    const { version } = await stateOf(store);
    assert.ok((await store.create(configMap('a'))).ok);
    assert.deepEqual([commits.length, (await stateOf(store)).version], [2, version + 1]);
  });

  it('delays the collection of garbage until there is room', async () => {
    await using bare = openBare();
    const { db, store } = bare;
    const owner = await store.create(configMap('owner'));
    assert.ok(owner.ok);
    const child = configMap('child', { k: 'x'.repeat(100_000) });
    child.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.object.metadata.uid ?? '' }];
    assert.ok((await store.create(child)).ok);
    assert.ok((await store.delete('ConfigMap', 'shop', 'owner')).ok);
    // The history of the child's deletion needs more pages than there are.
    db.exec(`PRAGMA max_page_count = ${pragma(db, 'page_count')}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual((await stateOf(store)).names, ['child']);
    db.exec('PRAGMA max_page_count = 1000000');
    bare.later();
    const until = Date.now() + 60_000;
    while ((await stateOf(store)).names.length > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 2));
    assert.deepEqual((await stateOf(store)).names, []);
  });
});

describe('an error at the commit itself', () => {
  it('fails every write of the group, and nothing of it is read afterwards', async () => {
    await using bare = openBare();
    const { db, store } = bare;
    assert.ok((await store.create(configMap('before'))).ok);
    const before = await stateOf(store);
    // A foreign key that is checked at the commit makes COMMIT fail with the transaction still open.
    db.exec('PRAGMA foreign_keys = ON; CREATE TABLE parents (id INTEGER PRIMARY KEY)');
    db.exec('CREATE TABLE children (id INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED)');
    db.exec("CREATE TRIGGER orphans AFTER INSERT ON objects WHEN new.name = 'cursed' BEGIN INSERT INTO children VALUES (7); END");
    const results = await Promise.all(['a', 'cursed', 'b'].map((name) => store.create(configMap(name))));
    assert.deepEqual(codes(results), ['Unavailable', 'Unavailable', 'Unavailable']);
    assert.deepEqual(await stateOf(store), before);
    assert.equal(db.isTransaction, false);
    const after = await store.create(configMap('a'));
    assert.equal(after.ok && after.object.metadata.resourceVersion, String(before.version + 1));
  });
});
