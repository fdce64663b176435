import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Environment, Pipeline } from '../../api/kinds/pipeline.ts';
import { API_VERSION } from '../../api/meta.ts';
import { validateGraph } from '../graph/validate-graph.ts';
import { graphFor } from './graph-for.ts';
import type { BundleWorld } from './world.ts';

const pipelineOf = (...environments: Environment[]): Pipeline => ({
  apiVersion: API_VERSION,
  kind: 'Pipeline',
  metadata: { name: 'app', namespace: 'team' },
  spec: { environments },
});

const worldOf = (more: Partial<BundleWorld>, intent: { targetEnvironment?: string; skipEnvironments?: string[] } = {}): BundleWorld => ({
  bundle: {
    apiVersion: API_VERSION,
    kind: 'Bundle',
    metadata: { name: 'app-v1', namespace: 'team', uid: 'u' },
    spec: { pipeline: 'app', intent },
  },
  pipeline: undefined,
  siblings: [],
  graph: undefined,
  graphTaken: false,
  steps: [],
  gates: { policyNamespace: 'platform-policies', gates: [] },
  audits: new Set(),
  auditRetentionMs: 0,
  ...more,
});

const nodesOf = (world: BundleWorld, pipeline: Pipeline) => {
  const result = graphFor(world, pipeline);
  assert.ok(result.graph);
  return result.graph.spec?.nodes ?? [];
};

describe('the Graph of a Pipeline that cannot be planned', () => {
  const circle = pipelineOf({ name: 'dev' }, { name: 'eu', wave: 1, dependsOn: ['us'] }, { name: 'us', wave: 2 });
  it('shows its problem to its own check, also when waves are what closes the circle', () => {
    const nodes = nodesOf(worldOf({}), circle);
    assert.equal(validateGraph({ pipeline: 'app', bundle: 'app-v1', nodes }, () => undefined)?.code, 'Cycle');
  });
  it('stays what it was once a promotion has started, so that nothing runs ahead or beyond the target', () => {
    const good = pipelineOf({ name: 'dev' }, { name: 'eu', wave: 1 }, { name: 'us', wave: 2 });
    const intent = { targetEnvironment: 'eu' };
    const first = graphFor(worldOf({}, intent), good);
    assert.ok('graph' in first);
    const step = {
      apiVersion: API_VERSION,
      kind: 'PromotionStep' as const,
      metadata: { name: 'app-v1-dev', namespace: 'team' },
      spec: { pipeline: 'app', bundle: 'app-v1', environment: 'dev' },
      status: { state: 'Promoting' },
    };
    const nodes = nodesOf(worldOf({ graph: first.graph, steps: [step] }, intent), circle);
    assert.deepEqual(nodes, first.graph.spec?.nodes);
  });
});

it('a Bundle that skips every environment is refused', () => {
  const result = graphFor(worldOf({}, { skipEnvironments: ['dev', 'live'] }), pipelineOf({ name: 'dev' }, { name: 'live' }));
  assert.ok('refused' in result);
  assert.equal(result.refused.code, 'NothingToPromote');
});
