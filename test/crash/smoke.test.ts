/** A few kills on every run of the tests; `npm run crash -- --kills N` does many. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

test('a controller that is killed again and again loses nothing, writes nothing twice and leaves no process', { timeout: 120_000 }, () => {
  const args = ['--kills', '4', '--bundles', '16', '--pipelines', '4', '--seed', '11'];
  const run = spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], { encoding: 'utf8', timeout: 110_000 });
  assert.equal(run.status, 0, run.stdout + run.stderr);
  const last = JSON.parse(run.stdout.trimEnd().split('\n').at(-1) ?? '') as { kills: number; bundles: number; violations: number };
  assert.deepEqual([last.kills, last.bundles, last.violations], [4, 16, 0], run.stdout);
});
