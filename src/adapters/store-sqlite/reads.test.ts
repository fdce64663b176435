import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ConfigMap } from '../../api/kinds/native.ts';
import type { Clock } from '../../ports/clock.ts';
import { openSqliteStore } from './index.ts';

const clock: Clock = { now: () => Date.parse('2026-02-03T04:05:06Z'), at: () => () => {} };

const configMap = (index: number, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `n-${String(index).padStart(4, '0')}`, namespace: 'shop', labels: { even: String(index % 2 === 0) } },
  data,
});

const COUNT = 1700;

const openFilled = async (historySize: number) => {
  const directory = mkdtempSync(join(tmpdir(), 'promoter-store-'));
  const opened = await openSqliteStore({ directory, clock, historySize, admit: ({ object }) => ({ ok: true, object, warnings: [] }) });
  assert.ok(opened.outcome === 'done');
  const store = opened.value;
  await Promise.all(Array.from({ length: COUNT }, (_, index) => store.create(configMap(index))));
  return {
    store,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

describe('a long list without a limit', () => {
  it('lets others have their turn, and shows one state all the same', async () => {
    await using filled = await openFilled(10_000);
    const { store } = filled;
    const listing = store.list('ConfigMap');
    let writes = 0;
    let done = false;
    const writing = (async () => {
      while (!done) {
        const index = COUNT - 1 - writes;
        assert.ok((await store.update(configMap(index, { changed: 'yes' }))).ok);
        assert.ok((await store.delete('ConfigMap', 'shop', configMap(index - 100).metadata.name)).ok);
        writes++;
      }
    })();
    const listed = await listing;
    done = true;
    await writing;
    assert.ok(writes > 0);
    assert.ok(listed.ok);
    assert.equal(listed.value.items.length, COUNT);
    assert.ok(listed.value.items.every(({ data }) => data?.['changed'] === undefined));
    assert.equal(listed.value.continue, undefined);
    const half = await store.list('ConfigMap', { labelSelector: 'even=true' });
    const all = await store.list('ConfigMap');
    assert.ok(half.ok && all.ok);
    assert.deepEqual(
      half.value.items,
      all.value.items.filter(({ metadata }) => metadata.labels?.['even'] === 'true'),
    );
  });

  it('comes to an end also when the history is shorter than what is written meanwhile', async () => {
    await using filled = await openFilled(3);
    const { store } = filled;
    const listing = store.list('ConfigMap');
    const written = await Promise.all(Array.from({ length: 50 }, (_, index) => store.update(configMap(index, { changed: 'yes' }))));
    assert.ok(written.every(({ ok }) => ok));
    const listed = await listing;
    assert.ok(listed.ok, listed.ok ? '' : listed.error.message);
    assert.equal(listed.value.items.length, COUNT);
    assert.equal(listed.value.items.filter(({ data }) => data?.['changed'] === 'yes').length, 50);
  });
});
