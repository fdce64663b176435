import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Resource } from './meta.ts';
import { concludeUpdate, prepareCreate, prepareDelete, prepareUpdate, sameJson, selectedChange, timestampOf } from './store-semantics.ts';

const NOW = Date.parse('2026-02-03T04:05:06.789Z');
const fresh = { uid: '01234567-89ab-4cde-8f01-23456789abcd', now: NOW };

const given = (metadata: Partial<Resource['metadata']> = {}, more: object = {}): Resource => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a', namespace: 'n', ...metadata },
  ...more,
});

const created = (metadata: Partial<Resource['metadata']> = {}, more: object = {}): Resource => {
  const prepared = prepareCreate(given(metadata, more), fresh);
  assert.ok(prepared.ok);
  return { ...prepared.object, metadata: { ...prepared.object.metadata, resourceVersion: '5' } };
};

describe('a new object', () => {
  it('takes uid and time from the arguments and cuts the time to seconds', () => {
    assert.deepEqual(created().metadata, {
      name: 'a',
      namespace: 'n',
      uid: fresh.uid,
      creationTimestamp: '2026-02-03T04:05:06Z',
      generation: 1,
      resourceVersion: '5',
    });
  });

  it('gets the same generated name for the same uid, within the length of a name', () => {
    const nameFor = (generateName: string, uid: string) => {
      const prepared = prepareCreate(given({ name: '', generateName }), { uid, now: NOW });
      assert.ok(prepared.ok);
      return prepared.object.metadata.name;
    };
    assert.equal(nameFor('x-', fresh.uid), nameFor('x-', fresh.uid));
    assert.notEqual(nameFor('x-', fresh.uid), nameFor('x-', `${fresh.uid.slice(0, -1)}f`));
    assert.equal(nameFor('y'.repeat(200), fresh.uid).length, 63);
  });

  it('goes to the namespace `default` when it names none', () => {
    const prepared = prepareCreate({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } }, fresh);
    assert.equal(prepared.ok && prepared.object.metadata.namespace, 'default');
  });

  it('is refused when nobody serves it', () => {
    for (const wrong of [{ kind: 'Pod' }, { kind: 'constructor' }, { apiVersion: 'apps/v2' }]) {
      const prepared = prepareCreate({ ...given(), ...wrong }, fresh);
      assert.equal(!prepared.ok && prepared.error.code, 'BadRequest', JSON.stringify(wrong));
    }
  });

  it('is refused, not mangled, when its metadata has the wrong shape', () => {
    for (const field of ['name', 'namespace', 'labels', 'annotations', 'finalizers', 'ownerReferences', 'generateName']) {
      for (const value of [5, true, 'Text With Spaces', [1], { a: 1 }]) {
        const metadata: Resource['metadata'] = { name: 'a', namespace: 'n' };
        Reflect.set(metadata, field, value);
        const prepared = prepareCreate({ ...given(), metadata }, fresh);
        assert.equal(!prepared.ok && prepared.error.code, 'Invalid', `${field} ${JSON.stringify(value)}`);
      }
    }
  });
});

describe('an update', () => {
  it('counts a generation for content, and none for metadata, status or the order of keys', () => {
    const old = created({}, { spec: { replicas: 1, paused: false } });
    const generationAfter = (change: object): number | undefined => {
      const prepared = prepareUpdate(old, { ...old, ...change });
      assert.ok(prepared.ok);
      const conclusion = concludeUpdate(old, prepared.object);
      return conclusion.change === 'none' ? undefined : conclusion.object.metadata.generation;
    };
    assert.equal(generationAfter({ spec: { replicas: 2, paused: false } }), 2);
    assert.equal(generationAfter({ metadata: { ...old.metadata, annotations: { a: 'b' } } }), 1);
    assert.equal(generationAfter({ status: { replicas: 2 } }), undefined);
    assert.equal(generationAfter({ spec: { paused: false, replicas: 1 } }), undefined);
    assert.equal(generationAfter({ metadata: { ...old.metadata, labels: {}, finalizers: [] } }), undefined);
  });

  it('keeps the status also when it is absent', () => {
    const prepared = prepareUpdate(created(), given({}, { status: { replicas: 2 } }));
    assert.ok(prepared.ok);
    assert.equal('status' in prepared.object, false);
  });

  it('cannot change the type of a Secret', () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'n' } };
    const stored = prepareCreate({ ...secret, ...{ type: 'a/b' } }, fresh);
    assert.ok(stored.ok);
    const prepared = prepareUpdate(stored.object, { ...secret, ...{ type: 'c/d' } });
    assert.deepEqual(!prepared.ok && prepared.error.causes?.map(({ field }) => field), ['type']);
  });
});

describe('a deletion', () => {
  it('is at once without finalizers, else a mark in whole seconds', () => {
    const free = prepareDelete(created(), {}, NOW);
    assert.equal(free.ok && free.conclusion.change, 'deleted');
    const held = prepareDelete(created({ finalizers: ['a/b'] }), {}, NOW);
    assert.ok(held.ok && held.conclusion.change === 'written');
    assert.equal(held.conclusion.object.metadata.deletionTimestamp, '2026-02-03T04:05:06Z');
    assert.equal(held.conclusion.object.metadata.generation, 1);
    const again = prepareDelete(held.conclusion.object, {}, NOW + 60_000);
    assert.equal(again.ok && again.conclusion.change, 'none');
  });

  it('can turn from foreground to background', () => {
    const foreground = prepareDelete(created(), { propagation: 'foreground' }, NOW);
    assert.ok(foreground.ok && foreground.conclusion.change === 'written');
    const waiting = foreground.conclusion.object;
    const undecided = prepareDelete(waiting, {}, NOW);
    assert.equal(undecided.ok && undecided.conclusion.change, 'none');
    const background = prepareDelete(waiting, { propagation: 'background' }, NOW);
    assert.equal(background.ok && background.conclusion.change, 'deleted');
  });
});

describe('a change under a selector', () => {
  it('is what the selector sees of it', () => {
    const table = [
      ['ADDED', false, true, 'ADDED'],
      ['ADDED', false, false, undefined],
      ['MODIFIED', true, true, 'MODIFIED'],
      ['MODIFIED', false, true, 'ADDED'],
      ['MODIFIED', true, false, 'DELETED'],
      ['MODIFIED', false, false, undefined],
      ['DELETED', true, true, 'DELETED'],
      ['DELETED', false, false, undefined],
    ] as const;
    for (const [type, before, after, seen] of table) assert.equal(selectedChange(type, { before, after }), seen);
  });
});

describe('JSON values', () => {
  it('are the same when they say the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        assert.ok(sameJson(left, JSON.parse(JSON.stringify(left))));
        assert.equal(sameJson(left, right), sameJson(right, left));
      }),
    );
    assert.ok(sameJson({ a: 1, b: undefined }, { a: 1 }));
    for (const [left, right] of [
      [{}, []],
      [null, {}],
      [[1], { 0: 1 }],
      [{ a: 1 }, { a: '1' }],
      [{ a: 1 }, { b: 1 }],
      [[1, 2], [1]],
    ]) {
      assert.equal(sameJson(left, right), false);
    }
  });

  it('times are cut to the second', () => {
    assert.equal(timestampOf(Date.parse('1969-12-31T23:59:59.001Z')), '1969-12-31T23:59:59Z');
    assert.equal(timestampOf(NOW), '2026-02-03T04:05:06Z');
  });
});
