import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundle, deployment, gate, pipeline, step } from '../../test/fixtures/worlds.ts';
import type { PromotionStep } from '../api/kinds/promotion-step.ts';
import { type Change, createInterest } from './interest.ts';
import { keyText } from './keys.ts';

const changed = (object: Change['object'], type: Change['type'] = 'MODIFIED'): Change => ({ type, object });

const checking = (environment: string, health = {}): PromotionStep =>
  step(environment, { state: 'HealthChecking', started: { git: {}, environment: { name: environment, health } } });

test('a Deployment wakes only the steps that look at it, and only while they check health', () => {
  const interest = createInterest();
  interest.affected(changed(checking('test')));
  interest.affected(changed(checking('prod')));
  const own = deployment('a/b:1');
  assert.deepEqual(interest.affected(changed(own)).map(keyText), ['PromotionStep/default/b-test']);
  const other = { ...own, metadata: { ...own.metadata, name: 'api' } };
  assert.deepEqual(interest.affected(changed(other)), []);
  interest.affected(changed(step('test', { state: 'Verified' })));
  assert.deepEqual(interest.affected(changed(own)), []);
});

test('a labelSelector looks at every Deployment of the namespace', () => {
  const interest = createInterest();
  interest.affected(changed(checking('test', { labelSelector: { app: 'web' } })));
  const other = deployment('a/b:1');
  other.metadata.name = 'anything';
  assert.deepEqual(interest.affected(changed(other)).map(keyText), ['PromotionStep/default/b-test']);
});

test('a record inside a step wakes only the step; a new state wakes its Graph and its Bundle', () => {
  const interest = createInterest();
  assert.equal(interest.affected(changed(step('test', { state: 'Promoting' }))).length, 3);
  assert.deepEqual(interest.affected(changed(step('test', { state: 'Promoting', message: 'x' }))).map(keyText), [
    'PromotionStep/default/b-test',
  ]);
  assert.equal(interest.affected(changed(step('test', { state: 'HealthChecking' }))).length, 3);
});

test('a Bundle that takes its place wakes everything of its Pipeline that is still promoted', () => {
  const interest = createInterest();
  interest.affected(changed(bundle('old', { phase: 'Promoting', sequence: 1 })));
  interest.affected(changed(bundle('done', { phase: 'Verified', sequence: 0 })));
  const keys = interest.affected(changed(bundle('new', { phase: 'Available', sequence: 2 }))).map(keyText);
  assert.ok(keys.includes('Bundle/default/old') && !keys.includes('Bundle/default/done'));
});

test('a Pipeline or a gate wakes what is still promoted', () => {
  const interest = createInterest();
  interest.affected(changed(bundle('b', { phase: 'Available' })));
  assert.deepEqual(interest.affected(changed(pipeline())).map(keyText), ['Pipeline/default/web', 'Bundle/default/b']);
  assert.deepEqual(interest.affected(changed(gate('default', 'g', ['test']))).map(keyText), ['Bundle/default/b']);
  interest.affected(changed(bundle('b', { phase: 'Available' }), 'DELETED'));
  assert.deepEqual(interest.live(), []);
});
