import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bundle, bundleWorld, gate, graphOf, NOW, noGates, pipeline, stepOf, stepWorld } from '../../../test/fixtures/worlds.ts';
import { BUNDLE_PHASES, type Bundle } from '../../api/kinds/bundle.ts';
import type { Graph } from '../../api/kinds/graph.ts';
import { type PromotionStep, type PromotionStepStatus, STEP_STATES } from '../../api/kinds/promotion-step.ts';
import { decideBundle } from '../bundle/decide.ts';
import type { GateSet } from '../gate/applies.ts';
import { decideGraph } from '../graph/decide.ts';
import { decideStep } from '../step/decide.ts';
import { type ExplainWorld, explain } from './index.ts';

interface Parts {
  readonly own?: Bundle;
  readonly steps?: readonly PromotionStep[];
  readonly siblings?: readonly Bundle[];
  readonly gates?: GateSet;
  readonly graph?: Graph | null;
}

const b = bundle('b', { phase: 'Promoting', sequence: 1, version: '1.1' });

const accepted = (own: Bundle): Graph => {
  const conditions = [{ type: 'Accepted', status: 'True', reason: 'Valid', message: '', lastTransitionTime: new Date(NOW).toISOString() }];
  return { ...graphOf(own), status: { conditions } };
};

const worldOf = ({ own = b, steps = [], siblings = [own], gates = noGates, graph = accepted(own) }: Parts): ExplainWorld => {
  const graphWorld = graph === null ? undefined : { graph, bundle: own, steps, gates };
  return {
    pipeline: pipeline(),
    bundle: bundleWorld(own, { graph: graph ?? undefined, steps, siblings, gates }),
    graph: graphWorld,
    steps: steps.map((step) => stepWorld(step, { bundle: own, siblings, gates, graph: graphWorld })),
  };
};

const started = (environment: string, state: string, changes: PromotionStepStatus = {}): PromotionStep =>
  stepOf(accepted(b), environment, {
    state,
    message: `is ${state}`,
    attempt: 1,
    started: { git: pipeline().spec?.git ?? {}, environment: { name: environment } },
    steps: [{ name: 'git-clone', state: 'Running', attempts: 0 }],
    transitions: [{ at: new Date(NOW - 5000).toISOString(), from: 'Pending', to: state, reason: state, message: '', attempt: 1 }],
    ...changes,
  });

test('a Pipeline without a Bundle says how to make one', () => {
  const said = explain({ pipeline: pipeline(), bundle: undefined, graph: undefined, steps: [] }, NOW);
  assert.deepEqual([said.pipeline, said.namespace, said.environments], ['web', 'default', []]);
  assert.match(said.result, /no Bundle yet.*promoter create bundle web/);
});

test('an environment without a PromotionStep is Pending with what it waits for', () => {
  const said = explain(worldOf({ steps: [started('test', 'Promoting')] }), NOW);
  assert.deepEqual(
    said.environments.map(({ name, state, reason }) => [name, state, reason.code]),
    [
      ['test', 'Promoting', 'Running'],
      ['prod', 'Pending', 'WaitingForUpstream'],
    ],
  );
  assert.match(said.result, /^1\.1 waits at test, Promoting for 5s: git-clone is running/);
});

test('what failed comes first in the result, and a step that waits says until when', () => {
  const failed = explain(worldOf({ steps: [started('test', 'Verified'), started('prod', 'Failed')] }), NOW);
  assert.match(failed.result, /^1\.1 failed in prod: is Failed/);
  const transitions = [
    { at: new Date(NOW).toISOString(), from: 'Promoting', to: 'Failed', reason: 'GitPushRefused', message: 'no', attempt: 1 },
  ];
  const told = explain(worldOf({ steps: [started('test', 'Verified'), started('prod', 'Failed', { transitions })] }), NOW);
  assert.equal(told.environments[1]?.reason.code, 'GitPushRefused');
  const nextTryAt = new Date(NOW + 4000).toISOString();
  const retrying = [{ name: 'git-clone', state: 'Failed', attempts: 3, nextTryAt, reason: 'GitUnauthorized', message: 'no access' }];
  const [test1] = explain(worldOf({ steps: [started('test', 'Promoting', { steps: retrying })] }), NOW).environments;
  assert.deepEqual([test1?.until, test1?.reason], [nextTryAt, { code: 'GitUnauthorized', message: 'no access' }]);
});

test('only a commit that is on the branch is shown', () => {
  const outputs = { 'git.commit': 'c'.repeat(40) };
  const [made] = explain(worldOf({ steps: [started('test', 'Promoting', { outputs })] }), NOW).environments;
  assert.equal(made?.commit, undefined);
  const on = { ...outputs, 'git.branch': 'main' };
  const [landed] = explain(worldOf({ steps: [started('test', 'Promoting', { outputs: on })] }), NOW).environments;
  assert.equal(landed?.commit, 'c'.repeat(40));
});

test('without a Graph the records that the Bundle kept are shown', () => {
  const transitions = [{ at: new Date(NOW).toISOString(), from: 'HealthChecking', to: 'Verified', reason: 'Verified', message: '' }];
  const kept = { name: 'test', state: 'Verified', message: 'done', commit: 'abc', transitions };
  const own = bundle('b', { phase: 'Superseded', sequence: 1, version: '1.1', environments: [kept] });
  const said = explain(worldOf({ own, graph: null }), NOW);
  assert.deepEqual(said.environments, [
    { name: 'test', state: 'Verified', reason: { code: 'Verified', message: 'done' }, since: transitions[0]?.at, commit: 'abc', steps: [] },
  ]);
  assert.match(said.result, /^1\.1 is Superseded: /);
});

test('one environment can be asked for, and what is not on the way says so', () => {
  const world = worldOf({ steps: [started('test', 'Promoting')] });
  assert.deepEqual(
    explain(world, NOW, 'prod').environments.map(({ name }) => name),
    ['prod'],
  );
  assert.match(explain(world, NOW, 'nowhere').result, /Pipeline web has no environment nowhere; it has test, prod/);
  const short = worldOf({ graph: graphOf(b, ['test']) });
  assert.match(explain(short, NOW, 'prod').result, /prod is not on the way of this Bundle/);
});

test('what is about to start is what the Graph would start: not while the Graph is being deleted or has no order', () => {
  assert.equal(explain(worldOf({}), NOW).environments[0]?.reason.code, 'Starting');
  const own = accepted(b);
  const going = { ...own, metadata: { ...own.metadata, deletionTimestamp: new Date(NOW).toISOString() } };
  assert.equal(explain(worldOf({ graph: going }), NOW).environments[0]?.reason.code, 'Deleting');
  const nodes = [...(own.spec?.nodes ?? []), { id: 'x', kind: 'PromotionStep', environment: 'x', dependsOn: ['y'] }];
  const broken = { ...own, spec: { pipeline: 'web', bundle: 'b', nodes } };
  assert.notEqual(explain(worldOf({ graph: broken }), NOW).environments[0]?.reason.code, 'Starting');
});

const statuses = fc.record({
  state: fc.constantFrom('none', ...STEP_STATES),
  record: fc.constantFrom('Running', 'Failed'),
});

const scenes = fc.record({
  phase: fc.constantFrom(...BUNDLE_PHASES),
  placed: fc.boolean(),
  test: statuses,
  prod: statuses,
  newer: fc.boolean(),
  gated: fc.constantFrom('', 'test', 'prod'),
  graph: fc.constantFrom('accepted', 'unchecked', 'none', 'leaving'),
});

test('explain says no reason that the decision does not give, of the Bundle and of every environment', () => {
  fc.assert(
    fc.property(scenes, (scene) => {
      const own = bundle('b', { phase: scene.phase, version: '1.1', ...(scene.placed ? { sequence: 1 } : {}) });
      const steps = (['test', 'prod'] as const).flatMap((name) => {
        const { state, record } = scene[name];
        if (state === 'none' || scene.graph === 'none') return [];
        if (state === 'Pending') return [stepOf(accepted(own), name)];
        const nextTryAt = new Date(NOW + 1000).toISOString();
        return [
          started(name, state, {
            steps: [{ name: 'git-clone', state: record, attempts: 1, ...(record === 'Failed' ? { nextTryAt } : {}) }],
          }),
        ];
      });
      const whole = accepted(own);
      const leaving = { ...whole, metadata: { ...whole.metadata, deletionTimestamp: new Date(NOW).toISOString() } };
      const graph = { accepted: whole, unchecked: graphOf(own), none: null, leaving }[scene.graph];
      const siblings = [own, ...(scene.newer ? [bundle('n', { phase: 'Promoting', sequence: 9 }, { version: '2' })] : [])];
      const gates = scene.gated ? { ...noGates, gates: [gate('default', 'g', [scene.gated])] } : noGates;
      const world = worldOf({ own, steps, siblings, gates, graph });
      const said = explain(world, NOW);
      assert.ok(world.bundle);
      assert.deepEqual(said.bundle?.reason, decideBundle(world.bundle, NOW).reason);
      const starts = new Set(
        (world.graph ? decideGraph(world.graph, NOW).writes : []).flatMap((write) =>
          write.kind === 'CreateResource' && write.object.kind === 'PromotionStep' ? [write.object.spec?.environment] : [],
        ),
      );
      for (const environment of said.environments) {
        assert.notEqual(environment.reason.message, '');
        const step = world.steps.find((candidate) => candidate.step.spec?.environment === environment.name);
        if (step === undefined) {
          assert.equal(
            environment.reason.code === 'Starting',
            starts.has(environment.name),
            `${environment.name}: ${environment.reason.code}`,
          );
          continue;
        }
        const decision = decideStep(step, NOW);
        assert.equal(environment.reason.code, decision.reason.code);
        assert.equal(environment.until, decision.lookAgainAt === undefined ? undefined : new Date(decision.lookAgainAt).toISOString());
      }
    }),
    { numRuns: 400 },
  );
});
