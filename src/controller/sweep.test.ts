import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { manualClock } from '../../test/contract/manual-clock.ts';
import { makeScene, type Scene } from '../../test/fixtures/scene.ts';
import { NOW } from '../../test/fixtures/worlds.ts';
import type { AuditEvent } from '../api/kinds/audit-event.ts';
import { API_VERSION } from '../api/meta.ts';
import type { Store } from '../ports/store.ts';
import { startSweep, sweepAudits } from './sweep.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;

const event = (name: string, ageMs: number, namespace = 'default'): AuditEvent => ({
  apiVersion: API_VERSION,
  kind: 'AuditEvent',
  metadata: { name, namespace, uid: `${namespace}-${name}` },
  spec: { timestamp: new Date(NOW - ageMs).toISOString() },
});

const portsOf = (scene: Scene, store: Store = scene.store) => {
  const warnings: string[] = [];
  const errors: string[] = [];
  const log = {
    debug: () => {},
    info: () => {},
    warn: (message: string) => void warnings.push(message),
    error: (message: string) => void errors.push(message),
  };
  return { store, clock: manualClock(NOW), log, auditRetentionMs: 90 * DAY, warnings, errors };
};

const left = async ({ store }: Scene): Promise<readonly string[]> => {
  const read = await store.list('AuditEvent');
  return read.ok ? read.value.items.map(({ metadata }) => metadata.name) : [];
};

test('events past the retention go, in every namespace and beyond the first page', async () => {
  const old = Array.from({ length: 700 }, (_, index) => event(`old-${index}`, 91 * DAY, index % 2 ? 'apps' : 'default'));
  const scene = makeScene([...old, event('young', 89 * DAY), event('zz-old', 90 * DAY)]);
  await sweepAudits(portsOf(scene));
  assert.deepEqual(await left(scene), ['young']);
});

test('a list or a deletion that is refused ends the sweep with a warning; the next one goes on', async () => {
  const scene = makeScene([event('a', 91 * DAY), event('b', 91 * DAY)]);
  const unavailable = { ok: false, error: { code: 'Unavailable', message: 'no' } } as const;
  const unlisted = portsOf(scene, { ...scene.store, list: async () => unavailable });
  await sweepAudits(unlisted);
  const kept = portsOf(scene, { ...scene.store, delete: async () => unavailable });
  await sweepAudits(kept);
  assert.deepEqual([unlisted.warnings.length, kept.warnings.length, (await left(scene)).length], [1, 1, 2]);
  await sweepAudits(portsOf(scene));
  assert.deepEqual(await left(scene), []);
});

test('one event that cannot be deleted does not keep those behind it', async () => {
  const scene = makeScene([event('a', 91 * DAY), event('b', 91 * DAY)]);
  const forbidden = { ok: false, error: { code: 'Forbidden', message: 'no' } } as const;
  const remove: Store['delete'] = async (kind, namespace, name, options) =>
    name === 'a' ? forbidden : scene.store.delete(kind, namespace, name, options);
  const ports = portsOf(scene, { ...scene.store, delete: remove });
  await sweepAudits(ports);
  assert.deepEqual([await left(scene), ports.warnings.length], [['a'], 1]);
});

test('an event that was replaced meanwhile is not taken for the old one', async () => {
  const scene = makeScene([event('a', 91 * DAY)]);
  const list: Store['list'] = async (kind, options) => {
    const page = await scene.store.list(kind, options);
    scene.put({ ...event('a', 0), metadata: { ...event('a', 0).metadata, uid: 'another' } });
    return page;
  };
  await sweepAudits(portsOf(scene, { ...scene.store, list }));
  assert.deepEqual(await left(scene), ['a']);
});

/** Moves on, and lets the sweep that fell due end. */
const pass = async (ports: ReturnType<typeof portsOf>, milliseconds: number): Promise<void> => {
  ports.clock.advance(milliseconds);
  for (let step = 0; step < 5; step += 1) await turn();
};

test('a sweep comes soon after the start and every hour, until it is stopped', async () => {
  const scene = makeScene([event('first', 91 * DAY)]);
  const ports = portsOf(scene);
  const stop = startSweep(ports);
  await pass(ports, 60_000);
  assert.deepEqual(await left(scene), [], 'a controller that is restarted more than once an hour sweeps, too');
  scene.put(event('second', 91 * DAY));
  await pass(ports, HOUR - 1);
  assert.deepEqual(await left(scene), ['second']);
  await pass(ports, 1);
  assert.deepEqual(await left(scene), []);
  scene.put(event('third', 91 * DAY));
  stop();
  await pass(ports, 10 * HOUR);
  assert.deepEqual(await left(scene), ['third']);
});

test('a sweep that ends by a bug is logged and is not the last one', async () => {
  const scene = makeScene([event('a', 91 * DAY)]);
  let calls = 0;
  const list: Store['list'] = (kind, options) => {
    calls += 1;
    return calls === 1 ? Promise.reject(new TypeError('a bug')) : scene.store.list(kind, options);
  };
  const ports = portsOf(scene, { ...scene.store, list });
  const stop = startSweep(ports);
  await pass(ports, 60_000);
  assert.equal(ports.errors.length, 1);
  await pass(ports, HOUR);
  assert.deepEqual(await left(scene), []);
  stop();
});

test('a stop while a sweep is under way leaves no other behind it', async () => {
  const scene = makeScene([event('a', 91 * DAY)]);
  let lists = 0;
  const list: Store['list'] = (kind, options) => {
    lists += 1;
    return scene.store.list(kind, options);
  };
  const ports = portsOf(scene, { ...scene.store, list });
  const stop = startSweep(ports);
  ports.clock.advance(60_000);
  stop();
  await pass(ports, 0);
  await pass(ports, 5 * HOUR);
  assert.equal(lists, 1);
});
