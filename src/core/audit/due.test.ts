import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bundle, NOW, step } from '../../../test/fixtures/worlds.ts';
import type { AuditEvent } from '../../api/kinds/audit-event.ts';
import { STEP_STATES } from '../../api/kinds/promotion-step.ts';
import type { Transition } from '../../api/meta.ts';
import type { ResourceEffect } from '../effect.ts';
import { type AuditState, auditNames, bundleAudits, startedName, stepAudits } from './due.ts';

const DAY = 86_400_000;
const own = bundle('b', { phase: 'Promoting', sequence: 1 });

const move = (from: string, to: string, attempt = 1, at = NOW): Transition => ({
  at: new Date(at).toISOString(),
  from,
  to,
  reason: to,
  message: `${from} to ${to}`,
  attempt,
});

const state = (changes: Partial<AuditState> = {}): AuditState => ({ existing: new Set(), retentionMs: 90 * DAY, now: NOW, ...changes });

const eventsOf = (effects: readonly ResourceEffect[]): readonly AuditEvent[] =>
  effects.flatMap((effect) => (effect.kind === 'CreateResource' && effect.object.kind === 'AuditEvent' ? [effect.object] : []));

const actions = (transitions: readonly Transition[], changes: Partial<AuditState> = {}): readonly (string | undefined)[] =>
  eventsOf(stepAudits(own, 'test', transitions, state(changes))).map((event) => event.spec?.action);

test('a journal leads to one event for each start and each end, none for what lies between', () => {
  const through = [
    move('Pending', 'Promoting'),
    move('Promoting', 'HealthChecking'),
    move('HealthChecking', 'Promoting'),
    move('Promoting', 'WaitingForMerge'),
    move('WaitingForMerge', 'Promoting'),
    move('Promoting', 'HealthChecking'),
    move('HealthChecking', 'Verified'),
  ];
  assert.deepEqual(actions(through), ['PromotionStarted', 'PromotionSucceeded']);
  for (const end of ['Failed', 'AbortedByAlarm', 'RollingBack']) {
    assert.deepEqual(actions([move('Pending', 'Promoting'), move('HealthChecking', end)]), ['PromotionStarted', 'PromotionFailed']);
  }
  assert.deepEqual(actions([move('Pending', 'Failed')]), ['PromotionFailed']);
  assert.deepEqual(stepAudits(own, 'test', undefined, state()), []);
});

test('each attempt has events of its own', () => {
  const journal = [
    move('Pending', 'Promoting'),
    move('Promoting', 'Failed'),
    move('Failed', 'Promoting', 2),
    move('Promoting', 'Failed', 2),
  ];
  assert.deepEqual(actions(journal), ['PromotionStarted', 'PromotionFailed', 'PromotionStarted', 'PromotionFailed']);
  const names = eventsOf(stepAudits(own, 'test', journal, state())).map((event) => event.metadata.name);
  assert.equal(new Set(names).size, 4);
  assert.deepEqual([names[0], names[2]], [startedName(own, 'test', 1), startedName(own, 'test', 2)]);
});

test('what exists is not made again, and what is older than the retention is not made any more', () => {
  const journal = [move('Pending', 'Promoting'), move('HealthChecking', 'Verified')];
  assert.deepEqual(actions(journal, { existing: new Set([startedName(own, 'test', 1)]) }), ['PromotionSucceeded']);
  assert.deepEqual(actions([move('Pending', 'Promoting', 1, NOW - 90 * DAY)]), []);
  assert.deepEqual(actions([move('Pending', 'Promoting', 1, NOW - 90 * DAY + 1)]), ['PromotionStarted']);
  assert.deepEqual(actions([move('Pending', 'Promoting', 1, NOW + DAY)]), ['PromotionStarted'], 'a clock that was ahead');
  assert.deepEqual(actions([{ ...move('Pending', 'Promoting'), at: 'yesterday' }]), []);
});

test('an event says all that is known, and belongs to nobody, so that it outlives its Bundle', () => {
  const two = bundle(
    'b',
    {},
    {
      images: [
        { repository: 'a/web', tag: '1' },
        { repository: 'a/api', tag: '2' },
      ],
    },
  );
  const [event] = eventsOf(stepAudits(two, 'test', [move('Pending', 'Promoting')], state()));
  assert.deepEqual(event?.spec, {
    timestamp: new Date(NOW).toISOString(),
    action: 'PromotionStarted',
    pipeline: 'web',
    bundle: 'b',
    environment: 'test',
    image: 'a/web:1, a/api:2',
    message: 'Pending to Promoting',
    actor: 'promoter',
  });
  assert.equal(event?.metadata.ownerReferences, undefined);
  assert.deepEqual(event?.metadata.labels, {
    'promoter.io/pipeline': 'web',
    'promoter.io/bundle': 'b',
    'promoter.io/action': 'PromotionStarted',
  });
});

test('many long images fit what an event takes', () => {
  const images = Array.from({ length: 64 }, (_, index) => ({ repository: `${'r'.repeat(200)}/${index}`, tag: '1' }));
  const [event] = eventsOf(stepAudits(bundle('b', {}, { images }), 'test', [move('Pending', 'Promoting')], state()));
  assert.ok((event?.spec?.image ?? '').length <= 1024);
});

test('a Bundle owes the event of its own supersession, wherever it was, and those of the environments that it keeps', () => {
  const kept = {
    name: 'test',
    state: 'Verified',
    message: '',
    transitions: [move('Pending', 'Promoting'), move('HealthChecking', 'Verified')],
  };
  for (const from of ['Promoting', 'Available']) {
    const superseded = bundle('b', { phase: 'Superseded', transitions: [move(from, 'Superseded')], environments: [kept] });
    assert.deepEqual(
      eventsOf(bundleAudits(superseded, state())).map(({ spec }) => [spec?.action, spec?.environment]),
      [
        ['PromotionSuperseded', ''],
        ['PromotionStarted', 'test'],
        ['PromotionSucceeded', 'test'],
      ],
    );
  }
  const verified = bundle('b', { phase: 'Verified', transitions: [move('Available', 'Promoting'), move('Promoting', 'Verified')] });
  assert.deepEqual(bundleAudits(verified, state()), []);
});

test('two Bundles of one name share no event', () => {
  const second = { ...own, metadata: { ...own.metadata, uid: 'second' } };
  assert.notEqual(startedName(own, 'test', 1), startedName(second, 'test', 1));
});

test('the names that are looked for are exactly those that would be made', () => {
  const moves = fc.array(
    fc.tuple(fc.constantFrom(...STEP_STATES), fc.constantFrom(...STEP_STATES, 'Superseded'), fc.integer({ min: 1, max: 3 })),
    { maxLength: 12 },
  );
  const journal = (all: readonly (readonly [string, string, number])[]) => all.map(([from, to, attempt]) => move(from, to, attempt));
  fc.assert(
    fc.property(moves, moves, moves, (live, kept, phases) => {
      const carried = bundle('b', {
        transitions: journal(phases),
        environments: [{ name: 'prod', state: 'Failed', message: '', transitions: journal(kept) }],
      });
      const steps = [step('test', { transitions: journal(live) })];
      const made = [...stepAudits(carried, 'test', steps[0]?.status?.transitions, state()), ...bundleAudits(carried, state())];
      const names = auditNames(carried, steps);
      assert.deepEqual([...new Set(eventsOf(made).map((event) => event.metadata.name))].sort(), [...names].sort());
      const again = state({ existing: new Set(names) });
      assert.deepEqual([...stepAudits(carried, 'test', steps[0]?.status?.transitions, again), ...bundleAudits(carried, again)], []);
    }),
    { numRuns: 100 },
  );
});
