import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '../../src/ports/store.ts';
import { bundle, type Capabilities, codeOf, configMap, ifBounded, type MakeStore, namesOf, value, written } from './store-fixtures.ts';

const fill = async (store: Store, names: readonly string[]): Promise<void> => {
  for (const result of await Promise.all(names.map((name) => store.create(configMap(name))))) written(result);
};

/** Follows the continue tokens; `between` runs after each page. */
const pages = async (
  store: Store,
  limit: number,
  between: (page: number) => Promise<void> = async () => {},
): Promise<readonly string[]> => {
  const names: string[] = [];
  let token: string | undefined;
  for (let page = 0; page < 100; page++) {
    const got = value(await store.list('ConfigMap', { limit, ...(token === undefined ? {} : { continue: token }) }));
    assert.ok(got.items.length <= limit);
    names.push(...namesOf(got));
    token = got.continue;
    if (token === undefined) return names;
    await between(page);
  }
  throw new Error('the pages do not end');
};

/** Lists, selectors and pages. */
export const listContract = (makeStore: MakeStore, { bounded }: Capabilities): void => {
  const boundedIt = ifBounded(bounded);
  describe('list', () => {
    it('orders by namespace, then name, and gives the version it shows', async () => {
      await using under = await makeStore();
      const { store } = under;
      const places: readonly [string, string][] = [
        ['b', 'a'],
        ['a', 'z'],
        ['a', 'b-1'],
        ['a', 'b'],
        ['b', 'a.b'],
        ['a', 'b.c'],
      ];
      for (const [namespace, name] of places) written(await store.create(configMap(name, { namespace })));
      const all = value(await store.list('ConfigMap'));
      assert.deepEqual(
        all.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
        ['a/b', 'a/b-1', 'a/b.c', 'a/z', 'b/a', 'b/a.b'],
      );
      assert.equal(all.continue, undefined);
      assert.ok(all.items.some(({ metadata }) => metadata.resourceVersion === all.resourceVersion));
      assert.deepEqual(namesOf(value(await store.list('ConfigMap', { namespace: 'b' }))), ['a', 'a.b']);
      assert.deepEqual(namesOf(value(await store.list('ConfigMap', { namespace: 'c' }))), []);
      assert.deepEqual(namesOf(value(await store.list('Secret'))), []);
    });

    it('selects by label', async () => {
      await using under = await makeStore();
      const { store } = under;
      const labels: Record<string, Record<string, string>> = {
        a: { tier: 'web', stage: 'prod' },
        b: { tier: 'web', stage: 'test' },
        c: { tier: 'db', stage: 'prod' },
        d: { 'example.com/tier': 'web' },
        e: {},
        f: { tier: '' },
      };
      for (const [name, own] of Object.entries(labels)) written(await store.create(configMap(name, { labels: own })));
      const cases: Record<string, string> = {
        'tier=web': 'ab',
        'tier==web': 'ab',
        'tier = web , stage = prod': 'a',
        'stage=prod,tier=db': 'c',
        'tier!=web': 'cdef',
        'tier in (web, db)': 'abc',
        'tier in (db),stage in (prod,test)': 'c',
        'tier notin (web,db)': 'def',
        tier: 'abcf',
        '!tier': 'de',
        'tier,!stage': 'f',
        'tier=': 'f',
        'example.com/tier=web': 'd',
        'tier=nothing': '',
        '': 'abcdef',
      };
      for (const [labelSelector, names] of Object.entries(cases)) {
        assert.equal(namesOf(value(await store.list('ConfigMap', { labelSelector }))).join(''), names, labelSelector);
        const inShop = namesOf(value(await store.list('ConfigMap', { labelSelector, namespace: 'shop', limit: 50 })));
        assert.equal(inShop.join(''), names, labelSelector);
      }
    });

    it('follows labels that change', async () => {
      await using under = await makeStore();
      const { store } = under;
      const a = written(await store.create(configMap('a', { labels: { k: '1', old: 'x' } })));
      written(await store.update({ ...a, metadata: { ...a.metadata, labels: { k: '2' } } }));
      for (const [labelSelector, count] of [
        ['k=1', 0],
        ['k=2', 1],
        ['old=x', 0],
      ] as const) {
        assert.equal(value(await store.list('ConfigMap', { labelSelector })).items.length, count, labelSelector);
      }
      written(await store.delete('ConfigMap', 'shop', 'a'));
      assert.equal(value(await store.list('ConfigMap', { labelSelector: 'k=2' })).items.length, 0);
    });

    it('selects by field', async () => {
      await using under = await makeStore();
      const { store } = under;
      for (const [name, pipeline] of [
        ['a', 'web'],
        ['b', 'web'],
        ['c', 'db'],
      ] as const) {
        const created = written(await store.create(bundle(name, pipeline)));
        written(await store.updateStatus({ ...created, status: { phase: name === 'a' ? 'Verified' : 'Available' } }));
      }
      const cases: Record<string, string> = {
        'metadata.name=b': 'b',
        'metadata.name!=b': 'ac',
        'metadata.namespace=shop': 'abc',
        'metadata.namespace=other': '',
        'spec.pipeline=web': 'ab',
        'spec.pipeline==web,status.phase!=Verified': 'b',
        'status.phase=Verified': 'a',
      };
      for (const [fieldSelector, names] of Object.entries(cases)) {
        assert.equal(namesOf(value(await store.list('Bundle', { fieldSelector }))).join(''), names, fieldSelector);
      }
    });

    it('refuses selectors that make no sense', async () => {
      await using under = await makeStore();
      const { store } = under;
      for (const labelSelector of ['a=b=c', 'a in b', 'a in (b', '=b', 'a=b,', 'a b', '!', '-a=b', 'a=b c']) {
        assert.equal(codeOf(await store.list('ConfigMap', { labelSelector })), 'BadRequest', labelSelector);
      }
      for (const fieldSelector of ['metadata.name', 'data.key=x', 'metadata.name>a']) {
        assert.equal(codeOf(await store.list('ConfigMap', { fieldSelector })), 'BadRequest', fieldSelector);
      }
    });
  });

  describe('pages', () => {
    const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

    it('give every object once, whatever the page size', async () => {
      await using under = await makeStore();
      await fill(under.store, NAMES);
      for (const limit of [1, 2, 3, 6, 7, 8]) assert.deepEqual(await pages(under.store, limit), NAMES, `limit ${limit}`);
    });

    it('go on with selectors', async () => {
      await using under = await makeStore();
      const { store } = under;
      for (const name of NAMES) written(await store.create(configMap(name, { labels: { odd: String('aceg'.includes(name)) } })));
      const first = value(await store.list('ConfigMap', { labelSelector: 'odd=true', limit: 2 }));
      assert.deepEqual(namesOf(first), ['a', 'c']);
      const rest = value(await store.list('ConfigMap', { labelSelector: 'odd=true', limit: 2, continue: first.continue ?? '' }));
      assert.deepEqual(namesOf(rest), ['e', 'g']);
      assert.equal(rest.continue, undefined);
    });

    for (const limit of [1, 2, 3]) {
      it(`show the state of the first page while objects come, change and go (${limit} a page)`, async () => {
        await using under = await makeStore();
        const { store } = under;
        await fill(store, NAMES);
        const seen = await pages(store, limit, async (page) => {
          if (page !== 0) return;
          written(await store.create(configMap('aa')));
          written(await store.create(configMap('cc')));
          written(await store.update(configMap('d', {}, { new: 'yes' })));
          written(await store.update(configMap('d', {}, { new: 'again' })));
          written(await store.delete('ConfigMap', 'shop', 'e'));
          written(await store.delete('ConfigMap', 'shop', 'f'));
          written(await store.create(configMap('f', {}, { new: 'yes' })));
          written(await store.delete('ConfigMap', 'shop', 'cc'));
        });
        assert.deepEqual(seen, NAMES);
      });
    }

    it('show old content, and labels of old', async () => {
      await using under = await makeStore();
      const { store } = under;
      for (const name of ['a', 'b', 'c']) written(await store.create(configMap(name, { labels: { k: 'old' } }, { v: '1' })));
      const first = value(await store.list('ConfigMap', { limit: 1, labelSelector: 'k=old' }));
      written(await store.update(configMap('b', { labels: { k: 'new' } }, { v: '2' })));
      const rest = value(await store.list('ConfigMap', { labelSelector: 'k=old', continue: first.continue ?? '' }));
      assert.deepEqual(
        rest.items.map(({ metadata, data }) => [metadata.name, data?.['v']]),
        [
          ['b', '1'],
          ['c', '1'],
        ],
      );
      assert.equal(rest.resourceVersion, first.resourceVersion);
    });

    it('refuse a garbled token and a senseless limit', async () => {
      await using under = await makeStore();
      const { store } = under;
      await fill(store, NAMES);
      for (const token of ['garbled', 'W10', '!!!', Buffer.from('[1,2,3]').toString('base64url')]) {
        assert.equal(codeOf(await store.list('ConfigMap', { limit: 2, continue: token })), 'BadRequest', token);
      }
      assert.equal(codeOf(await store.list('ConfigMap', { limit: -1 })), 'BadRequest');
    });

    boundedIt('expire when the history since the first page is gone', async () => {
      await using under = await makeStore({ historySize: 20 });
      const { store } = under;
      await fill(store, NAMES);
      const first = value(await store.list('ConfigMap', { limit: 2 }));
      for (let count = 0; count < 60; count++) written(await store.update(configMap('a', {}, { count: `${count}` })));
      assert.equal(codeOf(await store.list('ConfigMap', { limit: 2, continue: first.continue ?? '' })), 'Expired');
    });
  });
};
