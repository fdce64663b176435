import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ConfigMap } from '../../src/api/kinds/native.ts';
import type { Store } from '../../src/ports/store.ts';
import { configMap, type MakeStore, type Reader, value, watching, written } from './store-fixtures.ts';

/** One thing that a writer does to one of a few objects. */
interface Deed {
  readonly name: string;
  readonly label: string;
  readonly what: 'put' | 'delete' | 'hold' | 'release';
}

const deeds = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    label: fc.constantFrom('in', 'out'),
    what: fc.constantFrom('put', 'put', 'put', 'delete', 'hold', 'release') as fc.Arbitrary<Deed['what']>,
  }),
  { minLength: 1, maxLength: 40 },
);

const perform = async (store: Store, { name, label, what }: Deed): Promise<void> => {
  const labels = { side: label };
  if (what === 'delete') {
    await store.delete('ConfigMap', 'shop', name);
    return;
  }
  const finalizers = what === 'hold' ? ['example.com/hold'] : [];
  const updated = await store.update(configMap(name, { labels, finalizers }));
  if (!updated.ok) await store.create(configMap(name, { labels, finalizers }));
};

type State = Map<string, ConfigMap>;

const stateOf = (items: readonly ConfigMap[]): State => new Map(items.map((item) => [item.metadata.name, item]));

/** Applies events until the one of the last object. */
const follow = async (events: Reader<'ConfigMap'>, state: State, last: string): Promise<void> => {
  for (;;) {
    const event = await events.next();
    assert.ok(event && event.type !== 'ERROR');
    if (event.type === 'BOOKMARK') continue;
    const { name } = event.object.metadata;
    if (name === last) return;
    assert.equal(state.has(name), event.type !== 'ADDED', `${event.type} ${name}`);
    if (event.type === 'DELETED') state.delete(name);
    else state.set(name, event.object);
  }
};

/** What must hold whatever is written. */
export const propertyContract = (makeStore: MakeStore): void => {
  describe('whatever is written', () => {
    it('a list and the events after it make up the next list, under a selector too', async () => {
      await fc.assert(
        fc.asyncProperty(deeds, deeds, fc.constantFrom('', 'side=in', 'side!=in'), async (first, then, labelSelector) => {
          await using under = await makeStore();
          const { store } = under;
          for (const deed of first) await perform(store, deed);
          const listed = value(await store.list('ConfigMap', { labelSelector }));
          const from = { labelSelector, resourceVersion: listed.resourceVersion };
          using early = watching(store, 'ConfigMap', from);
          for (const deed of then) await perform(store, deed);
          const expected = value(await store.list('ConfigMap', { labelSelector }));
          const marker = labelSelector === 'side=in' ? { side: 'in' } : {};
          written(await store.create(configMap('zz-last', { labels: marker })));
          using late = watching(store, 'ConfigMap', from);
          for (const events of [early, late]) {
            const state = stateOf(listed.items);
            await follow(events, state, 'zz-last');
            assert.deepEqual(
              [...state.values()].sort((x, y) => (x.metadata.name < y.metadata.name ? -1 : 1)),
              expected.items,
            );
          }
        }),
        { numRuns: 8 },
      );
    });

    it('the pages of one list show one state', async () => {
      await fc.assert(
        fc.asyncProperty(deeds, deeds, fc.integer({ min: 1, max: 4 }), async (first, then, limit) => {
          await using under = await makeStore();
          const { store } = under;
          for (const deed of first) await perform(store, deed);
          const whole = value(await store.list('ConfigMap'));
          let page = value(await store.list('ConfigMap', { limit }));
          const items = [...page.items];
          const waiting = [...then];
          while (page.continue !== undefined) {
            for (const deed of waiting.splice(0, 5)) await perform(store, deed);
            page = value(await store.list('ConfigMap', { limit, continue: page.continue }));
            items.push(...page.items);
          }
          assert.deepEqual(items, whole.items);
        }),
        { numRuns: 8 },
      );
    });
  });
};
