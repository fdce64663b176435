import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObjectMeta } from '../../src/api/meta.ts';
import { codeOf, configMap, eventually, isGone, type MakeStore, ownedBy, value, versionNow, watching, written } from './store-fixtures.ts';

const RFC3339_SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Deletion, finalizers, owners and namespaces. */
export const deletionContract = (makeStore: MakeStore): void => {
  describe('delete', () => {
    it('gives the object as it was, and frees the name for another object', async () => {
      await using under = await makeStore();
      const { store } = under;
      const first = written(await store.create(configMap('a', {}, { k: 'v' })));
      const last = written(await store.delete('ConfigMap', 'shop', 'a'));
      assert.deepEqual([last.metadata.uid, last.data], [first.metadata.uid, { k: 'v' }]);
      assert.ok(await isGone(store, 'ConfigMap', 'a'));
      assert.equal(codeOf(await store.delete('ConfigMap', 'shop', 'a')), 'NotFound');
      const second = written(await store.create(configMap('a')));
      assert.notEqual(second.metadata.uid, first.metadata.uid);
      assert.equal(codeOf(await store.update({ ...first, metadata: { ...first.metadata, resourceVersion: '' } })), 'Conflict');
    });

    it('heeds preconditions', async () => {
      await using under = await makeStore();
      const { store } = under;
      const first = written(await store.create(configMap('a')));
      const second = written(await store.update({ ...first, data: { k: 'v' } }));
      const old = first.metadata.resourceVersion ?? '';
      assert.equal(codeOf(await store.delete('ConfigMap', 'shop', 'a', { uid: 'another' })), 'Conflict');
      assert.equal(codeOf(await store.delete('ConfigMap', 'shop', 'a', { resourceVersion: old })), 'Conflict');
      assert.deepEqual(value(await store.get('ConfigMap', 'shop', 'a')), second);
      const { uid = '', resourceVersion = '' } = second.metadata;
      written(await store.delete('ConfigMap', 'shop', 'a', { uid, resourceVersion }));
      assert.ok(await isGone(store, 'ConfigMap', 'a'));
    });
  });

  describe('finalizers', () => {
    it('hold a deleted object until the last one is gone', async () => {
      await using under = await makeStore();
      const { store } = under;
      written(await store.create(configMap('a', { finalizers: ['example.com/one', 'example.com/two'] })));
      using events = watching(store, 'ConfigMap', { resourceVersion: await versionNow(store) });
      const marked = written(await store.delete('ConfigMap', 'shop', 'a'));
      assert.match(marked.metadata.deletionTimestamp ?? '', RFC3339_SECONDS);
      const again = written(await store.delete('ConfigMap', 'shop', 'a'));
      assert.deepEqual(again, marked, 'a second deletion changes nothing');
      assert.equal(codeOf(await store.create(configMap('a'))), 'AlreadyExists');

      const metadata: ObjectMeta = { ...marked.metadata };
      delete metadata.deletionTimestamp;
      const one = written(await store.update({ ...marked, metadata: { ...metadata, finalizers: ['example.com/two'] } }));
      assert.equal(one.metadata.deletionTimestamp, marked.metadata.deletionTimestamp, 'the mark stays');
      const more = { ...one.metadata, finalizers: ['example.com/two', 'example.com/three'] };
      assert.equal(codeOf(await store.update({ ...one, metadata: more })), 'Invalid');
      written(await store.update({ ...one, metadata: { ...one.metadata, finalizers: [] } }));
      assert.ok(await isGone(store, 'ConfigMap', 'a'));
      assert.deepEqual(await events.take(3), ['MODIFIED a', 'MODIFIED a', 'DELETED a']);
    });

    it('can be taken off without consequence while nothing is deleted', async () => {
      await using under = await makeStore();
      const { store } = under;
      const created = written(await store.create(configMap('a', { finalizers: ['example.com/one'] })));
      written(await store.update({ ...created, metadata: { ...created.metadata, finalizers: [] } }));
      assert.equal(value(await store.get('ConfigMap', 'shop', 'a')).metadata.finalizers, undefined);
    });
  });

  describe('owners', () => {
    it('take their dependents along, and theirs', async () => {
      await using under = await makeStore();
      const { store } = under;
      const owner = written(await store.create(configMap('owner')));
      const child = written(await store.create(configMap('child', ownedBy(owner))));
      written(await store.create(configMap('grandchild', ownedBy(child))));
      const bystander = written(await store.create(configMap('bystander')));
      using events = watching(store, 'ConfigMap', { resourceVersion: await versionNow(store) });
      written(await store.delete('ConfigMap', 'shop', 'owner'));
      assert.deepEqual(await events.take(3), ['DELETED owner', 'DELETED child', 'DELETED grandchild']);
      assert.deepEqual(value(await store.get('ConfigMap', 'shop', 'bystander')), bystander);
    });

    it('keep a dependent as long as one of them exists', async () => {
      await using under = await makeStore();
      const { store } = under;
      const one = written(await store.create(configMap('one')));
      const two = written(await store.create(configMap('two')));
      const owners = [...ownedBy(one).ownerReferences, ...ownedBy(two).ownerReferences];
      written(await store.create(configMap('child', { ownerReferences: owners })));
      written(await store.delete('ConfigMap', 'shop', 'one'));
      await eventually('the reference to the first owner is gone', async () => {
        const child = value(await store.get('ConfigMap', 'shop', 'child'));
        return child.metadata.ownerReferences?.length === 1 && child.metadata.ownerReferences[0]?.name === 'two';
      });
      written(await store.delete('ConfigMap', 'shop', 'two'));
      await eventually('the child is gone', () => isGone(store, 'ConfigMap', 'child'));
    });

    it('that are gone already do not keep what is created late', async () => {
      await using under = await makeStore();
      const { store } = under;
      const owner = written(await store.create(configMap('owner')));
      written(await store.delete('ConfigMap', 'shop', 'owner'));
      written(await store.create(configMap('owner')));
      written(await store.create(configMap('late', ownedBy(owner))));
      await eventually('the late child is gone', () => isGone(store, 'ConfigMap', 'late'));
      assert.equal(codeOf(await store.get('ConfigMap', 'shop', 'owner')), 'ok', 'a namesake of the owner stays');
    });

    it('of another namespace do not count', async () => {
      await using under = await makeStore();
      const { store } = under;
      const owner = written(await store.create(configMap('owner', { namespace: 'other' })));
      written(await store.create(configMap('child', ownedBy(owner))));
      await eventually('the child is gone', () => isGone(store, 'ConfigMap', 'child'));
    });

    it('leave a dependent with finalizers marked until they are gone', async () => {
      await using under = await makeStore();
      const { store } = under;
      const owner = written(await store.create(configMap('owner')));
      written(await store.create(configMap('child', { ...ownedBy(owner), finalizers: ['example.com/one'] })));
      written(await store.delete('ConfigMap', 'shop', 'owner'));
      await eventually('the child is marked', async () => {
        const child = await store.get('ConfigMap', 'shop', 'child');
        return child.ok && child.value.metadata.deletionTimestamp !== undefined;
      });
      const child = value(await store.get('ConfigMap', 'shop', 'child'));
      written(await store.update({ ...child, metadata: { ...child.metadata, finalizers: [] } }));
      assert.ok(await isGone(store, 'ConfigMap', 'child'));
    });

    it('wait in the foreground for the dependents that block them', async () => {
      await using under = await makeStore();
      const { store } = under;
      const owner = written(await store.create(configMap('owner')));
      const blocking = { ...ownedBy(owner, { blockOwnerDeletion: true }), finalizers: ['example.com/one'] };
      written(await store.create(configMap('child', blocking)));
      const marked = written(await store.delete('ConfigMap', 'shop', 'owner', { propagation: 'foreground' }));
      assert.ok(marked.metadata.deletionTimestamp);
      assert.deepEqual(marked.metadata.finalizers, ['foregroundDeletion']);
      await eventually('the child is marked', async () => {
        const child = await store.get('ConfigMap', 'shop', 'child');
        return child.ok && child.value.metadata.deletionTimestamp !== undefined;
      });
      assert.equal(codeOf(await store.get('ConfigMap', 'shop', 'owner')), 'ok');
      const child = value(await store.get('ConfigMap', 'shop', 'child'));
      written(await store.update({ ...child, metadata: { ...child.metadata, finalizers: [] } }));
      await eventually('the owner is gone', () => isGone(store, 'ConfigMap', 'owner'));
    });

    it('go in the foreground through several generations, children first', async () => {
      await using under = await makeStore();
      const { store } = under;
      const owner = written(await store.create(configMap('owner')));
      const child = written(await store.create(configMap('child', ownedBy(owner, { blockOwnerDeletion: true }))));
      written(await store.create(configMap('grandchild', ownedBy(child, { blockOwnerDeletion: true }))));
      written(await store.delete('ConfigMap', 'shop', 'owner', { propagation: 'foreground' }));
      await eventually('the owner is gone', () => isGone(store, 'ConfigMap', 'owner'));
      assert.ok(await isGone(store, 'ConfigMap', 'child'));
      assert.ok(await isGone(store, 'ConfigMap', 'grandchild'));
    });

    it('can be deleted alone, leaving orphans', async () => {
      await using under = await makeStore();
      const { store } = under;
      const owner = written(await store.create(configMap('owner')));
      written(await store.create(configMap('child', ownedBy(owner))));
      written(await store.delete('ConfigMap', 'shop', 'owner', { propagation: 'orphan' }));
      await eventually('the owner is gone', () => isGone(store, 'ConfigMap', 'owner'));
      assert.equal(value(await store.get('ConfigMap', 'shop', 'child')).metadata.ownerReferences, undefined);
    });

    it('may have very many dependents', async () => {
      await using under = await makeStore();
      const { store } = under;
      const owner = written(await store.create(configMap('owner')));
      const children = Array.from({ length: 450 }, (_, index) => store.create(configMap(`child-${index}`, ownedBy(owner))));
      for (const result of await Promise.all(children)) written(result);
      written(await store.delete('ConfigMap', 'shop', 'owner'));
      await eventually('all children are gone', async () => value(await store.list('ConfigMap')).items.length === 0);
    });
  });

  describe('namespaces', () => {
    it('are emptied before they go, and take nothing new meanwhile', async () => {
      await using under = await makeStore();
      const { store } = under;
      written(await store.create(configMap('held', { finalizers: ['example.com/one'] })));
      written(await store.create(configMap('free')));
      written(await store.create(configMap('elsewhere', { namespace: 'other' })));
      const marked = written(await store.delete('Namespace', '', 'shop'));
      assert.ok(marked.metadata.deletionTimestamp);
      assert.equal(marked.status?.phase, 'Terminating');
      await eventually('the free one is gone', () => isGone(store, 'ConfigMap', 'free'));
      assert.equal(codeOf(await store.create(configMap('new'))), 'Forbidden');
      const held = value(await store.get('ConfigMap', 'shop', 'held'));
      written(await store.update({ ...held, metadata: { ...held.metadata, finalizers: [] } }));
      await eventually('the namespace is gone', () => isGone(store, 'Namespace', 'shop', ''));
      assert.equal(codeOf(await store.get('ConfigMap', 'other', 'elsewhere')), 'ok');
      written(await store.create(configMap('anew')));
    });

    it('keep `default`', async () => {
      await using under = await makeStore();
      assert.equal(codeOf(await under.store.delete('Namespace', '', 'default')), 'Forbidden');
    });
  });
};
