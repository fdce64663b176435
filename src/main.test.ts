import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

test('a folder that was removed under the command is a sentence, not a stack', () => {
  const folder = mkdtempSync(join(tmpdir(), 'promoter-removed-'));
  const script = 'cd "$1" && rmdir "$1" && exec "$2" "$3" get bundles 2>&1';
  const ran = spawnSync('sh', ['-c', script, 'sh', folder, process.execPath, join(import.meta.dirname, 'main.ts')], { encoding: 'utf8' });
  assert.equal(ran.status, 1);
  assert.match(ran.stdout, /^error: The folder that this was started in does not exist any more; change to one that does\.\n$/m);
  assert.doesNotMatch(ran.stdout, / {4}at /);
});

test('a full disk behind standard output is a sentence, not a stack', {
  skip: !existsSync('/dev/full') && 'this machine has no /dev/full',
}, () => {
  const script = 'exec "$1" "$2" --help > /dev/full';
  const ran = spawnSync('sh', ['-c', script, 'sh', process.execPath, join(import.meta.dirname, 'main.ts')], { encoding: 'utf8' });
  assert.equal(ran.status, 1);
  assert.match(ran.stderr, /^error: Standard output cannot be written: no space left on device\.\n$/);
});
