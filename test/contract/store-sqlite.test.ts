import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { openSqliteStore } from '../../src/adapters/store-sqlite/index.ts';
import { admit } from '../../src/api/admission.ts';
import type { Admit } from '../../src/api/admit.ts';
import { manualClock } from './manual-clock.ts';
import { type MakeStore, storeContract } from './store.ts';
import { configMap, eventually, isGone, ownedBy, value, versionNow, watching, written } from './store-fixtures.ts';

const passAll: Admit = ({ object }) => ({ ok: true, object, warnings: [] });

const storeWith =
  (rules: Admit): MakeStore =>
  async (settings = {}) => {
    const directory = mkdtempSync(join(tmpdir(), 'promoter-store-'));
    const clock = manualClock(Date.parse('2026-02-03T04:05:06.789Z'));
    const opened = await openSqliteStore({ directory, clock, admit: rules, ...settings });
    if (opened.outcome !== 'done') throw new Error(opened.reason.message);
    const store = opened.value;
    return {
      store,
      advance: async (milliseconds) => clock.advance(milliseconds),
      [Symbol.asyncDispose]: async () => {
        await store.close();
        rmSync(directory, { recursive: true, force: true });
      },
    };
  };

storeContract('SQLite', storeWith(passAll), { bounded: true });
storeContract('SQLite with admission', storeWith(admit), { bounded: true });

it('SQLite: a deletion in the foreground waits for every generation, the youngest first', async () => {
  await using under = await storeWith(passAll)();
  const { store } = under;
  const owner = written(await store.create(configMap('owner')));
  const child = written(await store.create(configMap('child', ownedBy(owner, { blockOwnerDeletion: true }))));
  const held = { ...ownedBy(child, { blockOwnerDeletion: true }), finalizers: ['example.com/one'] };
  written(await store.create(configMap('grandchild', held)));
  using events = watching(store, 'ConfigMap', { resourceVersion: await versionNow(store) });
  written(await store.delete('ConfigMap', 'shop', 'owner', { propagation: 'foreground' }));
  assert.deepEqual(await events.take(3), ['MODIFIED owner', 'MODIFIED child', 'MODIFIED grandchild']);
  const grandchild = value(await store.get('ConfigMap', 'shop', 'grandchild'));
  written(await store.update({ ...grandchild, metadata: { ...grandchild.metadata, finalizers: [] } }));
  await eventually('the owner is gone', () => isGone(store, 'ConfigMap', 'owner'));
  assert.deepEqual(await events.take(3), ['DELETED grandchild', 'DELETED child', 'DELETED owner']);
});
