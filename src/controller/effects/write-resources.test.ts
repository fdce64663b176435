import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeScene } from '../../../test/fixtures/scene.ts';
import { bundle, graphOf, ownedBy, stepOf } from '../../../test/fixtures/worlds.ts';
import type { AuditEvent } from '../../api/kinds/audit-event.ts';
import { API_VERSION } from '../../api/meta.ts';
import type { ResourceEffect } from '../../core/effect.ts';
import type { Store, StoreErrorCode } from '../../ports/store.ts';
import { writeResources } from './write-resources.ts';

const b = bundle('b', { phase: 'Promoting', sequence: 1 });
const graph = graphOf(b);
const { resourceVersion: _version, ...metadata } = stepOf(graph, 'test').metadata;
/** As the Graph's decision makes it: without a version. */
const step = { ...stepOf(graph, 'test'), metadata };
const event: AuditEvent = { apiVersion: API_VERSION, kind: 'AuditEvent', metadata: { name: 'e', namespace: 'default' } };

const creating = (object: Extract<ResourceEffect, { kind: 'CreateResource' }>['object']): ResourceEffect => ({
  kind: 'CreateResource',
  object,
});
const refusal = (code: StoreErrorCode) => ({ ok: false, error: { code, message: 'no' } }) as const;

test('what exists already and belongs to the same owner, or to nobody, was made before', async () => {
  const { store } = makeScene([b, graph, step, event]);
  assert.equal(await writeResources(store, [creating(step), creating(event)]), undefined);
});

test('a name that something else holds is a refusal: what was to be made does not exist', async () => {
  const former = { ...graph, metadata: { ...graph.metadata, uid: 'former' } };
  const { ownerReferences: _, ...bare } = step.metadata;
  for (const taken of [ownedBy(former, step), { ...step, metadata: bare }]) {
    const { store } = makeScene([b, graph, taken]);
    assert.equal((await writeResources(store, [creating(step)]))?.code, 'AlreadyExists');
  }
});

test('whose the name is, is asked of the latest; when that cannot be told, the write has failed', async () => {
  const scene = makeScene([b, graph, step]);
  await writeResources(scene.store, [creating(step)]);
  assert.deepEqual(
    scene.reads.map(({ kind, fresh }) => [kind, fresh]),
    [['PromotionStep', true]],
  );
  const away: Store = { ...scene.store, get: async () => refusal('Unavailable') };
  assert.equal((await writeResources(away, [creating(step)]))?.code, 'Unavailable');
  const gone: Store = { ...scene.store, get: async () => refusal('NotFound') };
  assert.equal((await writeResources(gone, [creating(step)]))?.code, 'AlreadyExists', 'it went meanwhile: the next look makes it');
});

test('a deletion is of that very object, and of that version when one is given', async () => {
  const ref = { kind: 'PromotionStep', namespace: 'default', name: 'b.test' } as const;
  const scene = makeScene([b, graph, step]);
  const deleting = (uid: string, resourceVersion?: string): Promise<{ readonly code: string } | undefined> =>
    writeResources(scene.store, [{ kind: 'DeleteResource', ref, uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) }]);
  const read = await scene.store.get('PromotionStep', 'default', 'b.test');
  assert.ok(read.ok);
  const { uid = '', resourceVersion = '' } = read.value.metadata;
  assert.equal((await deleting('another'))?.code, 'Conflict');
  assert.equal((await deleting(uid, '1'))?.code, 'Conflict');
  assert.equal(await deleting(uid, resourceVersion), undefined);
  assert.equal(await deleting(uid, resourceVersion), undefined, 'what is gone already is deleted');
});

test('a spec and a status are written against the version that was read', async () => {
  const scene = makeScene([b, graph]);
  const read = await scene.store.get('Graph', 'default', 'b');
  assert.ok(read.ok);
  const shorter = { ...read.value, spec: { pipeline: 'web', bundle: 'b', nodes: [] } };
  assert.equal(await writeResources(scene.store, [{ kind: 'UpdateResource', object: shorter }]), undefined);
  const status = { ...read.value, status: { observedGeneration: 1 } };
  assert.equal((await writeResources(scene.store, [{ kind: 'UpdateStatus', object: status }]))?.code, 'Conflict');
  assert.equal((await writeResources(scene.store, [{ kind: 'UpdateResource', object: shorter }]))?.code, 'Conflict');
  const after = await scene.store.get('Graph', 'default', 'b');
  assert.deepEqual(after.ok && [after.value.spec?.nodes, after.value.status], [[], undefined]);
});

/** A store that notes what it is asked, in order, and answers when it is told to. */
const slow = () => {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const answer = <T>(what: string, value: T): Promise<T> => {
    asked.push(what);
    return new Promise((resolve) => void waiting.push(() => resolve(value)));
  };
  const scene = makeScene();
  const store: Store = {
    ...scene.store,
    create: (object) => answer(`create ${object.metadata.name}`, { ok: true, object, warnings: [] }),
    updateStatus: (object) =>
      answer(`status ${object.metadata.name}`, object.metadata.name === 'bad' ? refusal('Conflict') : { ok: true, object, warnings: [] }),
  };
  const release = async (): Promise<void> => {
    for (const resolve of waiting.splice(0)) resolve();
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  return { store, asked, release };
};

const named = (name: string): AuditEvent => ({ ...event, metadata: { name, namespace: 'default' } });

test('creations in a row go out together; everything else waits until what stands before it is durable', async () => {
  const { store, asked, release } = slow();
  const writing = writeResources(store, [
    { kind: 'UpdateStatus', object: b },
    creating(named('e1')),
    creating(named('e2')),
    { kind: 'UpdateStatus', object: graph },
  ]);
  assert.deepEqual(asked.splice(0), ['status b']);
  await release();
  assert.deepEqual(asked.splice(0), ['create e1', 'create e2']);
  await release();
  assert.deepEqual(asked.splice(0), ['status b']);
  await release();
  assert.equal(await writing, undefined);
});

test('the first failure ends the writes: an event is not made for a status that was refused', async () => {
  const { store, asked, release } = slow();
  const bad = { ...b, metadata: { ...b.metadata, name: 'bad' } };
  const writing = writeResources(store, [{ kind: 'UpdateStatus', object: bad }, creating(named('e1'))]);
  await release();
  assert.equal((await writing)?.code, 'Conflict');
  assert.deepEqual(asked, ['status bad']);
});

test('nothing to write is no failure', async () => {
  assert.equal(await writeResources(makeScene().store, []), undefined);
});
