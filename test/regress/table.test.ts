/** The table of defects names tests; a test that is renamed or gone shows here. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..', '..');

test('every row of docs/regressions.md names a test that exists, and the command that runs its file', () => {
  const lines = readFileSync(join(root, 'docs', 'regressions.md'), 'utf8').split('\n');
  const rows = lines.map((line) => /^\| .+ \| (.+) \| `npm test -- (\S+)` \|$/.exec(line)).filter((row) => row !== null);
  assert.ok(rows.length > 30, `${rows.length} rows`);
  const missing = rows.filter(([, name = '', file = '']) => {
    const path = join(root, file);
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(`'${name}'`);
  });
  assert.deepEqual(
    missing.map(([, name, file]) => `${file}: ${name}`),
    [],
  );
  const cells = lines.filter((line) => line.startsWith('| ') && line.includes('`npm '));
  assert.equal(cells.length, rows.length, 'every row with a command has the form that is checked');
});
