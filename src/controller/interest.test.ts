import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundle, deployment, gate, pipeline, step } from '../../test/fixtures/worlds.ts';
import type { PromotionStep, PromotionStepStatus } from '../api/kinds/promotion-step.ts';
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
  assert.deepEqual(interest.affected(changed(own)).now.map(keyText), ['PromotionStep/default/b-test']);
  const other = { ...own, metadata: { ...own.metadata, name: 'api' } };
  assert.deepEqual(interest.affected(changed(other)).now, []);
  interest.affected(changed(step('test', { state: 'Verified' })));
  assert.deepEqual(interest.affected(changed(own)).now, []);
});

test('a labelSelector looks at every Deployment of the namespace', () => {
  const interest = createInterest();
  interest.affected(changed(checking('test', { labelSelector: { app: 'web' } })));
  const other = deployment('a/b:1');
  other.metadata.name = 'anything';
  assert.deepEqual(interest.affected(changed(other)).now.map(keyText), ['PromotionStep/default/b-test']);
});

test('a record inside a step wakes only the step; a new state wakes its Graph and its Bundle', () => {
  const interest = createInterest();
  const all = ['Bundle/default/b', 'Graph/default/b', 'PromotionStep/default/b-test'];
  const woken = (status: PromotionStepStatus) => [...new Set(interest.affected(changed(step('test', status))).now.map(keyText))].sort();
  assert.deepEqual(woken({ state: 'Promoting' }), all);
  assert.deepEqual(interest.affected(changed(step('test', { state: 'Promoting', message: 'x' }))).now.map(keyText), [
    'PromotionStep/default/b-test',
  ]);
  assert.deepEqual(woken({ state: 'HealthChecking' }), all);
});

test('a Bundle that takes its place wakes everything of its Pipeline that is still promoted', () => {
  const interest = createInterest();
  interest.affected(changed(bundle('old', { phase: 'Promoting', sequence: 1 })));
  interest.affected(changed(bundle('done', { phase: 'Verified', sequence: 0 })));
  const keys = interest.affected(changed(bundle('new', { phase: 'Available', sequence: 2 }))).now.map(keyText);
  assert.ok(keys.includes('Bundle/default/old') && !keys.includes('Bundle/default/done'));
});

test('a Pipeline or a gate wakes what is still promoted', () => {
  const interest = createInterest();
  interest.affected(changed(bundle('b', { phase: 'Available' })));
  assert.deepEqual(interest.affected(changed(pipeline())).now.map(keyText), [
    'Pipeline/default/web',
    'Bundle/default/b',
    'Graph/default/b',
  ]);
  assert.deepEqual(interest.affected(changed(gate('default', 'g', ['test']))).now.map(keyText), ['Bundle/default/b', 'Graph/default/b']);
  interest.affected(changed(bundle('b', { phase: 'Available' }), 'DELETED'));
  assert.deepEqual(interest.live(), []);
});

test('what has ended is looked at once, when nothing else waits, and a list that says nothing new wakes nobody', () => {
  const interest = createInterest();
  const ended = changed(bundle('b', { phase: 'Verified', sequence: 1 }), 'ADDED');
  const first = interest.affected(ended);
  assert.deepEqual([first.now, first.later.map(keyText)], [[], ['Bundle/default/b', 'Pipeline/default/web']]);
  assert.deepEqual(interest.affected(ended), { now: [], later: [] });
});

test('what a list no longer holds is forgotten', () => {
  const interest = createInterest();
  interest.affected(changed(bundle('b', { phase: 'Promoting', sequence: 1 })));
  interest.affected(changed(checking('test')));
  interest.retain('Bundle', new Set(['default/other']));
  assert.deepEqual(interest.live().map(keyText), ['PromotionStep/default/b-test']);
});
