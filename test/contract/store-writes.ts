import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Secret } from '../../src/api/kinds/native.ts';
import type { ObjectMeta } from '../../src/api/meta.ts';
import { bundle, codeOf, configMap, deployment, isGone, type MakeStore, value, versionNow, watching, written } from './store-fixtures.ts';

const RFC3339_SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Create, update and updateStatus. */
export const writeContract = (makeStore: MakeStore): void => {
  describe('create', () => {
    it('gives a new object its identity, its time in whole seconds and generation 1', async () => {
      await using under = await makeStore();
      const { store } = under;
      const given = deployment('web', 2, { uid: 'mine', generation: 7, creationTimestamp: '1999-01-01T00:00:00Z' });
      const created = written(await store.create(given));
      assert.equal(created.metadata.generation, 1);
      assert.match(created.metadata.creationTimestamp ?? '', RFC3339_SECONDS);
      assert.notEqual(created.metadata.creationTimestamp, '1999-01-01T00:00:00Z');
      assert.match(created.metadata.uid ?? '', /^[0-9a-f-]{36}$/);
      assert.match(created.metadata.resourceVersion ?? '', /^[1-9]\d*$/);
      assert.deepEqual(created.spec, { replicas: 2 });
      assert.deepEqual(value(await store.get('Deployment', 'shop', 'web', { fresh: true })), created);
      assert.equal(given.metadata.uid, 'mine', 'the argument is left alone');
    });

    it('drops the status of kinds that have it apart', async () => {
      await using under = await makeStore();
      const created = written(await under.store.create({ ...deployment('web', 1), status: { replicas: 9 } }));
      assert.equal(created.status, undefined);
    });

    it('refuses a name that is taken and leaves the object alone', async () => {
      await using under = await makeStore();
      const first = written(await under.store.create(configMap('a', {}, { k: '1' })));
      assert.equal(codeOf(await under.store.create(configMap('a', {}, { k: '2' }))), 'AlreadyExists');
      assert.deepEqual(value(await under.store.get('ConfigMap', 'shop', 'a')), first);
    });

    it('lets exactly one of many creations of one name win', async () => {
      await using under = await makeStore();
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) => under.store.create(configMap('a', {}, { k: `${index}` }))),
      );
      assert.equal(results.filter(({ ok }) => ok).length, 1);
      assert.equal(results.filter((result) => codeOf(result) === 'AlreadyExists').length, 19);
    });

    it('keeps the same name apart by kind and by namespace', async () => {
      await using under = await makeStore();
      const { store } = under;
      for (const object of [configMap('a'), configMap('a', { namespace: 'other' }), deployment('a', 1)])
        written(await store.create(object));
      assert.equal(value(await store.get('ConfigMap', 'other', 'a')).metadata.namespace, 'other');
    });

    it('makes names from generateName that do not meet', async () => {
      await using under = await makeStore();
      const { name: _, ...nameless } = configMap('x', { generateName: 'job-' }).metadata;
      const results = await Promise.all(
        Array.from({ length: 30 }, () => under.store.create({ ...configMap('x'), metadata: { ...nameless, name: '' } })),
      );
      const names = results.map((result) => written(result).metadata.name);
      assert.equal(new Set(names).size, 30);
      for (const name of names) assert.match(name, /^job-[a-z0-9]{5}$/);
    });

    it('refuses a resourceVersion, bad names and bad labels, and says which field', async () => {
      await using under = await makeStore();
      const { store } = under;
      assert.equal(codeOf(await store.create(configMap('a', { resourceVersion: '1' }))), 'BadRequest');
      const cases: readonly [Parameters<typeof configMap>, string][] = [
        [['Upper'], 'metadata.name'],
        [[''], 'metadata.name'],
        [['a', { namespace: 'a b' }], 'metadata.namespace'],
        [['a', { labels: { k: 'no spaces' } }], 'metadata.labels'],
        [['a', { finalizers: ['no spaces'] }], 'metadata.finalizers'],
        [['a', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: '' }] }], 'metadata.ownerReferences'],
      ];
      for (const [given, field] of cases) {
        const result = await store.create(configMap(...given));
        assert.equal(codeOf(result), 'Invalid', field);
        assert.ok(!result.ok && result.error.causes?.some((cause) => cause.field.startsWith(field)), field);
      }
      assert.deepEqual(value(await store.list('ConfigMap')).items, []);
    });

    it('refuses an object beyond the size limit', async () => {
      await using under = await makeStore();
      assert.ok(['TooLarge', 'Invalid'].includes(codeOf(await under.store.create(configMap('a', {}, { k: 'x'.repeat(2_000_000) })))));
      assert.ok(await isGone(under.store, 'ConfigMap', 'a'));
    });

    it('makes a namespace at its first use', async () => {
      await using under = await makeStore();
      const { store } = under;
      assert.ok(await isGone(store, 'Namespace', 'shop', ''));
      written(await store.create(configMap('a')));
      assert.equal(value(await store.get('Namespace', '', 'shop')).status?.phase, 'Active');
      assert.equal(value(await store.get('Namespace', '', 'default')).status?.phase, 'Active');
    });

    it("folds a Secret's stringData into data, as UTF-8 in base64", async () => {
      await using under = await makeStore();
      const metadata = { name: 's', namespace: 'shop' };
      const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { a: 'QQ==', b: 'QQ==' }, stringData: { b: 'é', c: 'c' } };
      const created = written(await under.store.create(secret));
      assert.deepEqual(created.data, { a: 'QQ==', b: 'w6k=', c: 'Yw==' });
      assert.equal(created.stringData, undefined);
      assert.equal(created.type, 'Opaque');
    });
  });

  describe('update', () => {
    it('writes metadata and spec, keeps the status, and counts generations of the spec alone', async () => {
      await using under = await makeStore();
      const { store } = under;
      const created = written(await store.create(deployment('web', 1)));
      const reported = written(await store.updateStatus({ ...created, status: { replicas: 1 } }));
      assert.equal(reported.metadata.generation, 1);
      const labelled = written(await store.update({ ...reported, metadata: { ...reported.metadata, labels: { a: 'b' } } }));
      assert.equal(labelled.metadata.generation, 1);
      const scaled = written(await store.update({ ...labelled, spec: { replicas: 3 }, status: { replicas: 99 } }));
      assert.equal(scaled.metadata.generation, 2);
      assert.deepEqual(scaled.status, { replicas: 1 });
      assert.deepEqual(scaled.spec, { replicas: 3 });
      assert.deepEqual(value(await store.get('Deployment', 'shop', 'web')), scaled);
    });

    it('cannot change what only the store sets', async () => {
      await using under = await makeStore();
      const { store } = under;
      const created = written(await store.create(configMap('a')));
      const metadata: ObjectMeta = {
        name: 'a',
        namespace: 'shop',
        generation: 50,
        creationTimestamp: '1999-01-01T00:00:00Z',
        deletionTimestamp: '1999-01-01T00:00:00Z',
      };
      const updated = written(await store.update({ ...created, metadata, data: { changed: 'yes' } }));
      assert.equal(updated.metadata.uid, created.metadata.uid);
      assert.equal(updated.metadata.creationTimestamp, created.metadata.creationTimestamp);
      assert.equal(updated.metadata.deletionTimestamp, undefined);
      assert.equal(updated.metadata.generation, 2);
    });

    it('refuses an older resourceVersion and another uid, and accepts none', async () => {
      await using under = await makeStore();
      const { store } = under;
      const first = written(await store.create(configMap('a')));
      const second = written(await store.update({ ...first, data: { k: '2' } }));
      assert.notEqual(second.metadata.resourceVersion, first.metadata.resourceVersion);
      assert.equal(codeOf(await store.update({ ...first, data: { k: '3' } })), 'Conflict');
      assert.equal(codeOf(await store.update({ ...second, metadata: { ...second.metadata, uid: 'another' } })), 'Conflict');
      assert.deepEqual(value(await store.get('ConfigMap', 'shop', 'a')).data, { k: '2' });
      written(await store.update(configMap('a', {}, { k: '4' })));
      assert.deepEqual(value(await store.get('ConfigMap', 'shop', 'a')).data, { k: '4' });
    });

    it('lets exactly one of many writers with one version win', async () => {
      await using under = await makeStore();
      const { store } = under;
      const created = written(await store.create(configMap('a')));
      const results = await Promise.all(Array.from({ length: 20 }, (_, index) => store.update({ ...created, data: { k: `${index}` } })));
      assert.equal(results.filter(({ ok }) => ok).length, 1);
      assert.equal(results.filter((result) => codeOf(result) === 'Conflict').length, 19);
    });

    it('answers NotFound for what is not there', async () => {
      await using under = await makeStore();
      assert.equal(codeOf(await under.store.update(configMap('a'))), 'NotFound');
      assert.equal(codeOf(await under.store.updateStatus(deployment('a', 1))), 'NotFound');
      assert.equal(codeOf(await under.store.get('ConfigMap', 'shop', 'a')), 'NotFound');
      assert.equal(codeOf(await under.store.delete('ConfigMap', 'shop', 'a')), 'NotFound');
    });

    it('writes nothing when nothing changes: no event and no new version', async () => {
      await using under = await makeStore();
      const { store } = under;
      const created = written(await store.create(deployment('web', 1, { labels: { a: 'b', c: 'd' } })));
      const reported = written(await store.updateStatus({ ...created, status: { replicas: 1, conditions: [] } }));
      const before = await versionNow(store);
      using events = watching(store, 'Deployment', { resourceVersion: before });
      const reordered = { ...reported.metadata, labels: { c: 'd', a: 'b' } };
      assert.deepEqual(written(await store.update({ ...reported, metadata: reordered })), reported);
      assert.deepEqual(written(await store.updateStatus({ ...reported, status: { conditions: [], replicas: 1 } })), reported);
      assert.deepEqual(written(await store.update(deployment('web', 1, { labels: { a: 'b', c: 'd' } }))), reported);
      assert.equal(await versionNow(store), before);
      written(await store.create(deployment('other', 1)));
      assert.deepEqual(await events.take(1), ['ADDED other']);
    });
  });

  describe('updateStatus', () => {
    it('writes the status alone', async () => {
      await using under = await makeStore();
      const { store } = under;
      const created = written(await store.create(bundle('b1', 'web')));
      const metadata = { ...created.metadata, labels: { 'promoter.io/pipeline': 'stolen' }, finalizers: ['a/b'] };
      const reported = written(
        await store.updateStatus({ ...created, metadata, spec: { pipeline: 'stolen' }, status: { phase: 'Promoting' } }),
      );
      assert.deepEqual(reported.metadata.labels, { 'promoter.io/pipeline': 'web' });
      assert.equal(reported.metadata.finalizers, undefined);
      assert.deepEqual(reported.spec, created.spec);
      assert.equal(reported.status?.phase, 'Promoting');
      assert.equal(reported.metadata.generation, 1);
    });

    it('refuses an older resourceVersion', async () => {
      await using under = await makeStore();
      const created = written(await under.store.create(bundle('b1', 'web')));
      written(await under.store.updateStatus({ ...created, status: { phase: 'Available' } }));
      assert.equal(codeOf(await under.store.updateStatus({ ...created, status: { phase: 'Failed' } })), 'Conflict');
    });

    it('is refused for kinds without a status of their own', async () => {
      await using under = await makeStore();
      const created = written(await under.store.create(configMap('a')));
      assert.equal((await under.store.updateStatus(created)).ok, false);
    });
  });

  describe('dry run', () => {
    it('answers like the write and writes nothing', async () => {
      await using under = await makeStore();
      const { store } = under;
      const web = written(await store.create(deployment('web', 1)));
      const before = await versionNow(store);
      const imagined = written(await store.create(configMap('a', { namespace: 'elsewhere' }), { dryRun: true }));
      assert.equal(imagined.metadata.generation, 1);
      const scaled = written(await store.update({ ...web, spec: { replicas: 2 } }, { dryRun: true }));
      assert.deepEqual([scaled.spec, scaled.metadata.generation], [{ replicas: 2 }, 2]);
      assert.deepEqual(written(await store.updateStatus({ ...web, status: { replicas: 5 } }, { dryRun: true })).status, { replicas: 5 });
      written(await store.delete('Deployment', 'shop', 'web', { dryRun: true }));

      assert.equal(await versionNow(store), before);
      assert.deepEqual(value(await store.get('Deployment', 'shop', 'web')), web);
      assert.ok(await isGone(store, 'ConfigMap', 'a', 'elsewhere'));
      assert.ok(await isGone(store, 'Namespace', 'elsewhere', ''));
    });

    it('refuses what the write would refuse', async () => {
      await using under = await makeStore();
      const { store } = under;
      const first = written(await store.create(configMap('a')));
      written(await store.update({ ...first, data: { k: '1' } }));
      assert.equal(codeOf(await store.create(configMap('a'), { dryRun: true })), 'AlreadyExists');
      assert.equal(codeOf(await store.update(first, { dryRun: true })), 'Conflict');
      assert.equal(codeOf(await store.delete('ConfigMap', 'shop', 'b', { dryRun: true })), 'NotFound');
    });
  });
};
