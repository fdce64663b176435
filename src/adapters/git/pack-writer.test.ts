import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ObjectWriter } from './object-writer.ts';
import { makeObject } from './objects.ts';
import { writePack } from './pack-writer.ts';

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'promoter-pack-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const newRepository = (name: string): string => {
  const path = join(folder, name);
  execFileSync('git', ['init', '--quiet', '--bare', path]);
  return path;
};
const git = (path: string, ...args: readonly string[]): string => execFileSync('git', [`--git-dir=${path}`, ...args], { encoding: 'utf8' });
const blobs = (sizes: readonly number[]) => sizes.map((size, index) => makeObject('blob', Buffer.alloc(size, `${index} `), 40));

test('git finds our packs in order, and every object in them, small and large', async () => {
  const path = newRepository('packs.git');
  const objects = blobs([0, 1, 15, 16, 17, 2047, 2048, 2049, 300_000, ...Array.from({ length: 500 }, (_, index) => index + 20)]);
  await writePack(path, objects);
  const [index = ''] = readdirSync(join(path, 'objects', 'pack')).filter((name) => name.endsWith('.idx'));
  git(path, 'verify-pack', join(path, 'objects', 'pack', index));
  assert.match(git(path, 'count-objects', '-v'), new RegExp(`in-pack: ${objects.length}\n`));
  for (const object of objects.slice(0, 12)) assert.equal(git(path, 'cat-file', '-t', object.oid).trim(), 'blob');
  assert.equal(execFileSync('git', [`--git-dir=${path}`, 'cat-file', 'blob', objects[8]?.oid ?? '']).length, 300_000);
  assert.deepEqual(
    readdirSync(join(path, 'objects', 'pack')).filter((name) => name.startsWith('tmp_')),
    [],
  );
});

test('nothing is called a pack or an index before it is whole', async () => {
  const path = newRepository('names.git');
  const seen = new Set<string>();
  const watcher = watch(join(path, 'objects', 'pack'), (_, name) => void seen.add(name ?? ''));
  await writePack(path, blobs([1, 2, 3]));
  while (![...seen].some((name) => name.startsWith('pack-') && name.endsWith('.idx')))
    await new Promise((resolve) => setImmediate(resolve));
  watcher.close();
  const ended = [...seen].filter((name) => name.endsWith('.idx') || name.endsWith('.pack'));
  assert.deepEqual(
    ended.filter((name) => !name.startsWith('pack-')),
    [],
  );
});

test('a few objects are loose, many become one pack, and nothing is written twice', async () => {
  const path = newRepository('writer.git');
  const writer = new ObjectWriter(path);
  const few = blobs([1, 2, 3]);
  assert.equal((await writer.write(few)).outcome, 'done');
  assert.match(git(path, 'count-objects', '-v'), /count: 3\n(.*\n)*packs: 0\n/);
  // The first is being written while the others come, which then share one pack.
  const many = blobs(Array.from({ length: 60 }, (_, index) => index + 10));
  const results = await Promise.all(many.map((object) => writer.write([...few, object])));
  assert.deepEqual(new Set(results.map((result) => result.outcome)), new Set(['done']));
  assert.match(git(path, 'count-objects', '-v'), /packs: 1\n/);
  for (const object of [...few, ...many]) assert.equal(git(path, 'cat-file', '-t', object.oid).trim(), 'blob');
});

test('a mirror whose folder has disappeared is told as damage', async () => {
  const writer = new ObjectWriter(join(folder, 'none.git'));
  const result = await writer.write(blobs([1]));
  assert.equal(result.outcome === 'transient' && result.reason.code, 'GitMirrorCorrupt');
});
