import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bundle, deployment, gate, graphWorld, NOW, noGates, pipeline, SHA, step, stepWorld } from '../../../test/fixtures/worlds.ts';
import type { Deployment } from '../../api/kinds/native.ts';
import type { Environment, Health } from '../../api/kinds/pipeline.ts';
import type { PromotionStep, StepState } from '../../api/kinds/promotion-step.ts';
import { done, type Outcome, terminal, transient } from '../../api/outcome.ts';
import type { ActivityEffect, Decision } from '../effect.ts';
import { decideStep } from './decide.ts';
import { RUNNABLE_STEPS } from './sequence.ts';
import { type ActivityResult, settle } from './settle.ts';
import { isEnded, STEP_ARROWS, stateOf } from './states.ts';
import type { StepWorld } from './world.ts';

/** Sequences of a person: sensible ones, and any others. */
const sequences = fc.oneof(
  fc.constant(undefined),
  fc.array(fc.constantFrom(...RUNNABLE_STEPS), { minLength: 1, maxLength: 7 }),
  fc
    .array(fc.constantFrom('health-check', 'git-clone'), { maxLength: 3 })
    .map((more) => [...more, 'git-clone', 'overlay-set-image', 'git-commit', 'git-push', 'health-check', ...more]),
);

const healths = fc.record(
  { timeout: fc.constantFrom('1s', '1m', '10m'), settle: fc.constantFrom('0s', '10s') },
  { requiredKeys: [] },
) satisfies fc.Arbitrary<Health>;

const environments: fc.Arbitrary<Environment> = fc
  .record({
    uses: sequences,
    health: healths,
    bake: fc.option(fc.record({ minutes: fc.constantFrom(1, 5), policy: fc.constantFrom('reset-on-alarm', 'fail-on-alarm') })),
    onHealthFailure: fc.constantFrom('none', 'abort'),
  })
  .map(({ uses, health, bake, onHealthFailure }) => ({
    name: 'test',
    health,
    onHealthFailure,
    ...(uses ? { steps: uses.map((name) => ({ uses: name })) } : {}),
    ...(bake ? { bake } : {}),
  }));

const HOLDS = [
  'none',
  'none',
  'none',
  'gate',
  'newer',
  'unplaced',
  'unlabelled',
  'no Pipeline',
  'no Bundle',
  'upstream',
  'ended',
  'edited',
] as const;
type Hold = (typeof HOLDS)[number];

/** What happens next outside. */
const happenings = fc.record({
  hold: fc.constantFrom(...HOLDS),
  ends: fc.constantFrom('well', 'well', 'well', 'transient', 'base gone', 'terminal', 'withdrawn', 'overwritten'),
  seen: fc.constantFrom('healthy', 'healthy', 'unproven', 'ill', 'rollout', 'old', 'nothing', 'unreadable'),
  /** Milliseconds that pass besides what was asked for. */
  late: fc.constantFrom(0, 0, 3, 4000, 700_000),
  restarted: fc.boolean(),
});
type Happening = typeof happenings extends fc.Arbitrary<infer T> ? T : never;

const workloads = (seen: Happening['seen']): Outcome<readonly Deployment[]> => {
  const wanted = deployment('ghcr.io/acme/web:1.1');
  switch (seen) {
    case 'healthy':
      return done([wanted]);
    case 'unproven':
      return done([deployment('mirror/web:1')]);
    case 'ill':
      return done([deployment('ghcr.io/acme/web:1.1', 'False')]);
    case 'rollout':
      return done([{ ...wanted, metadata: { ...wanted.metadata, generation: 3 } }]);
    case 'old':
      return done([deployment('ghcr.io/acme/web:1.0')]);
    case 'nothing':
      return done([]);
    case 'unreadable':
      return transient('StoreUnavailable', 'no');
  }
};

const held = (world: StepWorld, hold: Hold): StepWorld => {
  const own = world.bundle ?? bundle('b');
  switch (hold) {
    case 'none':
      return world;
    case 'gate':
      return { ...world, gates: { ...noGates, gates: [gate('default', 'freeze', ['test'])] } };
    case 'newer':
      return { ...world, siblings: [own, bundle('n', { phase: 'Promoting', sequence: 2 }, { version: '2' })] };
    case 'unplaced':
      return { ...world, siblings: [own, bundle('n', {}, { version: '2' })] };
    case 'unlabelled':
      return { ...world, bundle: { ...own, metadata: { ...own.metadata, labels: {} } } };
    case 'no Pipeline':
      return { ...world, pipeline: undefined };
    case 'no Bundle':
      return { ...world, bundle: undefined };
    case 'upstream':
      return { ...world, graph: world.graph && { ...world.graph, steps: [step('prod', { state: 'Failed' })] } };
    case 'edited':
      return {
        ...world,
        pipeline: world.pipeline && { ...world.pipeline, spec: { ...world.pipeline.spec, git: { url: 'https://git.example/other.git' } } },
      };
    case 'ended':
      return { ...world, bundle: bundle('b', { phase: 'Superseded', sequence: 1 }) };
  }
};

const worldOf = (own: PromotionStep, environment: Environment, happening: Happening, now: number): StepWorld => {
  const carried = bundle('b', { phase: 'Promoting', sequence: 1 });
  const world = stepWorld(own, {
    pipeline: pipeline([environment, { name: 'prod' }]),
    bundle: carried,
    graph: graphWorld(carried),
    workloads: workloads(happening.seen),
    observingSince: happening.restarted ? now - 1 : NOW - 1000,
  });
  return held(world, happening.hold);
};

/** What the activity gives when it ends well. */
const wellOf = (effect: ActivityEffect): ActivityResult => {
  switch (effect.kind) {
    case 'GitFetch':
      return { result: 'fetched', tip: SHA };
    case 'GitPreview':
      return { result: 'previewed', files: ['a'] };
    case 'GitCommit':
      return { result: 'committed', commit: 'b'.repeat(40), changed: true };
    case 'GitPush':
      return { result: 'landed', commit: 'c'.repeat(40), found: false, races: 0 };
  }
};

const outcomeOf = (effect: ActivityEffect, ends: Happening['ends']): Outcome<ActivityResult> => {
  switch (ends) {
    case 'well':
      return done(wellOf(effect));
    case 'transient':
      return transient('GitTimeout', 'no');
    case 'base gone':
      return transient('GitBaseMissing', 'gone');
    case 'terminal':
      return terminal('GitPushRefused', 'no');
    case 'withdrawn':
      return done({ result: 'withdrawn' });
    case 'overwritten':
      return effect.kind === 'GitPush' ? done({ result: 'overwritten', commit: 'c'.repeat(40), tip: SHA }) : done(wellOf(effect));
  }
};

/** Codes under which a step may rest until something else changes. */
const NAMED = new Set([
  'GateClosed',
  'Superseded',
  'WaitingForOrder',
  'LabelMismatch',
  'NoMatchingPipeline',
  'BundleGone',
  'BundleSuperseded',
  'UpstreamFailed',
]);

const statusAfter = (own: PromotionStep, decision: Decision): PromotionStep => {
  const write = decision.writes.find((effect) => effect.kind === 'UpdateStatus');
  return write?.kind === 'UpdateStatus' && write.object.kind === 'PromotionStep' ? write.object : own;
};

/** The journal leads from Pending to the state, arrow by arrow. */
const assertJournal = ({ status }: PromotionStep): void => {
  let at: StepState = 'Pending';
  for (const { from, to } of status?.transitions ?? []) {
    const next = stateOf({ state: to });
    assert.equal(from, at);
    assert.ok(STEP_ARROWS[at][next] !== undefined, `${from} to ${to}`);
    at = next;
  }
  assert.equal(at, stateOf(status));
};

/** The longest that a step may rest by itself: a health timeout or a pause between tries. */
const LONGEST_MS = 600_000;

/** The step after one happening, and the time then; asserts that it did something, waits for a time, or names what holds it. */
const proceed = (own: PromotionStep, environment: Environment, happening: Happening, now: number): readonly [PromotionStep, number] => {
  const before = JSON.stringify(own);
  const decision = decideStep(worldOf(own, environment, happening, now), now);
  assert.equal(JSON.stringify(own), before, 'a decision changes nothing that it was given');
  const state = stateOf(own.status);
  const next = statusAfter(own, decision);
  if (next !== own || decision.activity) {
    assert.ok(!isEnded(state), 'nothing happens to what has ended');
    if (decision.activity)
      assert.equal(['none', 'upstream', 'edited'].includes(happening.hold), true, `asks Git despite: ${happening.hold}`);
    const settled = decision.activity && settle(next, decision.activity, outcomeOf(decision.activity, happening.ends), now);
    const after = settled ? { ...next, status: settled } : next;
    assertJournal(after);
    return [after, now + happening.late];
  }
  if (decision.lookAgainAt !== undefined) {
    assert.ok(decision.lookAgainAt > now && decision.lookAgainAt <= now + LONGEST_MS, `looks again in ${decision.lookAgainAt - now} ms`);
    return [own, decision.lookAgainAt + happening.late];
  }
  if (!isEnded(state)) {
    assert.ok(NAMED.has(decision.reason.code), `rests in ${state} without a named hold: ${decision.reason.code}`);
    assert.notEqual(decision.reason.message, '');
    assert.notEqual(happening.hold, 'none', `rests in ${state} although nothing holds it: ${decision.reason.code}`);
  }
  return [own, now + happening.late];
};

test('from any status that a step can reach: a write, an activity, a time, or a hold that has a name', () => {
  fc.assert(
    fc.property(environments, fc.array(happenings, { maxLength: 40 }), (environment, all) => {
      let own = step('test');
      let now = NOW;
      for (const happening of all) [own, now] = proceed(own, environment, happening, now);
    }),
    { numRuns: 600 },
  );
});

const SMOOTH: Happening = { hold: 'none', ends: 'well', seen: 'healthy', late: 0, restarted: false };

test('from any status that a step can reach it ends, once nothing holds it and everything goes well', () => {
  fc.assert(
    fc.property(environments, fc.array(happenings, { maxLength: 25 }), (environment, all) => {
      let own = step('test');
      let now = NOW;
      for (const happening of all) [own, now] = proceed(own, environment, happening, now);
      for (let left = 2000; left > 0 && !isEnded(stateOf(own.status)); left -= 1) [own, now] = proceed(own, environment, SMOOTH, now);
      assert.ok(isEnded(stateOf(own.status)), `still ${stateOf(own.status)}: ${own.status?.message}`);
    }),
    { numRuns: 150 },
  );
});
