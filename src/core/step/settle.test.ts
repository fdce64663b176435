import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOW, SHA, step, stepWorld, writtenStatus } from '../../../test/fixtures/worlds.ts';
import type { PromotionStep, PromotionStepStatus } from '../../api/kinds/promotion-step.ts';
import { done, transient } from '../../api/outcome.ts';
import type { ActivityEffect } from '../effect.ts';
import { decideStep } from './decide.ts';
import { landedCommit } from './landed-commit.ts';
import { type ActivityResult, settle } from './settle.ts';

const COMMIT = 'c'.repeat(40);
const OTHER = 'd'.repeat(40);

const effectOf = (own: PromotionStep): ActivityEffect => {
  const { activity } = decideStep(stepWorld(own), NOW);
  assert.ok(activity);
  return activity;
};

const after = (own: PromotionStep, ...results: readonly ActivityResult[]): PromotionStep => {
  let at = own;
  for (const result of results) {
    const status = settle(at, effectOf(at), done(result), NOW);
    assert.ok(status, 'the result was awaited');
    at = { ...at, status };
  }
  return at;
};

const started = (): PromotionStep => {
  const own = step('test');
  return { ...own, status: writtenStatus<PromotionStepStatus>(decideStep(stepWorld(own), NOW), 'PromotionStep') ?? {} };
};

const beforePush = (): PromotionStep =>
  after(
    started(),
    { result: 'fetched', tip: SHA },
    { result: 'previewed', files: ['a', 'b'] },
    { result: 'committed', commit: OTHER, changed: true },
  );

const messageAt = (own: PromotionStep, index: number): string => own.status?.steps?.[index]?.message ?? '';

test('each result leaves its sentence and what later steps need', () => {
  const own = after(beforePush(), { result: 'landed', commit: COMMIT, found: false, races: 2 });
  assert.equal(messageAt(own, 0), `main is at ${SHA.slice(0, 12)}`);
  assert.equal(messageAt(own, 1), 'changes a, b');
  assert.equal(messageAt(own, 2), `commit ${OTHER.slice(0, 12)} is made`);
  assert.equal(messageAt(own, 3), `commit ${COMMIT.slice(0, 12)} is on main after 2 lost races`);
  assert.deepEqual(own.status?.outputs, {
    'git.base': SHA,
    'edit.files': 'a,b',
    'git.commit': COMMIT,
    'git.changed': 'true',
    'git.branch': 'main',
  });
});

test('a commit counts as landed only when the push has said so', () => {
  assert.equal(landedCommit(undefined), undefined);
  assert.equal(landedCommit(beforePush().status), undefined);
  assert.equal(landedCommit(after(beforePush(), { result: 'landed', commit: COMMIT, found: true, races: 0 }).status), COMMIT);
  const same = after(beforePush(), { result: 'unchanged', tip: SHA });
  assert.deepEqual([landedCommit(same.status), same.status?.outputs?.['git.changed']], [SHA, 'false']);
  assert.match(messageAt(same, 3), /no commit is needed/);
  const found = after(beforePush(), { result: 'landed', commit: COMMIT, found: true, races: 0 });
  assert.match(messageAt(found, 3), /was on main already/);
});

test('what somebody wrote over is not written again: the step fails and names both commits', () => {
  const own = after(beforePush(), { result: 'overwritten', commit: COMMIT, tip: OTHER });
  assert.deepEqual([own.status?.state, own.status?.reason], ['Failed', 'Overwritten']);
  assert.match(own.status?.message ?? '', new RegExp(`${COMMIT.slice(0, 12)}.*${OTHER.slice(0, 12)}`));
});

test('where the run began is remembered from the first fetch only', () => {
  const first = after(started(), { result: 'fetched', tip: SHA });
  const again = settle(first, effectOf(first), transient('GitBaseMissing', 'gone'), NOW);
  assert.ok(again);
  const due = { ...again, steps: (again.steps ?? []).map(({ nextTryAt: _, ...record }) => record) };
  const refetched = after({ ...first, status: due }, { result: 'fetched', tip: OTHER });
  assert.equal(refetched.status?.started?.historyBase, SHA);
  assert.equal(refetched.status?.outputs?.['git.base'], OTHER);
});

test('a step without a status, or one that waits for something else, takes nothing', () => {
  const effect = effectOf(started());
  const { status: _, ...bare } = started();
  assert.equal(settle(bare, effect, done({ result: 'fetched', tip: SHA }), NOW), undefined);
  assert.equal(settle(beforePush(), effect, done({ result: 'fetched', tip: SHA }), NOW), undefined);
  assert.equal(settle(beforePush(), effect, transient('GitTimeout', 'no'), NOW), undefined);
});
