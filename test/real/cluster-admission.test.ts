/** The embedded admission against the code of a Kubernetes API server: the same verdicts, messages, defaults and pruning. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Admitted, admit } from '../../src/api/admission.ts';
import type { Resource } from '../../src/api/meta.ts';
import { samples } from './admission-samples.ts';

const root = join(import.meta.dirname, '..', '..');

interface Answer {
  readonly ok: boolean;
  readonly object?: Readonly<Record<string, unknown>>;
  readonly messages?: readonly string[];
}

/** The program needs the Go modules of the API server; they come from Go's own cache after the first time. */
const askServer = (lines: readonly string[]): readonly Answer[] => {
  const definitions = globSync('deploy/crds/*.yaml', { cwd: root }).map((path) => join(root, path));
  const done = spawnSync('go', ['run', '.', ...definitions], {
    cwd: join(import.meta.dirname, 'cluster-admission'),
    input: `${lines.join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout
    .trim()
    .split('\n')
    .map((line): Answer => JSON.parse(line));
};

const ours = (result: Admitted<Resource>): readonly string[] =>
  // A cluster does not report fields of metadata.
  result.ok ? [] : result.causes.map((cause) => `${cause.field === 'metadata.name' ? '' : cause.field}: ${cause.message}`).sort();

const withoutMetadata = (object: object | undefined): unknown => {
  const copy: unknown = JSON.parse(JSON.stringify({ ...object, metadata: undefined }));
  return copy;
};

test('a cluster judges thousands of objects as the embedded store does, and takes the definitions', { timeout: 280_000 }, () => {
  const asked = samples(20260301, 1500);
  const answers = askServer(asked.map((sample) => JSON.stringify(sample)));
  assert.equal(answers.length, asked.length);
  let refused = 0;
  for (const [index, sample] of asked.entries()) {
    const answer = answers[index];
    const request = { object: sample.object, operation: sample.old === undefined ? ('create' as const) : ('update' as const) };
    const result = admit(sample.old === undefined ? request : { ...request, old: sample.old });
    const about = JSON.stringify({ sample, answer, result });
    assert.equal(answer?.ok, result.ok, about);
    if (result.ok) {
      assert.deepEqual(withoutMetadata(answer?.object), withoutMetadata(result.object), about);
      continue;
    }
    refused += 1;
    // Types and bounds are worded differently, and so is a pattern that cannot be compiled.
    if (answer?.messages?.some((message) => message.startsWith('schema: ') || message.includes('error parsing regexp'))) continue;
    assert.deepEqual([...(answer?.messages ?? [])].sort(), ours(result), about);
  }
  // Otherwise the draw would say nothing.
  assert.ok(refused > asked.length / 10 && refused < (asked.length * 9) / 10, `${refused} of ${asked.length} refused`);
});
