import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundle } from '../../../test/fixtures/worlds.ts';
import type { Environment } from '../../api/kinds/pipeline.ts';
import { resolveEnvironment } from '../../api/resolve.ts';
import { BUILTIN_STEPS, RUNNABLE_STEPS, runnable, sequenceOf, unsupportedBy } from './sequence.ts';

const resolved = (environment: Environment = {}, layout = 'directory') =>
  resolveEnvironment({ url: 'https://git.example/d.git', provider: 'git', layout }, { name: 'test', ...environment }, 'default');

const refusal = (environment: Environment, type = 'image', layout = 'directory'): string | undefined =>
  unsupportedBy(resolved(environment, layout), bundle('b', {}, { type }))?.message;

test('the sequence is inferred from strategy, approval, rendering and the type of the Bundle', () => {
  const cases: readonly [Environment, string, readonly string[]][] = [
    [{}, 'image', ['git-clone', 'overlay-set-image', 'git-commit', 'git-push', 'health-check']],
    [{ update: { strategy: 'chart' } }, 'image', ['git-clone', 'chart-set-image', 'git-commit', 'git-push', 'health-check']],
    [{ update: { strategy: 'helm' } }, 'image', ['git-clone', 'chart-set-image', 'git-commit', 'git-push', 'health-check']],
    [
      { approval: 'pr-review' },
      'image',
      ['git-clone', 'overlay-set-image', 'git-commit', 'git-push', 'open-pr', 'wait-for-merge', 'health-check'],
    ],
    [
      { renderManifests: true, update: { strategy: 'chart' } },
      'image',
      ['git-clone', 'overlay-set-image', 'overlay-build', 'git-commit', 'git-push', 'health-check'],
    ],
    [{}, 'config', ['git-clone', 'config-merge', 'git-commit', 'git-push', 'health-check']],
    [{}, 'mixed', ['git-clone', 'config-merge', 'overlay-set-image', 'git-commit', 'git-push', 'health-check']],
  ];
  for (const [environment, type, expected] of cases) assert.deepEqual(sequenceOf(resolved(environment), type), expected);
});

test('steps[] replaces the sequence entirely, in the words of the specification; an empty list is none', () => {
  const steps = [{ uses: 'git-clone' }, { uses: 'kustomize-set-image' }, { uses: 'scan' }];
  assert.deepEqual(sequenceOf(resolved({ steps }), 'image'), ['git-clone', 'overlay-set-image', 'scan']);
  assert.equal(sequenceOf(resolved({ steps: [] }), 'image').length, 5);
});

test('what is runnable is built in, and a name that only looks like one is not', () => {
  for (const step of RUNNABLE_STEPS) assert.ok(BUILTIN_STEPS.includes(step));
  for (const name of ['', 'Git-Clone', 'git-clone ', 'toString', '__proto__', 'open-pr']) assert.equal(runnable(name), undefined);
});

test('what can be promoted is not refused', () => {
  const push = ['git-clone', 'overlay-set-image', 'git-commit', 'git-push'];
  const accepted: readonly Environment[] = [
    {},
    { update: { strategy: 'chart' } },
    { bake: { minutes: 5, policy: 'fail-on-alarm' }, onHealthFailure: 'abort' },
    { onHealthFailure: 'rollback' },
    { steps: [{ uses: 'health-check' }] },
    { steps: push.map((uses) => ({ uses })) },
    { update: { strategy: 'custom' }, steps: push.map((uses) => ({ uses })) },
    { steps: ['health-check', ...push, 'health-check', 'health-check'].map((uses) => ({ uses })) },
  ];
  for (const environment of accepted) assert.equal(refusal(environment), undefined, JSON.stringify(environment));
});

test('each setting that this version does not know is refused by its name and the environment', () => {
  const cases: readonly [Environment, RegExp][] = [
    [{ pr: true }, /^environment test: pr: true is not available/],
    [{ delivery: { delegate: 'flagger' } }, /delivery\.delegate canaryAnalysis/],
    [{ bake: { minutes: 5, policy: 'fail-on-alarm' }, onHealthFailure: 'rollback' }, /onHealthFailure rollback/],
    [{ health: { resource: { kind: 'StatefulSet' } } }, /health\.resource\.kind StatefulSet/],
    [{ steps: [{ uses: 'scan', webhook: { url: 'https://scan.example' } }] }, /the custom step scan is not available/],
    [{ steps: [{ uses: 'scan', config: { url: 'https://scan.example' } }] }, /the custom step scan is not available/],
    [{ steps: [{ uses: 'scan', config: { timeout: '5s' } }] }, /step scan: missing input webhook\.url/],
    [{ steps: [{ uses: 'open-pr' }] }, /step open-pr is not available/],
  ];
  for (const [environment, message] of cases) assert.match(refusal(environment) ?? '', message);
  assert.match(refusal({}, 'image', 'branch') ?? '', /spec\.git\.layout branch/);
  assert.match(refusal({}, 'config') ?? '', /a Bundle of type config/);
});

test('a change that is made after the last push, or pushed before it is made, is refused', () => {
  const orders: readonly (readonly string[])[] = [
    ['git-push'],
    ['git-clone', 'git-commit', 'git-push'],
    ['git-clone', 'overlay-set-image', 'git-push'],
    ['git-clone', 'overlay-set-image', 'git-push', 'git-commit'],
    ['git-clone', 'git-commit', 'overlay-set-image', 'git-push'],
    ['git-clone', 'overlay-set-image', 'git-commit', 'git-push', 'overlay-set-image'],
    ['git-clone', 'overlay-set-image', 'git-commit', 'git-push', 'overlay-set-image', 'git-commit'],
    ['overlay-set-image', 'git-clone', 'git-commit', 'git-push'],
  ];
  for (const order of orders)
    assert.match(refusal({ steps: order.map((uses) => ({ uses })) }) ?? 'accepted', /steps\[\]: /, order.join(' '));
});

test('a Pipeline without a Bundle is judged as for images', () => {
  assert.equal(unsupportedBy(resolved(), undefined), undefined);
  assert.equal(unsupportedBy(resolved({ pr: true }), undefined)?.code, 'Unsupported');
});
