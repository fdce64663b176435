import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EnvironmentExplanation, Explanation } from '../core/explain/index.ts';
import { explanationText } from './explanation-text.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');
const terminal = { out: () => {}, err: () => {}, colour: false, interactive: false, readInput: async () => '' };
const write = (explanation: Explanation, detailed = false): string => explanationText(explanation, { detailed, now: NOW, terminal });

const environment = (fields: Partial<EnvironmentExplanation>): EnvironmentExplanation => ({
  name: 'test',
  state: 'Promoting',
  reason: { code: 'X', message: 'because' },
  steps: [],
  ...fields,
});

const explanation = (environments: readonly EnvironmentExplanation[]): Explanation => ({
  pipeline: 'web',
  namespace: 'default',
  bundle: { name: 'web-1', version: '1', phase: 'Promoting', reason: { code: 'Promoting', message: 'promotion is under way' } },
  environments,
  result: '1 waits at test',
});

test('an environment under way shows its reason, its steps and when the next try is', () => {
  const steps = [
    { name: 'git-clone', state: 'Succeeded', attempts: 1, message: 'main is at abc' },
    { name: 'git-push', state: 'Failed', attempts: 3, message: 'refused', nextTryAt: '2026-01-01T00:01:20Z' },
  ];
  const text = write(
    explanation([environment({ since: '2026-01-01T00:00:30Z', reason: { code: 'GitUnauthorized', message: 'refused' }, steps })]),
  );
  assert.equal(
    text,
    [
      'Pipeline  web (namespace default)',
      'Bundle    web-1, version 1: Promoting',
      '',
      '  test   Promoting        for 30s',
      '      GitUnauthorized: refused',
      '      git-clone          Succeeded   main is at abc',
      '      git-push           Failed (attempt 3); next try in 20s',
      '',
      'RESULT: 1 waits at test',
      '',
    ].join('\n'),
  );
});

test('a verified environment is one line with its commit, and has its steps only when asked about', () => {
  const verified = environment({
    state: 'Verified',
    commit: 'a'.repeat(40),
    steps: [{ name: 'git-push', state: 'Succeeded', attempts: 1 }],
  });
  assert.match(write(explanation([verified])), /\n {2}test {3}Verified {9}commit aaaaaaaaaaaa\n\nRESULT/);
  assert.match(write(explanation([verified]), true), /git-push +Succeeded/);
});

test('what others wrote cannot break the lines', () => {
  const text = write(explanation([environment({ reason: { code: 'X', message: 'evil\nRESULT: all is well\u001b[2J' } })]));
  assert.equal(text.match(/^RESULT: /gm)?.length, 1);
  assert.equal(text.includes('\u001b'), false);
});

test('a pipeline without a Bundle says so', () => {
  assert.match(
    write({ pipeline: 'web', namespace: 'default', environments: [], result: 'nothing yet' }),
    /Bundle +none yet\n\nRESULT: nothing yet\n$/,
  );
});

test('why a Bundle is held stands under it, unless the result says it already', () => {
  const reason = { code: 'CycleDetected', message: 'a waits for b, and b for a' };
  const held = { ...explanation([]), bundle: { name: 'web-1', version: '1', phase: 'Available' as const, reason } };
  assert.match(write(held), /\nBundle {4}web-1, version 1: Available\n {10}CycleDetected: a waits for b, and b for a\n\nRESULT/);
  assert.equal(write({ ...held, result: `1 is Available: ${reason.message}` }).match(/a waits for b/g)?.length, 1);
  assert.doesNotMatch(
    write({ ...held, bundle: { ...held.bundle, reason: { code: 'Promoting', message: 'promotion is under way' } } }),
    /under way/,
  );
});
