import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundle, gate, graphOf, NOW, noGates, step, stepOf, writtenStatus } from '../../../test/fixtures/worlds.ts';
import type { BundlePhase } from '../../api/kinds/bundle.ts';
import type { Graph, GraphNode, GraphStatus } from '../../api/kinds/graph.ts';
import type { PromotionStep, StepState } from '../../api/kinds/promotion-step.ts';
import type { Decision } from '../effect.ts';
import { checkNodeExpression, decideGraph, whyNotStarted } from './decide.ts';
import type { GraphWorld } from './world.ts';

const b = bundle('b', { phase: 'Promoting', sequence: 1 });
const graph = graphOf(b, ['test', 'uat', 'prod']);

const nodesWith = (changes: Readonly<Record<string, Partial<GraphNode>>>, from: Graph = graph): Graph => ({
  ...from,
  spec: {
    pipeline: 'web',
    bundle: 'b',
    nodes: (from.spec?.nodes ?? []).map((node) => ({ ...node, ...changes[node.id] })),
  },
});

const at = (environment: string, state: StepState): PromotionStep => stepOf(graph, environment, state === 'Pending' ? {} : { state });

const world = (steps: readonly PromotionStep[] = [], changes: Partial<GraphWorld> = {}): GraphWorld => ({
  graph,
  bundle: b,
  steps,
  gates: noGates,
  ...changes,
});

const created = (decision: Decision): readonly PromotionStep[] =>
  decision.writes.flatMap((write) => (write.kind === 'CreateResource' && write.object.kind === 'PromotionStep' ? [write.object] : []));
const createdIn = (given: GraphWorld): readonly string[] => created(decideGraph(given, NOW)).map((made) => made.spec?.environment ?? '');
const deleted = (decision: Decision) => decision.writes.filter((write) => write.kind === 'DeleteResource');
const conditions = (given: GraphWorld): Readonly<Record<string, string>> => {
  const status = writtenStatus<GraphStatus>(decideGraph(given, NOW), 'Graph');
  return Object.fromEntries((status?.conditions ?? []).map(({ type, status: value }) => [type, value]));
};
const whyOf = (given: GraphWorld, environment: string): string | undefined => {
  const node = given.graph.spec?.nodes.find((candidate) => candidate.environment === environment);
  assert.ok(node);
  return whyNotStarted(given, node)?.code;
};

test('a Graph is accepted, and its first environment starts, owned by the Graph and with its labels', () => {
  const decision = decideGraph(world(), NOW);
  assert.deepEqual(conditions(world()), { Accepted: 'True', Ready: 'False' });
  const [made, ...more] = created(decision);
  assert.deepEqual(more, []);
  assert.equal(made?.metadata.ownerReferences?.[0]?.uid, graph.metadata.uid);
  assert.deepEqual(made?.metadata.labels, {
    'promoter.io/pipeline': 'web',
    'promoter.io/bundle': 'b',
    'promoter.io/environment': 'test',
  });
  assert.deepEqual(made?.spec, { pipeline: 'web', bundle: 'b', environment: 'test', inputs: {} });
});

test('what has been said already is not written again', () => {
  const status = writtenStatus<GraphStatus>(decideGraph(world([at('test', 'Promoting')]), NOW), 'Graph') ?? {};
  const again = decideGraph(world([at('test', 'Promoting')], { graph: { ...graph, status } }), NOW + 1000);
  assert.deepEqual(again.writes, []);
});

test('an environment starts when all that it depends on are Verified, and not before', () => {
  for (const state of ['Pending', 'Promoting', 'WaitingForMerge', 'HealthChecking'] as const) {
    assert.deepEqual(createdIn(world([at('test', state)])), []);
    assert.equal(whyOf(world([at('test', state)]), 'uat'), 'WaitingForUpstream');
  }
  assert.deepEqual(createdIn(world([at('test', 'Verified')])), ['uat']);
  const joined = nodesWith({ uat: { dependsOn: [] }, prod: { dependsOn: ['test', 'uat'] } });
  assert.deepEqual(createdIn(world([], { graph: joined })), ['test', 'uat']);
  assert.deepEqual(createdIn(world([at('test', 'Verified'), at('uat', 'HealthChecking')], { graph: joined })), []);
  assert.deepEqual(createdIn(world([at('test', 'Verified'), at('uat', 'Verified')], { graph: joined })), ['prod']);
});

test('nothing starts unless the Bundle is Promoting', () => {
  for (const phase of ['Available', 'Verified', 'Failed', 'Superseded', 'SkipDenied'] satisfies BundlePhase[]) {
    const given = world([], { bundle: bundle('b', { phase }) });
    assert.deepEqual([createdIn(given), whyOf(given, 'test')], [[], `Bundle${phase}`]);
  }
  assert.deepEqual(createdIn(world([], { bundle: undefined })), []);
});

test('nothing new starts once an environment has failed, and what had not started is withdrawn with its version', () => {
  const fan = nodesWith({ uat: { dependsOn: [] } });
  for (const state of ['Failed', 'AbortedByAlarm', 'RollingBack'] as const) {
    const given = world([at('test', state), at('uat', 'Pending')], { graph: fan });
    assert.equal(whyOf(given, 'prod'), 'UpstreamFailed');
    assert.deepEqual(createdIn(given), []);
    assert.deepEqual(deleted(decideGraph(given, NOW)), [
      {
        kind: 'DeleteResource',
        ref: { kind: 'PromotionStep', namespace: 'default', name: 'b.uat' },
        uid: 'b-uid-graph-uat',
        resourceVersion: '9',
      },
    ]);
  }
  assert.deepEqual(deleted(decideGraph(world([at('test', 'Failed'), at('uat', 'Promoting')], { graph: fan }), NOW)), []);
});

test('a step whose node is gone is withdrawn before it starts, and kept when it has', () => {
  const shorter = { ...graph, spec: { pipeline: 'web', bundle: 'b', nodes: (graph.spec?.nodes ?? []).slice(0, 1) } };
  assert.equal(deleted(decideGraph(world([at('uat', 'Pending')], { graph: shorter }), NOW)).length, 1);
  assert.deepEqual(deleted(decideGraph(world([at('uat', 'Promoting')], { graph: shorter }), NOW)), []);
});

test('a gate holds the environment that it names, before its step exists', () => {
  const gates = { ...noGates, gates: [gate('default', 'freeze', ['test'])] };
  assert.deepEqual([createdIn(world([], { gates })), whyOf(world([], { gates }), 'test')], [[], 'GateClosed']);
  assert.deepEqual(createdIn(world([at('test', 'Verified')], { gates })), ['uat']);
});

test('propagateWhen of what is Verified must hold too, and an expression that fails says so', () => {
  const verified = [at('test', 'Verified')];
  const withRule = (propagateWhen: string) => world(verified, { graph: nodesWith({ test: { propagateWhen } }) });
  assert.deepEqual(createdIn(withRule("self.status.state == 'Verified'")), ['uat']);
  assert.equal(whyOf(withRule("self.status.state == 'Failed'"), 'uat'), 'WaitingForUpstream');
  assert.equal(whyOf(withRule('self.status.nothing == 1'), 'uat'), 'InvalidCEL');
});

test('the Graph is Ready when every environment is Verified and its readyWhen holds', () => {
  const all = ['test', 'uat', 'prod'].map((name) => at(name, 'Verified'));
  assert.deepEqual(conditions(world(all)), { Accepted: 'True', Ready: 'True' });
  assert.equal(conditions(world(all.slice(1)))['Ready'], 'False');
  assert.equal(conditions(world(all, { graph: nodesWith({ prod: { readyWhen: 'false' } }) }))['Ready'], 'False');
});

test('a Graph without an order is not accepted, and nothing of it starts', () => {
  const circle = nodesWith({ test: { dependsOn: ['prod'] } });
  const decision = decideGraph(world([], { graph: circle }), NOW);
  assert.deepEqual(conditions(world([], { graph: circle })), { Accepted: 'False', Ready: 'False' });
  assert.deepEqual(created(decision), []);
  assert.match(decision.reason.message, /test/);
  assert.equal(conditions(world([], { graph: nodesWith({ test: { readyWhen: 'self.' } }) }))['Accepted'], 'False');
});

test('a Graph that is being deleted, or says nothing, is left alone', () => {
  const going = { ...graph, metadata: { ...graph.metadata, deletionTimestamp: '2026-01-05T09:30:00Z' } };
  assert.deepEqual(decideGraph(world([], { graph: going }), NOW).writes, []);
  const { spec: _, ...empty } = graph;
  assert.deepEqual(decideGraph(world([], { graph: empty }), NOW).writes, []);
});

test('an expression is checked when the Graph is, and a foreign step of the same environment is not made again', () => {
  assert.equal(checkNodeExpression('self.a == 1'), undefined);
  assert.notEqual(checkNodeExpression('self.a =='), undefined);
  assert.deepEqual(createdIn(world([{ ...step('test'), spec: { pipeline: 'web', bundle: 'b', environment: 'test' } }])), []);
});
