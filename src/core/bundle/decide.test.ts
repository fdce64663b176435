import assert from 'node:assert/strict';
import { test } from 'node:test';
import { audited, bundle, bundleWorld, gate, NOW, noGates, pipeline, step, writtenStatus } from '../../../test/fixtures/worlds.ts';
import type { BundleStatus } from '../../api/kinds/bundle.ts';
import type { Graph } from '../../api/kinds/graph.ts';
import type { PipelineStatus } from '../../api/kinds/pipeline.ts';
import { API_VERSION } from '../../api/meta.ts';
import { decideBundle } from './decide.ts';
import { BUNDLE_ARROWS, movePhase } from './phases.ts';

const graphOf = (name: string, accepted: 'True' | 'False' = 'True'): Graph => ({
  apiVersion: API_VERSION,
  kind: 'Graph',
  metadata: {
    name,
    namespace: 'default',
    uid: `${name}-graph`,
    ownerReferences: [{ apiVersion: API_VERSION, kind: 'Bundle', name, uid: `${name}-uid` }],
  },
  spec: { pipeline: 'web', bundle: name, nodes: [] },
  status: {
    conditions: [{ type: 'Accepted', status: accepted, reason: 'Cycle', message: 'a → b → a', lastTransitionTime: '2026-01-05T09:00:00Z' }],
  },
});

/** The Graph as the decision itself makes it, accepted. */
const plannedGraph = (world: Parameters<typeof decideBundle>[0], accepted: 'True' | 'False' = 'True'): Graph => {
  const effect = decideBundle(world, NOW).writes[0];
  assert.equal(effect?.kind, 'CreateResource');
  const planned = effect?.kind === 'CreateResource' && effect.object.kind === 'Graph' ? effect.object : undefined;
  assert.ok(planned);
  return { ...graphOf(planned.metadata.name, accepted), ...(planned.spec ? { spec: planned.spec } : {}) };
};

const statusOf = (world: Parameters<typeof decideBundle>[0]) => writtenStatus<BundleStatus>(decideBundle(world, NOW), 'Bundle');

test('a Bundle without a matching Pipeline stays Available and says why', () => {
  const status = statusOf(bundleWorld(bundle('b'), { pipeline: undefined }));
  assert.equal(status?.phase, 'Available');
  assert.equal(status?.conditions?.[0]?.reason, 'NoMatchingPipeline');
});

test('a missing or different label is ignored with a condition that names it', () => {
  const unlabelled = bundle('b');
  delete unlabelled.metadata.labels;
  assert.equal(statusOf(bundleWorld(unlabelled))?.conditions?.[0]?.reason, 'LabelMissing');
  const other = bundle('b');
  other.metadata.labels = { 'promoter.io/pipeline': 'api' };
  assert.equal(statusOf(bundleWorld(other))?.conditions?.[0]?.reason, 'LabelMismatch');
});

test('a condition that already says so is not written again', () => {
  const own = bundle('b');
  own.status = statusOf(bundleWorld(own, { pipeline: undefined })) ?? {};
  assert.deepEqual(decideBundle(bundleWorld(own, { pipeline: undefined }), NOW + 60_000).writes, []);
});

test('the place in the order is taken from the Pipeline first, and only by the oldest Bundle without one', () => {
  const older = bundle('older', {}, { version: '1' });
  const newer = bundle('newer', {}, { version: '2' });
  newer.metadata.creationTimestamp = '2026-01-05T09:00:05Z';
  const siblings = [newer, older];
  assert.equal(decideBundle(bundleWorld(newer, { siblings }), NOW).reason.code, 'WaitingForOrder');
  const decision = decideBundle(bundleWorld(older, { siblings, pipeline: { ...pipeline(), status: { lastSequence: 4 } } }), NOW);
  assert.equal(decision.writes[0]?.kind, 'UpdateStatus');
  assert.equal(writtenStatus<PipelineStatus>(decision, 'Pipeline')?.lastSequence, 5);
  assert.equal(writtenStatus<BundleStatus>(decision, 'Bundle')?.sequence, 5);
});

test('Bundles of the same second are ordered by uid, whatever was written to them since', () => {
  const ten = bundle('web-10', {}, { version: '10' });
  const nine = bundle('web-9', {}, { version: '9' });
  ten.metadata.uid = '01a1-2';
  nine.metadata.uid = '01a1-1';
  nine.metadata.resourceVersion = '999';
  assert.equal(decideBundle(bundleWorld(ten, { siblings: [ten, nine] }), NOW).reason.code, 'WaitingForOrder');
  assert.equal(decideBundle(bundleWorld(nine, { siblings: [ten, nine] }), NOW).reason.code, 'Ordered');
});

test('a version that exists already is held, and holds up nobody', () => {
  const first = bundle('first', { phase: 'Verified', sequence: 1 });
  const again = bundle('again');
  const other = bundle('other', { sequence: 2 }, { version: '2' });
  const siblings = [first, again, other];
  assert.equal(statusOf(bundleWorld(again, { siblings }))?.conditions?.[0]?.reason, 'DuplicateVersion');
  assert.equal(decideBundle(bundleWorld(other, { siblings }), NOW).reason.code, 'Planning');
});

test('a Bundle that was created before one that has its place does not become the newest', () => {
  const placed = bundle('placed', { phase: 'Verified', sequence: 4 }, { version: '2' });
  placed.metadata.creationTimestamp = '2026-01-05T09:30:00Z';
  const lost = bundle('lost', {}, { version: '1' });
  assert.equal(decideBundle(bundleWorld(lost, { siblings: [placed, lost] }), NOW).reason.code, 'Outdated');
});

test('a sequence that somebody wrote by hand and is none does not poison the order', () => {
  const own = bundle('b', {}, { version: '3' });
  const broken = bundle('broken', { sequence: 1e22, phase: 'Failed' }, { version: '2' });
  const decision = decideBundle(
    bundleWorld(own, { siblings: [own, broken], pipeline: { ...pipeline(), status: { lastSequence: 1e22 } } }),
    NOW,
  );
  assert.equal(writtenStatus<BundleStatus>(decision, 'Bundle')?.sequence, 1);
});

test('nothing acts on a Bundle while a sibling has no place yet', () => {
  const own = bundle('b', { sequence: 1 });
  const world = bundleWorld(own, { siblings: [own, bundle('new', {}, { version: '2' })] });
  assert.deepEqual(decideBundle(world, NOW).writes, []);
});

test('a newer Bundle of the same type supersedes: records are kept, the event is written, then the Graph goes', () => {
  const own = bundle('b', { phase: 'Promoting', sequence: 1, version: '1.1' });
  const newer = bundle('n', { phase: 'Promoting', sequence: 2, version: '1.2' });
  const verified = step('test', {
    state: 'Verified',
    outputs: { 'git.commit': 'c'.repeat(40), 'git.branch': 'main' },
    transitions: [
      { at: '2026-01-05T09:30:00.000Z', from: 'HealthChecking', to: 'Verified', reason: 'Verified', message: 'ok', attempt: 1 },
    ],
  });
  const world = bundleWorld(own, { siblings: [own, newer], graph: graphOf('b'), steps: [verified] });
  const decision = decideBundle(world, NOW);
  const status = writtenStatus<BundleStatus>(decision, 'Bundle');
  assert.equal(status?.phase, 'Superseded');
  assert.equal(status?.environments?.[0]?.commit, 'c'.repeat(40));
  assert.deepEqual(audited(decision.writes).sort(), ['PromotionSucceeded', 'PromotionSuperseded']);
  const after = decideBundle(
    bundleWorld({ ...own, status: status ?? {} }, { siblings: [own, newer], graph: graphOf('b'), steps: [verified] }),
    NOW,
  );
  assert.equal(after.writes[0]?.kind, 'DeleteResource');
});

test('records that were still missing are kept in the same pass in which the Graph goes, before it', () => {
  const own = bundle('b', { phase: 'Superseded', sequence: 1 });
  const moved = step('test', { state: 'HealthChecking', message: 'moved on' });
  const decision = decideBundle(bundleWorld(own, { graph: graphOf('b'), steps: [moved] }), NOW);
  assert.deepEqual(
    decision.writes.map((write) => write.kind),
    ['UpdateStatus', 'DeleteResource'],
  );
  assert.equal(writtenStatus<BundleStatus>(decision, 'Bundle')?.environments?.[0]?.state, 'HealthChecking');
});

test('a Bundle of the other type does not supersede', () => {
  const own = bundle('b', { phase: 'Promoting', sequence: 1 });
  const config = bundle('n', { phase: 'Promoting', sequence: 2 }, { type: 'config' });
  assert.notEqual(decideBundle(bundleWorld(own, { siblings: [own, config] }), NOW).reason.code, 'Superseded');
  const mixed = bundle('m', { phase: 'Promoting', sequence: 3 }, { type: 'mixed' });
  assert.equal(decideBundle(bundleWorld(own, { siblings: [own, mixed] }), NOW).reason.code, 'Superseded');
});

test('a newer Bundle that is held before its first environment replaces nothing', () => {
  const own = bundle('b', { phase: 'Promoting', sequence: 1 });
  for (const phase of ['Available', 'SkipDenied']) {
    const newer = bundle('n', { phase, sequence: 2 });
    assert.notEqual(decideBundle(bundleWorld(own, { siblings: [own, newer] }), NOW).reason.code, 'Superseded', phase);
  }
});

test('a commit that never left the mirror is in no record', () => {
  const own = bundle('b', { phase: 'Promoting', sequence: 1 });
  const newer = bundle('n', { phase: 'Promoting', sequence: 2 });
  const made = step('test', { state: 'Promoting', outputs: { 'git.commit': 'c'.repeat(40) } });
  const status = statusOf(bundleWorld(own, { siblings: [own, newer], steps: [made] }));
  assert.equal(status?.phase, 'Superseded');
  assert.equal(status?.environments?.[0]?.commit, undefined);
});

test('a Graph that the Bundle does not own is neither used nor deleted', () => {
  const own = bundle('b', { phase: 'Promoting', sequence: 1 });
  const decision = decideBundle(bundleWorld(own, { graphTaken: true }), NOW);
  assert.equal(decision.reason.code, 'GraphTaken');
  const over = bundle('b', { phase: 'Superseded', sequence: 1 });
  assert.deepEqual(decideBundle(bundleWorld(over, { graphTaken: true }), NOW).writes, []);
});

test('a target that an edit takes away holds the Bundle with a condition once nothing is in flight', () => {
  const own = bundle('b', { phase: 'Promoting', sequence: 1 }, { intent: { targetEnvironment: 'uat' } });
  const first = bundle('b', { sequence: 1 }, { intent: { targetEnvironment: 'uat' } });
  const graph = plannedGraph(bundleWorld(first, { pipeline: pipeline([{ name: 'test' }, { name: 'uat' }]) }));
  const edited = pipeline([{ name: 'test' }, { name: 'live' }]);
  const world = bundleWorld(own, { graph, pipeline: edited, steps: [step('test', { state: 'Verified' })] });
  const effect = decideBundle(world, NOW).writes[0];
  assert.equal(effect?.kind, 'UpdateResource');
  const shrunk = effect?.kind === 'UpdateResource' && effect.object.kind === 'Graph' ? effect.object : graph;
  assert.deepEqual(
    shrunk.spec?.nodes.map((node) => node.id),
    ['test'],
  );
  assert.equal(decideBundle({ ...world, graph: shrunk }, NOW).reason.code, 'UnknownTarget');
});

test('a message that is longer than a status takes is cut', () => {
  const status = movePhase({ phase: 'Available' }, 'SkipDenied', { code: 'x', message: 'y'.repeat(10_000) }, NOW);
  assert.equal(status.transitions?.[0]?.message.length, 1000);
});

test('a finished Bundle is never superseded by a newer one', () => {
  const own = bundle('b', { phase: 'Verified', sequence: 1 });
  const newer = bundle('n', { phase: 'Promoting', sequence: 2 });
  assert.deepEqual(decideBundle(bundleWorld(own, { siblings: [own, newer], graph: graphOf('b') }), NOW).writes, []);
});

test('the Graph is made, then accepted, then the Bundle is Promoting', () => {
  const own = bundle('b', { sequence: 1 });
  const graph = plannedGraph(bundleWorld(own));
  assert.deepEqual(
    graph.spec?.nodes.map((node) => [node.id, node.dependsOn]),
    [
      ['test', []],
      ['prod', ['test']],
    ],
  );
  assert.equal(statusOf(bundleWorld(own, { graph }))?.phase, 'Promoting');
});

test('a cycle leaves the Bundle Available with the path', () => {
  const own = bundle('b', { sequence: 1 });
  const cyclic = pipeline([
    { name: 'a', dependsOn: ['b'] },
    { name: 'b', dependsOn: ['a'] },
  ]);
  const graph = plannedGraph(bundleWorld(own, { pipeline: cyclic }), 'False');
  const status = statusOf(bundleWorld(own, { pipeline: cyclic, graph }));
  assert.equal(status?.phase, 'Available');
  assert.equal(status?.conditions?.find((condition) => condition.type === 'Ready')?.reason, 'Cycle');
});

test('an unknown target is a condition on the Bundle, and no Graph is made', () => {
  const own = bundle('b', { sequence: 1 }, { intent: { targetEnvironment: 'nowhere' } });
  const decision = decideBundle(bundleWorld(own), NOW);
  assert.equal(decision.reason.code, 'UnknownTarget');
  assert.ok(decision.writes.every((write) => write.kind !== 'CreateResource'));
});

test('skipping an environment with an org gate is denied, a team gate does not matter', () => {
  const own = bundle('b', { sequence: 1 }, { intent: { skipEnvironments: ['test'] } });
  const org = { ...noGates, gates: [gate('platform-policies', 'weekend', ['test'])] };
  const status = statusOf(bundleWorld(own, { gates: org }));
  assert.equal(status?.phase, 'SkipDenied');
  assert.match(status?.transitions?.[0]?.message ?? '', /weekend/);
  const team = { ...noGates, gates: [gate('default', 'weekend', ['test'])] };
  assert.equal(decideBundle(bundleWorld(own, { gates: team }), NOW).reason.code, 'Planning');
});

test('all environments Verified make the Bundle Verified; one failure waits for what is in flight', () => {
  const own = bundle('b', { phase: 'Promoting', sequence: 1 });
  const graph = plannedGraph(bundleWorld(bundle('b', { sequence: 1 })));
  const done = bundleWorld(own, { graph, steps: [step('test', { state: 'Verified' }), step('prod', { state: 'Verified' })] });
  assert.equal(statusOf(done)?.phase, 'Verified');
  const flying = bundleWorld(own, {
    graph,
    steps: [step('test', { state: 'Failed', message: 'no' }), step('prod', { state: 'HealthChecking' })],
  });
  assert.notEqual(statusOf(flying)?.phase, 'Failed');
  const failed = bundleWorld(own, { graph, steps: [step('test', { state: 'Failed', message: 'no' })] });
  assert.equal(statusOf(failed)?.phase, 'Failed');
});

test('nodes that have started stay as they were when the Pipeline is edited; the others follow', () => {
  const own = bundle('b', { phase: 'Promoting', sequence: 1 });
  const graph = plannedGraph(bundleWorld(bundle('b', { sequence: 1 })));
  const edited = pipeline([{ name: 'uat' }, { name: 'prod' }]);
  const decision = decideBundle(bundleWorld(own, { graph, pipeline: edited, steps: [step('test', { state: 'Promoting' })] }), NOW);
  const effect = decision.writes[0];
  assert.equal(effect?.kind, 'UpdateResource');
  const nodes = effect?.kind === 'UpdateResource' && effect.object.kind === 'Graph' ? effect.object.spec?.nodes : [];
  assert.deepEqual(
    nodes?.map((node) => node.id),
    ['test', 'uat', 'prod'],
  );
});

test('a move that the table does not allow is a bug', () => {
  assert.throws(() => movePhase({ phase: 'Verified' }, 'Promoting', { code: 'x', message: 'x' }, NOW));
  assert.deepEqual(Object.keys(BUNDLE_ARROWS['Superseded']), []);
});
