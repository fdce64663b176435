import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makeApi } from '../../test/contract/api-under-test.ts';
import type { Deployment } from '../api/kinds/native.ts';
import { createClusterReader } from './cluster-store.ts';

const deployment = (name: string, namespace: string, labels: Record<string, string>): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace, labels },
  spec: { replicas: 1 },
});

it('workloads of the local cluster are the Deployments of the store', async () => {
  await using api = await makeApi();
  const cluster = createClusterReader(api.store);
  for (const object of [
    deployment('web', 'prod', { app: 'web' }),
    deployment('job', 'prod', { app: 'job' }),
    deployment('web', 'dev', { app: 'web' }),
  ]) {
    assert.ok((await api.store.create(object)).ok);
  }
  const found = await cluster.deployment({ cluster: 'local' }, 'prod', 'web');
  assert.ok(found.outcome === 'done');
  assert.equal(found.value?.metadata.name, 'web');
  assert.deepEqual(await cluster.deployment({ cluster: 'local' }, 'prod', 'none'), { outcome: 'done', value: undefined });
  const names = async (labels: Record<string, string>) => {
    const outcome = await cluster.deployments({ cluster: 'local' }, 'prod', labels);
    return outcome.outcome === 'done' ? outcome.value.map(({ metadata }) => metadata.name) : outcome.reason.code;
  };
  assert.deepEqual(await names({ app: 'web' }), ['web']);
  assert.deepEqual(await names({}), ['job', 'web']);
  assert.deepEqual(await names({ app: 'other' }), []);
  assert.equal(await names({ app: 'no label value' }), 'InvalidSelector');
});

it('another cluster is refused for good, and a store that does not answer is not', async () => {
  await using api = await makeApi();
  const cluster = createClusterReader(api.store);
  const remote = { cluster: 'remote', kubeconfig: { namespace: 'shop', name: 'far' } } as const;
  for (const outcome of [await cluster.deployment(remote, 'prod', 'web'), await cluster.deployments(remote, 'prod', {})]) {
    assert.ok(outcome.outcome === 'terminal');
    assert.equal(outcome.reason.code, 'RemoteClusterUnavailable');
    assert.match(outcome.reason.message, /shop\/far/);
  }
  await api.store.close();
  const closed = await cluster.deployment({ cluster: 'local' }, 'prod', 'web');
  assert.ok(closed.outcome === 'transient');
  assert.equal(closed.reason.code, 'StoreUnavailable');
});
