import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bundle,
  type Capabilities,
  codeOf,
  configMap,
  deployment,
  ifBounded,
  type MakeStore,
  value,
  versionNow,
  watching,
  written,
} from './store-fixtures.ts';

/** Watches. */
export const watchContract = (makeStore: MakeStore, { bounded }: Capabilities): void => {
  const boundedIt = ifBounded(bounded);
  describe('watch', () => {
    it('tells what happens in the order of versions, with the object as it then was', async () => {
      await using under = await makeStore();
      const { store } = under;
      using events = watching(store, 'ConfigMap', { resourceVersion: await versionNow(store) });
      const a = written(await store.create(configMap('a', {}, { v: '1' })));
      const changed = written(await store.update({ ...a, data: { v: '2' } }));
      written(await store.create(configMap('b')));
      const last = written(await store.delete('ConfigMap', 'shop', 'a'));

      const seen = [];
      for (let count = 0; count < 4; count++) seen.push(await events.next());
      assert.deepEqual(
        seen.map((event) => event?.type),
        ['ADDED', 'MODIFIED', 'ADDED', 'DELETED'],
      );
      const [added, modified, , deleted] = seen;
      assert.ok(added?.type === 'ADDED' && modified?.type === 'MODIFIED' && deleted?.type === 'DELETED');
      assert.deepEqual(added.object, a);
      assert.deepEqual(modified.object, changed);
      assert.equal(added.resourceVersion, a.metadata.resourceVersion);
      assert.deepEqual(deleted.object.data, { v: '2' });
      assert.equal(deleted.object.metadata.resourceVersion, deleted.resourceVersion);
      assert.equal(last.metadata.uid, deleted.object.metadata.uid);
      const versions = seen.map((event) => Number(event && 'resourceVersion' in event ? event.resourceVersion : 0));
      assert.deepEqual(
        versions,
        versions.toSorted((left, right) => left - right),
      );
    });

    it('begins after the given version: what a list showed is not told again', async () => {
      await using under = await makeStore();
      const { store } = under;
      written(await store.create(configMap('before')));
      const { resourceVersion } = value(await store.list('ConfigMap'));
      written(await store.create(configMap('after-1')));
      written(await store.create(configMap('after-2')));
      using events = watching(store, 'ConfigMap', { resourceVersion });
      assert.deepEqual(await events.take(2), ['ADDED after-1', 'ADDED after-2']);
      written(await store.create(configMap('live')));
      assert.deepEqual(await events.take(1), ['ADDED live']);
    });

    it('loses nothing and repeats nothing between what was missed and what is live', async () => {
      await using under = await makeStore();
      const { store } = under;
      const { resourceVersion } = value(await store.list('ConfigMap'));
      const names = Array.from({ length: 330 }, (_, index) => `n-${String(index).padStart(3, '0')}`);
      await Promise.all(names.slice(0, 250).map((name) => store.create(configMap(name))));
      using events = watching(store, 'ConfigMap', { resourceVersion });
      const seen = [...(await events.take(120))];
      const more = Promise.all(names.slice(250).map((name) => store.create(configMap(name))));
      seen.push(...(await events.take(210)));
      await more;
      assert.deepEqual(
        seen,
        names.map((name) => `ADDED ${name}`),
      );
    });

    it('begins now when no version is given', async () => {
      await using under = await makeStore();
      const { store } = under;
      written(await store.create(configMap('before')));
      using events = watching(store, 'ConfigMap');
      const first = events.take(1);
      let done = false;
      first.finally(() => {
        done = true;
      });
      for (let count = 0; !done && count < 100; count++) {
        written(await store.create(configMap(`after-${count}`)));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      assert.match((await first)[0] ?? '', /^ADDED after-\d+$/);
    });

    it('tells of one kind and one namespace only', async () => {
      await using under = await makeStore();
      const { store } = under;
      const resourceVersion = await versionNow(store);
      using shop = watching(store, 'ConfigMap', { namespace: 'shop', resourceVersion });
      using everywhere = watching(store, 'ConfigMap', { resourceVersion });
      written(await store.create(deployment('d', 1)));
      written(await store.create(configMap('elsewhere', { namespace: 'other' })));
      written(await store.create(configMap('here')));
      assert.deepEqual(await shop.take(1), ['ADDED here']);
      assert.deepEqual(await everywhere.take(2), ['ADDED elsewhere', 'ADDED here']);
    });

    const moves = async (live: boolean): Promise<void> => {
      await using under = await makeStore();
      const { store } = under;
      const resourceVersion = await versionNow(store);
      const open = () => watching(store, 'ConfigMap', { labelSelector: 'in=yes', resourceVersion });
      const early = live ? open() : undefined;
      for (const [step, label] of ['no', 'yes', 'yes', 'no', 'no', 'yes'].entries()) {
        const object = configMap('a', { labels: { in: label } }, { step: `${step}` });
        written(step === 0 ? await store.create(object) : await store.update(object));
      }
      written(await store.delete('ConfigMap', 'shop', 'a'));
      written(await store.create(configMap('b', { labels: { in: 'no' } })));
      written(await store.delete('ConfigMap', 'shop', 'b'));
      written(await store.create(configMap('c', { labels: { in: 'yes' } })));
      using events = early ?? open();
      const shown = [];
      for (let count = 0; count < 6; count++) {
        const event = await events.next();
        assert.ok(event && 'object' in event);
        shown.push(`${event.type} ${event.object.metadata.name} ${event.object.data?.['step'] ?? ''}`.trim());
        assert.equal(event.object.metadata.resourceVersion, event.resourceVersion);
      }
      // What leaves the selection is shown as it last was in it.
      assert.deepEqual(shown, ['ADDED a 1', 'MODIFIED a 2', 'DELETED a 2', 'ADDED a 5', 'DELETED a 5', 'ADDED c']);
    };
    it('shows what moves into a selection as ADDED and out of it as DELETED', () => moves(true));
    it('does the same for what was missed', () => moves(false));

    it('selects by field', async () => {
      await using under = await makeStore();
      const { store } = under;
      using events = watching(store, 'Bundle', { fieldSelector: 'status.phase=Promoting', resourceVersion: await versionNow(store) });
      const created = written(await store.create(bundle('b1', 'web')));
      const promoting = written(await store.updateStatus({ ...created, status: { phase: 'Promoting' } }));
      written(await store.updateStatus({ ...promoting, status: { phase: 'Verified' } }));
      assert.deepEqual(await events.take(2), ['ADDED b1', 'DELETED b1']);
    });

    it('ends when it is told to, and when its reader leaves', async () => {
      await using under = await makeStore();
      const { store } = under;
      const events = watching(store, 'ConfigMap', { resourceVersion: await versionNow(store) });
      const waiting = events.next();
      events[Symbol.dispose]();
      assert.equal(await waiting, undefined);
      assert.equal(await events.next(), undefined);
      const controller = new AbortController();
      written(await store.create(configMap('a')));
      const loop = async () => {
        for await (const event of store.watch('ConfigMap', { resourceVersion: '1', signal: controller.signal })) return event.type;
        return 'ended';
      };
      assert.ok(['ADDED', 'ERROR'].includes(await loop()));
      controller.abort();
    });

    it('gives every reader objects of its own', async () => {
      await using under = await makeStore();
      const { store } = under;
      const resourceVersion = await versionNow(store);
      using one = watching(store, 'ConfigMap', { resourceVersion });
      using two = watching(store, 'ConfigMap', { resourceVersion });
      const created = written(await store.create(configMap('a', {}, { k: 'v' })));
      const event = await one.next();
      assert.ok(event && 'object' in event);
      event.object.data = { spoiled: 'yes' };
      created.data = { spoiled: 'too' };
      const other = await two.next();
      assert.ok(other && 'object' in other);
      assert.deepEqual(other.object.data, { k: 'v' });
      assert.deepEqual(value(await store.get('ConfigMap', 'shop', 'a')).data, { k: 'v' });
    });

    it('shows a write to watchers no later than to whoever reads after its answer', async () => {
      await using under = await makeStore();
      const { store } = under;
      using events = watching(store, 'ConfigMap', { resourceVersion: await versionNow(store) });
      const results = await Promise.all(['a', 'b', 'c'].map((name) => store.create(configMap(name))));
      assert.deepEqual(await events.take(3), ['ADDED a', 'ADDED b', 'ADDED c']);
      const versions = results.map((result) => Number(written(result).metadata.resourceVersion));
      assert.deepEqual(
        versions,
        versions.toSorted((left, right) => left - right),
      );
      assert.equal(new Set(versions).size, 3);
    });

    it('refuses versions that it cannot serve, and selectors that make no sense', async () => {
      await using under = await makeStore();
      const { store } = under;
      using future = watching(store, 'ConfigMap', { resourceVersion: '999999999' });
      assert.deepEqual(await future.take(1), ['ERROR Expired']);
      assert.equal(await future.next(), undefined);
      using senseless = watching(store, 'ConfigMap', { resourceVersion: 'yesterday' });
      assert.deepEqual(await senseless.take(1), ['ERROR BadRequest']);
      using selector = watching(store, 'ConfigMap', { labelSelector: 'a=b=c' });
      assert.deepEqual(await selector.take(1), ['ERROR BadRequest']);
    });

    boundedIt('says that a version is too old when the history is gone', async () => {
      await using under = await makeStore({ historySize: 20 });
      const { store } = under;
      const resourceVersion = await versionNow(store);
      written(await store.create(configMap('a')));
      for (let count = 0; count < 60; count++) written(await store.update(configMap('a', {}, { count: `${count}` })));
      using events = watching(store, 'ConfigMap', { resourceVersion });
      const event = await events.next();
      assert.ok(event?.type === 'ERROR');
      assert.equal(event.error.code, 'Expired');
      assert.match(event.error.message, /too old resource version/);
      assert.equal(await events.next(), undefined);
    });

    boundedIt('holds a bounded number of events for a slow reader, who still sees all of them', async () => {
      await using under = await makeStore({ watchBuffer: 5 });
      const { store } = under;
      using events = watching(store, 'ConfigMap', { resourceVersion: await versionNow(store) });
      const names = Array.from({ length: 40 }, (_, index) => `n-${index}`);
      for (const name of names.slice(0, 3)) written(await store.create(configMap(name)));
      assert.deepEqual(await events.take(1), ['ADDED n-0']);
      for (const name of names.slice(3)) written(await store.create(configMap(name)));
      assert.deepEqual(
        await events.take(39),
        names.slice(1).map((name) => `ADDED ${name}`),
      );
    });

    boundedIt('ends with Expired for a reader who is slower than the history is long', async () => {
      await using under = await makeStore({ watchBuffer: 5, historySize: 20 });
      const { store } = under;
      using events = watching(store, 'ConfigMap', { resourceVersion: await versionNow(store) });
      for (let count = 0; count < 80; count++) written(await store.create(configMap(`n-${count}`)));
      assert.deepEqual(await events.take(1), ['ERROR Expired']);
      assert.equal(await events.next(), undefined);
    });

    it('sends bookmarks from which a watch can go on', async (context) => {
      await using under = await makeStore();
      const { store, advance } = under;
      if (!advance) return context.skip('nobody can move its clock');
      using events = watching(store, 'ConfigMap', { resourceVersion: await versionNow(store) });
      const waiting = events.next();
      written(await store.create(deployment('elsewhere', 1)));
      await advance(10 * 60_000);
      const event = await waiting;
      assert.ok(event?.type === 'BOOKMARK');
      assert.equal(event.resourceVersion, await versionNow(store));
      assert.ok(!('object' in event));
      written(await store.create(configMap('a')));
      using resumed = watching(store, 'ConfigMap', { resourceVersion: event.resourceVersion });
      assert.deepEqual(await resumed.take(1), ['ADDED a']);
    });

    it('lets a list and a watch from its version see everything together', async () => {
      await using under = await makeStore();
      const { store } = under;
      const writes = Promise.all(Array.from({ length: 60 }, (_, index) => store.create(configMap(`n-${index}`))));
      const listed = value(await store.list('ConfigMap'));
      using events = watching(store, 'ConfigMap', { resourceVersion: listed.resourceVersion });
      const told = await events.take(60 - listed.items.length);
      for (const result of await writes) assert.equal(codeOf(result), 'ok');
      assert.equal(new Set([...listed.items.map(({ metadata }) => `ADDED ${metadata.name}`), ...told]).size, 60);
    });
  });
};
