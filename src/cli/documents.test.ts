import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDocuments } from './documents.ts';

const input = (text: string) => readDocuments(['-'], async () => text);
const namespace = (name: string): string => `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`;

const refusal = async (text: string): Promise<string> => {
  const read = await input(text);
  assert.equal(read.ok, false);
  return read.ok || read.end.code === 0 ? '' : read.end.message;
};

test('several documents, lists and empty documents are read in order', async () => {
  const list = `apiVersion: v1\nkind: List\nitems:\n  - {apiVersion: v1, kind: Namespace, metadata: {name: c}}\n`;
  const read = await input(`---\n${namespace('a')}---\n# nothing\n---\n${namespace('b')}---\n${list}`);
  assert.deepEqual(read.ok && read.value.map((document) => document.object.metadata.name), ['a', 'b', 'c']);
});

test('a folder is read by name, other files are left alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'promoter-documents-'));
  try {
    await writeFile(join(folder, 'b.yml'), namespace('b'));
    await writeFile(join(folder, 'a.yaml'), namespace('a'));
    await writeFile(join(folder, 'c.json'), JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'c' } }));
    await writeFile(join(folder, 'notes.txt'), 'not: [a resource');
    const read = await readDocuments([folder], async () => '');
    assert.deepEqual(read.ok && read.value.map((document) => document.object.metadata.name), ['a', 'b', 'c']);
    const missing = await readDocuments([join(folder, 'none.yaml')], async () => '');
    assert.equal(missing.ok, false);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('what cannot be a resource is refused with its place', async () => {
  assert.match(await refusal(`${namespace('a')}---\nkind: [broken\n`), /^standard input:\d+: /);
  assert.match(
    await refusal('apiVersion: promoter.io/v1alpha1\nkind: Pipline\nmetadata: {name: x}\n'),
    /no kind "Pipline"\. Did you mean Pipeline\?/,
  );
  assert.match(
    await refusal('apiVersion: v1\nkind: Bundle\nmetadata: {name: x}\n'),
    /apiVersion of Bundle is "v1"; accepted is promoter\.io\/v1alpha1/,
  );
  assert.match(await refusal('apiVersion: v1\nkind: Namespace\nmetadata: {}\n'), /metadata\.name of Namespace is missing/);
  assert.match(await refusal('- just\n- a list\n'), /expected a resource/);
  assert.match(await refusal('# empty\n'), /no resource/);
  assert.match(await refusal('apiVersion: v1\nkind: constructor\nmetadata: {name: x}\n'), /no kind "constructor"/);
});

test('one unreadable document keeps all others from being given', async () => {
  assert.equal((await input(`${namespace('a')}---\nnonsense\n`)).ok, false);
});
