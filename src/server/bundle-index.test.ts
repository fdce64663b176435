import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makeApi } from '../../test/contract/api-under-test.ts';
import type { Bundle } from '../api/kinds/bundle.ts';
import { API_VERSION } from '../api/meta.ts';
import type { Store, StoreError, WatchEvent } from '../ports/store.ts';
import { createBundleIndex, identityOf } from './bundle-index.ts';

const bundle = (name: string, tag: string): Bundle => ({
  apiVersion: API_VERSION,
  kind: 'Bundle',
  metadata: { name, namespace: 'shop', labels: { 'promoter.io/pipeline': 'web' } },
  spec: { pipeline: 'web', images: [{ repository: 'a/b', tag }] },
});

const web = (version: string) => ({ namespace: 'shop', pipeline: 'web', type: 'image', version });

/** Counts lists, and lets a test break the watch. */
const observed = (store: Store) => {
  let lists = 0;
  let breakWatch: (error: StoreError) => void = () => undefined;
  const list: Store['list'] = (kind, options) => {
    lists += 1;
    return store.list(kind, options);
  };
  const watch: Store['watch'] = (kind, options) => {
    const inner = store.watch(kind, options)[Symbol.asyncIterator]();
    const broken = new Promise<WatchEvent<never>>((resolve) => {
      breakWatch = (error) => resolve({ type: 'ERROR', error });
    });
    return (async function* () {
      for (;;) {
        const event = await Promise.race([broken, inner.next().then((step) => (step.done ? undefined : step.value))]);
        if (event === undefined) return;
        yield event;
      }
    })();
  };
  const wrapped: Store = { ...store, list, watch, get: store.get.bind(store) };
  return { store: wrapped, lists: () => lists, breakWatch: () => breakWatch({ code: 'Expired', message: 'too old' }) };
};

/** A client that was told of a write sends its next request over a network: that arrives in a later turn of the loop. */
const arrival = () => new Promise(setImmediate);

it('the Bundles of a Pipeline are listed once, and followed from then on', async () => {
  await using api = await makeApi();
  const closing = new AbortController();
  const { store, lists, breakWatch } = observed(api.store);
  const find = createBundleIndex(store, closing.signal);
  const nameOf = async (version: string) => {
    const found = await find(web(version));
    assert.ok(found.ok);
    return found.value?.metadata.name;
  };
  assert.ok((await api.store.create(bundle('first', '1'))).ok);
  assert.deepEqual([await nameOf('1'), await nameOf('2'), lists()], ['first', undefined, 1]);
  assert.ok((await api.store.create(bundle('second', '2'))).ok);
  await arrival();
  assert.deepEqual([await nameOf('2'), lists()], ['second', 1]);

  breakWatch();
  await arrival();
  assert.ok((await api.store.create(bundle('third', '3'))).ok);
  assert.deepEqual([await nameOf('3'), await nameOf('1'), lists()], ['third', 'first', 2]);
  closing.abort();
});

it('a Bundle that is gone uncovers another one of the same version', async () => {
  await using api = await makeApi();
  const closing = new AbortController();
  const find = createBundleIndex(api.store, closing.signal);
  for (const name of ['a', 'b']) assert.ok((await api.store.create(bundle(name, '1'))).ok);
  const nameOf = async () => {
    const found = await find(web('1'));
    return found.ok ? found.value?.metadata.name : found.error.code;
  };
  const first = String(await nameOf());
  assert.ok((await api.store.delete('Bundle', 'shop', first)).ok);
  assert.equal(await nameOf(), first === 'a' ? 'b' : 'a');
  assert.ok((await api.store.delete('Bundle', 'shop', first === 'a' ? 'b' : 'a')).ok);
  assert.equal(await nameOf(), undefined);
  closing.abort();
});

it('the identity is that of the content, not of the name', () => {
  assert.deepEqual(identityOf(bundle('any', '7')), web('7'));
});
