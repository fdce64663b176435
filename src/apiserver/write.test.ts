import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makeApi, quietLog } from '../../test/contract/api-under-test.ts';
import type { ConfigMap } from '../api/kinds/native.ts';
import { KINDS } from '../api/registry.ts';
import type { Store } from '../ports/store.ts';
import type { Call } from './call.ts';
import { parseQuery } from './query.ts';
import { patchObject } from './write.ts';

const configMap: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'busy', namespace: 'shop' }, data: {} };

const call = (body: object): Call => {
  const query = parseQuery('write', {});
  assert.ok(query.ok);
  return {
    info: KINDS.ConfigMap,
    namespace: 'shop',
    name: 'busy',
    status: false,
    query: query.value,
    body,
    contentType: 'application/merge-patch+json',
  };
};

/** Somebody else writes right before each of the first updates. */
const contended = (store: Store, times: number) => {
  let updates = 0;
  const update: Store['update'] = async (object, options) => {
    updates += 1;
    if (updates <= times) {
      const current = await store.get('ConfigMap', 'shop', 'busy', { fresh: true });
      assert.ok(current.ok);
      await store.update({ ...current.value, data: { ...current.value.data, [`other-${updates}`]: `of ${times}` } });
    }
    return store.update(object, options);
  };
  return { store: { ...store, update, get: store.get.bind(store) }, updates: () => updates };
};

it('a patch that meets other writers is applied to what they wrote', async () => {
  await using api = await makeApi();
  assert.ok((await api.store.create(configMap)).ok);
  const { store, updates } = contended(api.store, 3);
  const end = await patchObject({ store, clock: api.clock, log: quietLog }, call({ data: { mine: 'y' } }));
  assert.ok(end.ok);
  assert.equal(updates(), 4);
  const stored = await api.store.get('ConfigMap', 'shop', 'busy');
  assert.ok(stored.ok);
  assert.deepEqual(stored.value.data, { 'other-1': 'of 3', 'other-2': 'of 3', 'other-3': 'of 3', mine: 'y' });
});

it('a patch for one version is not, and one that never gets through ends with a conflict', async () => {
  await using api = await makeApi();
  const created = await api.store.create(configMap);
  assert.ok(created.ok);
  const pinned = contended(api.store, 1);
  const resourceVersion = created.object.metadata.resourceVersion;
  const context = { clock: api.clock, log: quietLog };
  const stale = await patchObject({ ...context, store: pinned.store }, call({ metadata: { resourceVersion }, data: { mine: 'y' } }));
  assert.ok(!stale.ok);
  assert.deepEqual([stale.refusal.code, stale.refusal.reason], [409, 'Conflict']);
  const endless = contended(api.store, 1000);
  const beaten = await patchObject({ ...context, store: endless.store }, call({ data: { mine: 'y' } }));
  assert.ok(!beaten.ok);
  assert.equal(beaten.refusal.reason, 'Conflict');
  assert.ok(endless.updates() <= 10);
});
