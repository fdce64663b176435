import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { TreeEntry } from './objects.ts';
import { encodeCommit, encodeTree, makeObject, parseCommit, parseTree, withEntry } from './objects.ts';

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'promoter-objects-'));
  execFileSync('git', ['init', '--quiet', '--bare', folder]);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const hashed = (type: string, body: Buffer): string =>
  execFileSync('git', [`--git-dir=${folder}`, 'hash-object', '-w', '-t', type, '--stdin'], { input: body, encoding: 'utf8' }).trim();

const oid = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

const entry = fc
  .record({ name: fc.stringMatching(/^[a-c.\-0ü]{1,4}$/), folder: fc.boolean() })
  .filter(({ name }) => !/^\.{1,2}$/.test(name))
  .map(
    ({ name, folder: isFolder }): TreeEntry => ({
      mode: isFolder ? '40000' : '100644',
      name: Buffer.from(name, 'utf8').toString('latin1'),
      oid: isFolder ? emptyTree : oid,
    }),
  );

test('entries end up where git puts them, in whatever order they come', () => {
  hashed('blob', Buffer.alloc(0));
  hashed('tree', Buffer.alloc(0));
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 8 }), (entries) => {
      const ours = entries.reduce<readonly TreeEntry[]>((tree, one) => withEntry(tree, one), []);
      const lines = ours.map((one) => `${one.mode.padStart(6, '0')} ${one.mode === '40000' ? 'tree' : 'blob'} ${one.oid}\t${one.name}\0`);
      const theirs = execFileSync('git', [`--git-dir=${folder}`, 'mktree', '-z'], {
        input: Buffer.from(lines.toReversed().join(''), 'latin1'),
        encoding: 'utf8',
      });
      const made = makeObject('tree', encodeTree(ours), 40);
      assert.equal(made.oid, theirs.trim());
      assert.deepEqual(parseTree(encodeTree(ours), 40), ours);
    }),
    { numRuns: 40 },
  );
});

test('a commit of ours has the id that git gives it, and git accepts it', () => {
  const body = encodeCommit({
    tree: emptyTree,
    parent: oid,
    identity: 'promoter <promoter@localhost>',
    authored: 1_700_000_000,
    committed: 1_700_000_005,
    message: 'Ünï\n\nPromoter-Run: a/b/1\n\n',
  });
  const made = makeObject('commit', body, 40);
  assert.equal(hashed('commit', body), made.oid);
  assert.deepEqual(parseCommit(body), { tree: emptyTree, parents: [oid], time: 1_700_000_005, runs: ['a/b/1'] });
});

test('only trailers count, not sentences that look like one', () => {
  const runs = (message: string): readonly string[] | undefined =>
    parseCommit(Buffer.from(`tree ${emptyTree}\nauthor a <b> 1 +0000\ncommitter a <b> 1 +0000\n\n${message}`))?.runs;
  assert.deepEqual(runs('Title\n\nPromoter-Run: x\n\nNot the last paragraph\n'), []);
  assert.deepEqual(runs('Title\n\nPromoter-Bundle: b\nPromoter-Run: x\n'), ['x']);
  assert.deepEqual(runs('Title\n'), []);
});

test('bytes that are no tree or commit are not taken for one', () => {
  assert.equal(parseTree(Buffer.from('100644 a\0short'), 40), undefined);
  assert.equal(parseTree(Buffer.from('nonsense'), 40), undefined);
  assert.equal(parseCommit(Buffer.from('nonsense')), undefined);
});
