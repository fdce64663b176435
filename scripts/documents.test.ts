/** Prose rots unless it is checked: links, paths and names of commands in the documents. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const documents = [...globSync('*.md', { cwd: root }), ...globSync('docs/**/*.md', { cwd: root })];
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('links between documents lead somewhere', () => {
  const broken = documents.flatMap((path) =>
    [...read(path).matchAll(/\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map((link) => link[1] ?? '')
      .filter((target) => !existsSync(join(root, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  );
  assert.deepEqual(broken, []);
});

test('files that documents name exist', () => {
  const written = documents.filter((path) => !path.startsWith('docs/reference/'));
  const missing = written.flatMap((path) =>
    [...read(path).matchAll(/`((?:src|scripts|test|docs)\/[\w./-]+\.(?:ts|md|mjs))`/g)]
      .map((name) => name[1] ?? '')
      .filter((name) => !existsSync(join(root, name)))
      .map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(missing, []);
});

test('every command is documented, and every documented command exists', () => {
  const known = [...read('src/cli/index.ts').matchAll(/^ {4}(\w+): async \(\)/gm)].map((command) => command[1]);
  const documented = [...read('docs/cli.md').matchAll(/^\| `promoter (\w+)/gm)].map((command) => command[1]);
  assert.ok(known.length > 5);
  assert.deepEqual([...new Set(documented)].toSorted(), known.toSorted());
});

test('every flag of the controller is documented with its variable', () => {
  const known = [...read('src/cli/controller.ts').matchAll(/option\('(--[\w-]+)[^']*', '(PROMOTER_\w+)'/g)].map(
    (flag) => `${flag[1]} ${flag[2]}`,
  );
  const documented = [...read('docs/cli.md').matchAll(/^\| `(--[\w-]+)` \| `(PROMOTER_\w+)`/gm)].map((flag) => `${flag[1]} ${flag[2]}`);
  assert.ok(known.length > 8);
  assert.deepEqual(documented.toSorted(), known.toSorted());
});

test('scripts that documents name are in package.json', () => {
  const scripts = new Set(Object.keys((JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts));
  const named = ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'CHANGELOG.md'].flatMap((path) =>
    [...read(path).matchAll(/npm run ([\w:-]+)/g)].map((name) => name[1] ?? ''),
  );
  assert.deepEqual(
    named.filter((name) => !scripts.has(name)),
    [],
  );
});

test('reasons that the page of symptoms explains are given somewhere', () => {
  const source = globSync('src/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => read(path))
    .join('\n');
  const rows = read('docs/troubleshooting.md').split('\n');
  const explained = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([A-Z][a-z]\w+)`/g)].map((code) => code[1] ?? ''));
  assert.ok(explained.length > 30);
  assert.deepEqual(
    explained.filter((code) => !source.includes(`'${code}'`)),
    [],
  );
});

test('the first page leads to every other', () => {
  const linked = new Set([...read('README.md').matchAll(/\]\(([^)#]+)/g)].map((link) => link[1] ?? ''));
  const pages = globSync('docs/*.md', { cwd: root });
  assert.deepEqual(
    ['docs/reference/states.md', ...pages].filter((page) => !linked.has(page)),
    [],
  );
});
