import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOW } from '../../../test/fixtures/worlds.ts';
import type { PromotionStepStatus, StepRecord } from '../../api/kinds/promotion-step.ts';
import { abort, currentIndex, enter, fail, freshRecord, postpone, restart, succeed } from './progress.ts';

const SEQUENCE = ['git-clone', 'git-push', 'health-check'];
const at = (milliseconds: number): string => new Date(NOW + milliseconds).toISOString();
const nothing = { message: 'ok', outputs: {} };

const running = (names: readonly string[] = SEQUENCE): PromotionStepStatus => {
  const transitions = [{ at: at(0), from: 'Pending', to: 'Promoting', reason: 'Promoting', message: '', attempt: 1 }];
  return enter({ state: 'Promoting', attempt: 1, transitions, steps: names.map(freshRecord) }, 0, NOW);
};

const record = (status: PromotionStepStatus, index: number): Partial<StepRecord> => status.steps?.[index] ?? {};

test('the current record is the first that has not succeeded', () => {
  assert.equal(currentIndex(undefined), -1);
  assert.equal(currentIndex({ steps: [] }), -1);
  assert.equal(currentIndex(running()), 0);
  assert.equal(currentIndex(succeed(running(), 0, nothing, NOW)), 1);
  assert.equal(currentIndex(postpone(running(), 0, { reason: { code: 'A', message: 'a' } }, NOW)), 0);
});

test('a success keeps what was gained, and the next record begins', () => {
  const gained = { message: 'fetched', outputs: { 'git.base': 'abc' } };
  const status = succeed({ ...running(), outputs: { kept: 'yes' } }, 0, gained, NOW + 1000);
  assert.deepEqual(status.outputs, { kept: 'yes', 'git.base': 'abc' });
  assert.deepEqual(record(status, 0), {
    name: 'git-clone',
    state: 'Succeeded',
    attempts: 1,
    startedAt: at(0),
    finishedAt: at(1000),
    message: 'fetched',
    outputs: { 'git.base': 'abc' },
  });
  assert.deepEqual([record(status, 1).state, record(status, 1).startedAt], ['Running', at(1000)]);
  assert.equal(status.message, 'git-push is next');
});

test('health checks in a row each begin anew in the state HealthChecking', () => {
  let status = succeed(running(['git-clone', 'health-check', 'health-check']), 0, nothing, NOW + 1000);
  assert.deepEqual(status.health, { since: at(1000) });
  status = succeed({ ...status, health: { since: at(1000), everHealthy: true } }, 1, nothing, NOW + 2000);
  assert.equal(status.state, 'HealthChecking');
  assert.deepEqual(status.health, { since: at(2000) });
  assert.deepEqual(
    status.transitions?.map((transition) => transition.to),
    ['Promoting', 'HealthChecking'],
  );
  assert.equal(succeed(status, 2, nothing, NOW + 3000).state, 'Verified');
});

test('what follows a health check is promoted again, and the attempt did not begin there', () => {
  let status = succeed(running(['health-check', 'git-clone']), 0, nothing, NOW + 5000);
  assert.equal(status.state, 'Promoting');
  status = succeed(status, 1, nothing, NOW + 6000);
  assert.equal(status.state, 'Verified');
  assert.deepEqual(status.evidence?.timing, { started: at(0), 'health-check': at(5000), 'git-clone': at(6000), verified: at(6000) });
});

test('pauses between tries double from a second to thirty, and the remote may ask for others within those bounds', () => {
  let status = running();
  const pauses: number[] = [];
  for (let attempt = 1; attempt <= 7; attempt += 1) {
    status = postpone(status, 0, { reason: { code: 'GitTimeout', message: 'no' } }, NOW);
    pauses.push(Date.parse(record(status, 0).nextTryAt ?? '') - NOW);
  }
  assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  for (const [asked, given] of [
    [0, 1000],
    [-5, 1000],
    [5000, 5000],
    [86_400_000, 30_000],
  ] as const) {
    const told = postpone(running(), 0, { reason: { code: 'RateLimited', message: 'no' }, retryAfterMs: asked }, NOW);
    assert.equal(Date.parse(record(told, 0).nextTryAt ?? '') - NOW, given);
  }
  assert.equal(status.state, 'Promoting');
  const { nextTryAt, reason, state } = record(succeed(status, 0, nothing, NOW), 0);
  assert.deepEqual([nextTryAt, reason, state], [undefined, undefined, 'Succeeded'], 'a success forgets the failure');
});

test('a restart begins with the first record, after the pause of the one that failed, and forgets no attempt', () => {
  let status = succeed(running(), 0, nothing, NOW);
  for (let round = 0; round < 3; round += 1) status = postpone(status, 1, { reason: { code: 'GitBaseMissing', message: 'no' } }, NOW);
  status = restart(status, 1, NOW);
  assert.deepEqual(
    status.steps?.map(({ state, attempts }) => [state, attempts]),
    [
      ['Running', 1],
      ['Pending', 3],
      ['Pending', 0],
    ],
  );
  assert.equal(record(status, 0).nextTryAt, at(4000));
});

test('an end marks the record and the state, with a text that can be stored', () => {
  const reason = { code: 'GitPushRefused', message: 'x'.repeat(9000) };
  const failed = fail(succeed(running(), 0, nothing, NOW), 1, reason, NOW + 1000);
  assert.deepEqual([failed.state, record(failed, 1).state, record(failed, 1).finishedAt], ['Failed', 'Failed', at(1000)]);
  for (const text of [failed.message, record(failed, 1).message, failed.transitions?.at(-1)?.message])
    assert.ok((text ?? '').length <= 1000);
  const checking = succeed(succeed(running(), 0, nothing, NOW), 1, nothing, NOW);
  const aborted = abort(checking, 2, { code: 'HealthAlarm', message: 'ill' }, NOW);
  assert.deepEqual([aborted.state, record(aborted, 2).state], ['AbortedByAlarm', 'Failed']);
  const postponed = postpone(running(), 0, { reason }, NOW);
  assert.ok((postponed.message ?? '').length <= 1000 && (record(postponed, 0).message ?? '').length <= 1000);
});

test('an index without a record changes nothing but the state', () => {
  const status = running();
  assert.equal(succeed(status, 9, nothing, NOW), status);
  assert.equal(postpone(status, 9, { reason: { code: 'A', message: 'a' } }, NOW), status);
  assert.deepEqual(fail(status, -1, { code: 'A', message: 'a' }, NOW).steps, status.steps);
});
