import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkFiles, LAYERS, readSources } from './layers.ts';

const root = join(import.meta.dirname, '..');
const messages = (path: string, text: string): string[] => checkFiles([{ path, text }]).map((violation) => violation.message);

test('the source tree obeys the table', () => {
  assert.deepEqual(checkFiles(readSources(root, ['src'])), []);
});

test('every row of the table in ARCHITECTURE.md is in the data', () => {
  const rows = [...readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').matchAll(/^\| `src\/([a-z]+)(?:\.ts)?`/gm)].map((row) => row[1]);
  assert.deepEqual(rows.toSorted(), Object.keys(LAYERS).toSorted());
});

test('an import of types counts as an import', () => {
  assert.deepEqual(messages('src/core/a.ts', "import type { Store } from '../ports/store.ts';\n"), [
    'core must not import ports (src/ports/store.ts)',
  ]);
  assert.equal(messages('src/core/a.ts', "export type { Store } from '../ports/store.ts';\n").length, 1);
  assert.equal(messages('src/core/a.ts', "let store: import('../ports/store.ts').Store;\n").length, 1);
});

test('imports over several lines, for their side effect, and at run time are seen', () => {
  assert.equal(messages('src/api/a.ts', "import {\n  a,\n  b,\n} from '../core/effect.ts';\n").length, 1);
  assert.equal(messages('src/api/a.ts', "import '../core/effect.ts';\n").length, 1);
  assert.equal(messages('src/cli/a.ts', "const x = await import('../adapters/git/index.ts');\n").length, 1);
  assert.equal(messages('src/cli/a.ts', 'const x = await import(path);\n').length, 1);
});

test('Node and packages with effects stay out of decisions', () => {
  assert.deepEqual(messages('src/core/a.ts', "import { readFileSync } from 'node:fs';\n"), ['core must not touch Node (node:fs)']);
  assert.equal(messages('src/world/a.ts', "import { fetch } from 'undici';\n").length, 1);
  assert.equal(messages('src/ports/a.ts', "import { parse } from 'yaml';\n").length, 1);
  assert.deepEqual(messages('src/core/a.ts', "import { parse } from 'yaml';\n"), []);
});

test('adapters do not know each other, but the files of one do', () => {
  assert.equal(messages('src/adapters/git/a.ts', "import { b } from '../store-sqlite/b.ts';\n").length, 1);
  assert.deepEqual(messages('src/adapters/git/a.ts', "import { b } from './b.ts';\n"), []);
  assert.equal(messages('src/adapters/git/a.ts', "import { b } from '../../core/effect.ts';\n").length, 1);
});

test('comments and text are not imports', () => {
  assert.deepEqual(messages('src/core/a.ts', "// import { a } from 'node:fs';\n/* import 'node:fs'; */\nconst a = `from 'x'`;\n"), []);
});

test('long files, empty names and unknown folders are refused', () => {
  assert.equal(messages('src/api/a.ts', '\n'.repeat(351)).length, 1);
  assert.deepEqual(messages('src/api/a.ts', '\n'.repeat(350)), []);
  assert.equal(messages('src/api/string-utils.ts', '').length, 1);
  assert.equal(messages('src/api/helpers.ts', '').length, 1);
  assert.equal(messages('src/stuff/a.ts', "import { a } from '../api/meta.ts';\n").length, 1);
});
