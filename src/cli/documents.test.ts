import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readDocuments } from './documents.ts';

const read = (text: string) => readDocuments(['-'], async () => text);
const namespace = (name: string): string => `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`;

/** Names of the objects that were read, and what could not be. */
const outcome = async (reading: ReturnType<typeof readDocuments>) => {
  const found = await reading;
  if (!found.ok) return { names: [], problems: [found.end.code === 0 ? '' : found.end.message], code: found.end.code };
  return {
    names: found.value.documents.map(({ object }) => object.metadata.name),
    problems: found.value.problems,
    notes: found.value.notes,
  };
};

const refusal = async (text: string): Promise<string> => {
  const { names, problems } = await outcome(read(text));
  assert.deepEqual(names, []);
  assert.equal(problems.length, 1);
  return problems[0] ?? '';
};

const temporaryFolder = async (context: TestContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'promoter-documents-'));
  context.after(() => rm(folder, { recursive: true }));
  return folder;
};

test('several documents, lists and empty documents are read in order', async () => {
  const list = `apiVersion: v1\nkind: List\nitems:\n  - {apiVersion: v1, kind: Namespace, metadata: {name: c}}\n`;
  const { names, problems } = await outcome(read(`---\n${namespace('a')}---\n# nothing\n---\n${namespace('b')}---\n${list}`));
  assert.deepEqual([names, problems], [['a', 'b', 'c'], []]);
});

test('a folder is read by name, other files are left alone', async (context) => {
  const folder = await temporaryFolder(context);
  await writeFile(join(folder, 'b.yml'), namespace('b'));
  await writeFile(join(folder, 'a.yaml'), namespace('a'));
  await writeFile(join(folder, 'c.json'), JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'c' } }));
  await writeFile(join(folder, 'notes.txt'), 'not: [a resource');
  assert.deepEqual(await outcome(readDocuments([folder], async () => '')), { names: ['a', 'b', 'c'], problems: [], notes: [] });
  const missing = await readDocuments([folder, join(folder, 'none.yaml')], async () => '');
  assert.equal(missing.ok, false);
});

test('folders inside a folder are not gone into, which is said; hidden ones are not spoken of', async (context) => {
  const folder = await temporaryFolder(context);
  for (const name of ['dir.yaml', 'sub', '.git']) await mkdir(join(folder, name));
  await writeFile(join(folder, 'sub', 'inner.yaml'), namespace('inner'));
  await writeFile(join(folder, 'z.yaml'), namespace('z'));
  const { names, problems, notes } = await outcome(readDocuments([folder], async () => ''));
  assert.deepEqual([names, problems], [['z'], []]);
  assert.deepEqual(notes, [`folders inside ${folder} are not gone into: dir.yaml, sub; name them with -f`]);
});

test('what is neither file nor folder is left out of a folder, which is said', async (context) => {
  const folder = await temporaryFolder(context);
  execFileSync('mkfifo', [join(folder, 'a.yaml')]);
  await symlink('nowhere', join(folder, 'b.yaml'));
  await writeFile(join(folder, 'real'), namespace('z'));
  await symlink('real', join(folder, 'z.yaml'));
  const { names, problems, notes } = await outcome(readDocuments([folder], async () => ''));
  assert.deepEqual([names, problems], [['z'], []]);
  assert.deepEqual(notes, [`left out, as they are no files: ${join(folder, 'a.yaml')}, ${join(folder, 'b.yaml')}`]);
});

test('a broken file keeps no other file from being read, and every fault is told', async (context) => {
  const folder = await temporaryFolder(context);
  await writeFile(join(folder, 'a.yaml'), namespace('a'));
  await writeFile(join(folder, 'b.yaml'), `${namespace('lost')}---\nkind: [broken\n`);
  await writeFile(join(folder, 'c.yaml'), `${namespace('c')}---\nnonsense\n---\nkind: Pipline\n`);
  const { names, problems } = await outcome(readDocuments([folder], async () => ''));
  assert.deepEqual(names, ['a', 'c']);
  assert.equal(problems.length, 3);
  const places = [
    `${join(folder, 'b.yaml')}:7: `,
    `${join(folder, 'c.yaml')}:6: expected a resource`,
    `${join(folder, 'c.yaml')}:8: there is no kind`,
  ];
  assert.deepEqual(
    problems.map((problem, index) => problem.slice(0, places[index]?.length)),
    places,
  );
});

test('what cannot be a resource is refused with its place', async () => {
  assert.match(await refusal(`kind: [broken\n`), /^standard input:\d+: /);
  assert.match(
    await refusal('apiVersion: promoter.io/v1alpha1\nkind: Pipline\nmetadata: {name: x}\n'),
    /no kind "Pipline"\. Did you mean Pipeline\?/,
  );
  assert.match(
    await refusal('apiVersion: v1\nkind: Bundle\nmetadata: {name: x}\n'),
    /apiVersion of Bundle is "v1"; accepted is promoter\.io\/v1alpha1/,
  );
  assert.match(await refusal('apiVersion: v1\nkind: Namespace\nmetadata: {}\n'), /metadata\.name of Namespace is missing/);
  assert.match(
    await refusal('apiVersion: v1\nkind: Namespace\nmetadata: {name: 5}\n'),
    /^standard input:1: metadata\.name of Namespace is the number 5; write it in quotes: "5"/,
  );
  assert.match(await refusal('- just\n- a list\n'), /expected a resource/);
  assert.match(await refusal('# empty\n'), /no resource/);
  assert.match(await refusal('apiVersion: v1\nkind: constructor\nmetadata: {name: x}\n'), /no kind "constructor"/);
});

test('anchors and merge keys are followed, however often they are used', async () => {
  const lines = Array.from({ length: 128 }, (_, index) => `    - {<<: *each, name: e${index}}\n`).join('');
  const found = await read(
    `apiVersion: promoter.io/v1alpha1\nkind: Pipeline\nmetadata: {name: web, labels: {a: &x b}}\nspec:\n  each: &each {approval: auto}\n  environments:\n${lines}`,
  );
  assert.ok(found.ok);
  const last: unknown = (found.value.documents[0]?.object as { spec?: { environments?: unknown[] } } | undefined)?.spec
    ?.environments?.[127];
  assert.deepEqual(last, { approval: 'auto', name: 'e127' });
});

test('aliases that multiply, go round in circles or name nothing are refused with their line', async () => {
  const head = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: bomb}\nx:\n';
  const bomb = 'abcdefghi'.split('').map((name, index, all) => {
    const inner = index === 0 ? 'x' : `*${all[index - 1]}`;
    return `  ${name}: &${name} [${Array.from({ length: 9 }, () => inner).join(',')}]\n`;
  });
  assert.match(await refusal(head + bomb.join('')), /^standard input:\d+: .*over 3 MiB.*aliases/);
  const circle = await refusal('apiVersion: v1\nkind: Namespace\nmetadata: &m {name: self, labels: *m}\n');
  assert.match(circle, /^standard input:3: the alias \*m stands inside of what it names/);
  assert.match(await refusal(`${head}  a: 1\n  b: *nobody\n`), /^standard input:6: there is no anchor &nobody before the alias/);
  assert.match(await refusal(`${head}  <<: 5\n`), /^standard input:\d+: /);
});

test('an inner anchor of the same name is what an alias means', async () => {
  const found = await read('apiVersion: v1\nkind: Namespace\nmetadata: {name: n, labels: &a {b: &a c, d: *a}}\n');
  assert.deepEqual(found.ok && found.value.documents[0]?.object.metadata.labels, { b: 'c', d: 'c' });
});

test('nesting without end is refused with its line', async () => {
  const nested = (depth: number) =>
    `apiVersion: v1\nkind: Namespace\nmetadata: {name: deep}\nx: ${'['.repeat(depth)}${']'.repeat(depth)}\n`;
  for (const depth of [200, 20_000]) assert.match(await refusal(nested(depth)), /^standard input:4: nested deeper than 100 levels/);
  assert.deepEqual((await outcome(read(nested(90)))).names, ['deep']);
  const list = (depth: number, inner: string) => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;
  const through = (depth: number) =>
    `apiVersion: v1\nkind: Namespace\nmetadata: {name: deep}\nx: &x ${list(depth, '')}\ny: ${list(depth, '*x')}\n`;
  assert.match(await refusal(through(60)), /^standard input:5: nested deeper than 100 levels/);
  assert.deepEqual((await outcome(read(through(45)))).names, ['deep']);
});

test('sizes and counts have bounds', async () => {
  const big = `${namespace('big')}  labels: {a: ${'x'.repeat(3 * 1024 * 1024)}}\n`;
  assert.deepEqual((await outcome(read(`${namespace('small')}---\n${big}`))).names, ['small']);
  assert.match(await refusal(big), /^standard input:5: the document has over 3 MiB/);
  assert.match(await refusal('#'.repeat(4 * 1024 * 1024 + 1)), /^standard input holds more than 4 MiB/);
  assert.match(await refusal('---\nkind: x\n'.repeat(10_001)), /^standard input:20002: more than 10000 documents/);
  const items = Array.from({ length: 10_001 }, () => '  - {}\n').join('');
  assert.match(await refusal(`kind: List\napiVersion: v1\nitems:\n${items}`), /more than 10000 documents/);
});
