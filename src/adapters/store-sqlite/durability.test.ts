import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { ConfigMap } from '../../api/kinds/native.ts';
import type { Clock } from '../../ports/clock.ts';
import { type OpenOptions, openSqliteStore, type SqliteStore } from './index.ts';
import { MIGRATIONS, migrate } from './schema.ts';

const clock: Clock = { now: () => Date.parse('2026-02-03T04:05:06Z'), at: () => () => {} };

const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data,
});

const temporary = () => {
  const path = mkdtempSync(join(tmpdir(), 'promoter-store-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
};

const tryOpen = (directory: string, more: Partial<OpenOptions> = {}) =>
  openSqliteStore({ directory, clock, admit: ({ object }) => ({ ok: true, object, warnings: [] }), ...more });

const open = async (directory: string, more: Partial<OpenOptions> = {}): Promise<SqliteStore> => {
  const opened = await tryOpen(directory, more);
  assert.ok(opened.outcome === 'done', opened.outcome === 'done' ? '' : opened.reason.message);
  return opened.value;
};

const refusalOf = async (directory: string): Promise<{ code: string; message: string }> => {
  const opened = await tryOpen(directory);
  if (opened.outcome === 'done') await opened.value.close();
  assert.equal(opened.outcome, 'terminal');
  assert.ok(opened.outcome === 'terminal');
  return opened.reason;
};

const versionOf = async (store: SqliteStore): Promise<number> => {
  const listed = await store.list('ConfigMap', { limit: 1 });
  assert.ok(listed.ok);
  return Number(listed.value.resourceVersion);
};

/** A process that creates objects and prints each name once its creation was acknowledged. */
const WRITER = `
import { openSqliteStore } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
const clock = { now: () => Date.now(), at: () => () => {} };
const admit = ({ object }) => ({ ok: true, object, warnings: [] });
const opened = await openSqliteStore({ directory: process.argv[1], clock, admit });
if (opened.outcome !== 'done') throw new Error(opened.reason.message);
console.log('open');
const lane = async (id) => {
  for (let count = 0; ; count++) {
    const name = process.argv[2] + '-' + id + '-' + count;
    const result = await opened.value.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' }, data: { name } });
    if (!result.ok) throw new Error(result.error.message);
    console.log(name + ' ' + result.object.metadata.resourceVersion);
  }
};
for (let id = 0; id < 8; id++) lane(id);
`;

/** Starts the writer, and hands out its lines. */
const startWriter = (directory: string, prefix: string) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER, directory, prefix], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return { child, ended, lines: createInterface({ input: child.stdout }) };
};

describe('after SIGKILL', () => {
  it('every acknowledged write is there, and no version is given twice', async () => {
    using directory = temporary();
    const acknowledged = new Map<string, string>();
    for (const prefix of ['one', 'two']) {
      const { child, ended, lines } = startWriter(directory.path, prefix);
      let count = 0;
      lines.on('line', (line) => {
        const [name = '', version] = line.split(' ');
        if (version === undefined) return;
        acknowledged.set(name, version);
        if (++count === 150) child.kill('SIGKILL');
      });
      await ended;
    }
    assert.ok(acknowledged.size >= 300);
    assert.equal(new Set(acknowledged.values()).size, acknowledged.size);
    const store = await open(directory.path);
    const listed = await store.list('ConfigMap');
    assert.ok(listed.ok);
    const stored = new Map(listed.value.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    for (const [name, version] of acknowledged) assert.equal(stored.get(name), version, name);
    const created = await store.create(configMap('after'));
    assert.ok(created.ok);
    const highest = Math.max(...[...stored.values()].map(Number));
    assert.ok(Number(created.object.metadata.resourceVersion) > highest);
    await store.close();
  });

  it('the collection of garbage goes on where it was', async () => {
    using directory = temporary();
    const store = await open(directory.path);
    const owner = await store.create(configMap('owner'));
    assert.ok(owner.ok);
    const { name, uid = '' } = owner.object.metadata;
    const child = configMap('child');
    child.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }];
    assert.ok((await store.create(child)).ok);
    const deleted = store.delete('ConfigMap', 'shop', 'owner');
    // Closing commits the deletion and takes no further step.
    await store.close();
    assert.ok((await deleted).ok);
    const again = await open(directory.path);
    const until = Date.now() + 60_000;
    while ((await again.get('ConfigMap', 'shop', 'child')).ok && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 2));
    assert.equal((await again.get('ConfigMap', 'shop', 'child')).ok, false);
    await again.close();
  });
});

describe('a database that is removed while it is open', () => {
  const gone = /removed or replaced while it was open/;

  it('fails every write, so that nothing is acknowledged that is lost', async () => {
    using directory = temporary();
    const folder = join(directory.path, 'data');
    const store = await open(folder);
    assert.ok((await store.create(configMap('before'))).ok);
    assert.equal(store.problem(), undefined);
    rmSync(folder, { recursive: true });
    const written = await store.create(configMap('after'));
    assert.ok(!written.ok && written.error.code === 'Unavailable' && gone.test(written.error.message), JSON.stringify(written));
    assert.match(store.problem()?.message ?? '', gone);
    // Another database at the same place is not this one.
    const other = await open(folder);
    assert.equal((await store.create(configMap('again'))).ok, false);
    assert.match(store.problem()?.message ?? '', gone);
    assert.ok((await other.create(configMap('again'))).ok);
    await store.close();
    await other.close();
  });

  it('is told without a write, and is over when the data is put back', async () => {
    using directory = temporary();
    const [folder, aside] = [join(directory.path, 'data'), join(directory.path, 'aside')];
    const store = await open(folder);
    renameSync(folder, aside);
    assert.match(store.problem()?.message ?? '', gone);
    assert.equal((await store.create(configMap('refused'))).ok, false);
    renameSync(aside, folder);
    const until = Date.now() + 60_000;
    while (store.problem() !== undefined && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 2));
    assert.equal(store.problem(), undefined);
    const controller = new AbortController();
    const events = store.watch('ConfigMap', { signal: controller.signal })[Symbol.asyncIterator]();
    assert.ok((await store.create(configMap('after'))).ok);
    const { value: event } = await events.next();
    assert.ok(event?.type === 'ADDED' && event.object.metadata.name === 'after', JSON.stringify(event));
    controller.abort();
    // What was refused has left no trace.
    assert.equal((await store.get('ConfigMap', 'shop', 'refused')).ok, false);
    await store.close();
  });
});

describe('opening', () => {
  it('refuses a place where nothing can be made, however deep', async () => {
    using directory = temporary();
    writeFileSync(join(directory.path, 'file'), '');
    for (const path of ['/proc/promoter/data', '/proc/self/promoter', join(directory.path, 'file', 'data'), join(directory.path, 'file')]) {
      assert.equal((await refusalOf(path)).code, 'DataDirectoryUnusable', path);
    }
    const deep = join(directory.path, 'a', 'b', 'c');
    await (await open(deep)).close();
    for (const path of [deep, join(deep, '..')]) assert.equal(statSync(path).mode & 0o777, 0o700);
  });

  it('gives versions that go on after a restart, also when the history was trimmed and everything deleted', async () => {
    using directory = temporary();
    const first = await open(directory.path, { historySize: 4 });
    for (let count = 0; count < 20; count++) assert.ok((await first.create(configMap(`a-${count}`))).ok);
    for (let count = 0; count < 20; count++) assert.ok((await first.delete('ConfigMap', 'shop', `a-${count}`)).ok);
    const before = await versionOf(first);
    await first.close();
    const second = await open(directory.path, { historySize: 4 });
    assert.equal(await versionOf(second), before, 'opening writes nothing');
    const created = await second.create(configMap('b'));
    assert.equal(created.ok && created.object.metadata.resourceVersion, String(before + 1));
    await second.close();
  });

  it('serves watches from before the restart', async () => {
    using directory = temporary();
    const first = await open(directory.path);
    const version = String(await versionOf(first));
    assert.ok((await first.create(configMap('a'))).ok);
    await first.close();
    const second = await open(directory.path);
    const controller = new AbortController();
    for await (const event of second.watch('ConfigMap', { resourceVersion: version, signal: controller.signal })) {
      assert.equal(event.type, 'ADDED');
      break;
    }
    await second.close();
  });

  it('refuses a directory that another process uses, names it, and takes the directory once that one was killed', async () => {
    using directory = temporary();
    const { child, ended, lines } = startWriter(directory.path, 'x');
    await new Promise<void>((resolve) => lines.once('line', () => resolve()));
    const refusal = await refusalOf(directory.path);
    assert.equal(refusal.code, 'DataDirectoryInUse');
    assert.match(refusal.message, new RegExp(`process ${child.pid}\\b`));
    assert.ok(refusal.message.includes(directory.path));
    child.kill('SIGKILL');
    await ended;
    await (await open(directory.path)).close();
  });

  it('refuses a second store in the same process, and the first one goes on', async () => {
    using directory = temporary();
    const store = await open(directory.path);
    for (let count = 0; count < 3; count++) assert.equal((await refusalOf(directory.path)).code, 'DataDirectoryInUse');
    assert.ok((await store.create(configMap('a'))).ok);
    await store.close();
    await (await open(directory.path)).close();
  });

  it('keeps the directory and its files to the user', async () => {
    using parent = temporary();
    const directory = join(parent.path, 'deep', 'data');
    const store = await open(directory);
    assert.ok((await store.create(configMap('a'))).ok);
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    const files = readdirSync(directory);
    assert.ok(files.includes('store.db') && files.includes('store.db-wal'));
    for (const file of files) assert.equal(statSync(join(directory, file)).mode & 0o077, 0, file);
    await store.close();
    chmodSync(directory, 0o755);
    chmodSync(join(directory, 'store.db'), 0o644);
    await (await open(directory)).close();
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    assert.equal(statSync(join(directory, 'store.db')).mode & 0o777, 0o600);
  });

  it('leaves the mode of a directory with other things in it', async () => {
    using directory = temporary();
    mkdirSync(join(directory.path, 'other'));
    chmodSync(directory.path, 0o755);
    await (await open(directory.path)).close();
    assert.equal(statSync(directory.path).mode & 0o777, 0o755);
  });

  it('refuses a path that cannot be a directory', async () => {
    using directory = temporary();
    const file = join(directory.path, 'file');
    writeFileSync(file, '');
    const refusal = await refusalOf(join(file, 'data'));
    assert.equal(refusal.code, 'DataDirectoryUnusable');
    assert.ok(refusal.message.includes(file));
  });

  it('refuses a damaged database and leaves it as it is', async () => {
    using directory = temporary();
    const store = await open(directory.path);
    await store.close();
    const file = join(directory.path, 'store.db');
    writeFileSync(file, 'this is no database, and it is longer than the header of one would be. '.repeat(100));
    const refusal = await refusalOf(directory.path);
    assert.equal(refusal.code, 'StoreCorrupt');
    assert.ok(refusal.message.includes(file));
    assert.equal((await refusalOf(directory.path)).code, 'StoreCorrupt', 'the lock was given back');
  });

  it('answers Unavailable when a page turns out to be damaged', async () => {
    using directory = temporary();
    const store = await open(directory.path);
    await Promise.all(Array.from({ length: 200 }, (_, index) => store.create(configMap(`a-${index}`, { k: 'x'.repeat(2000) }))));
    await store.close();
    const file = join(directory.path, 'store.db');
    const size = statSync(file).size;
    const handle = new DatabaseSync(file);
    const root = Number(handle.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'objects'").get()?.['rootpage']);
    handle.close();
    const { openSync, writeSync, closeSync } = await import('node:fs');
    const raw = openSync(file, 'r+');
    writeSync(raw, Buffer.alloc(4096, 0xff), 0, 4096, (root - 1) * 4096);
    closeSync(raw);
    assert.equal(statSync(file).size, size);
    const opened = await tryOpen(directory.path);
    if (opened.outcome === 'done') {
      const result = await opened.value.list('ConfigMap');
      assert.equal(!result.ok && result.error.code, 'Unavailable');
      await opened.value.close();
    } else assert.match(opened.reason.message, /damaged/);
  });

  it("refuses a database that is not the store's", async () => {
    using directory = temporary();
    const foreign = new DatabaseSync(join(directory.path, 'store.db'));
    foreign.exec('CREATE TABLE theirs (a)');
    foreign.close();
    assert.equal((await refusalOf(directory.path)).code, 'StoreForeign');
  });

  it('refuses a database of a newer version', async () => {
    using directory = temporary();
    await (await open(directory.path)).close();
    const db = new DatabaseSync(join(directory.path, 'store.db'));
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    db.close();
    const refusal = await refusalOf(directory.path);
    assert.equal(refusal.code, 'StoreTooNew');
    assert.ok(refusal.message.includes(String(MIGRATIONS.length + 1)));
    assert.ok(existsSync(join(directory.path, 'store.db')));
  });
});

describe('migrations', () => {
  it('run in order, once, and not at all when one of them fails half-way', () => {
    const db = new DatabaseSync(':memory:');
    const version = () => db.prepare('PRAGMA user_version').get()?.['user_version'];
    const first = [...MIGRATIONS, 'CREATE TABLE extra (a)'];
    assert.equal(migrate(db, first).outcome, 'done');
    assert.equal(migrate(db, first).outcome, 'done');
    assert.equal(version(), first.length);
    assert.throws(() => migrate(db, [...first, 'CREATE TABLE later (a); CREATE TABLE extra (a)']));
    assert.equal(db.isTransaction, false);
    assert.equal(version(), first.length);
    assert.equal(db.prepare("SELECT count(*) AS n FROM sqlite_master WHERE name = 'later'").get()?.['n'], 0);
    assert.equal(migrate(db, [...first, 'INSERT INTO extra VALUES (1)']).outcome, 'done');
    assert.equal(version(), first.length + 1);
    db.close();
  });
});
