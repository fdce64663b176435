import assert from 'node:assert/strict';
import { it } from 'node:test';
import { applyStrategicMerge } from './strategic-merge.ts';

const merged = (object: object, patch: object): unknown => {
  const result = applyStrategicMerge(object, patch);
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
};

it('maps are merged, null removes, and other lists are replaced', () => {
  const object = { data: { a: '1', b: '2' }, args: ['x', 'y'] };
  assert.deepEqual(merged(object, { data: { a: null, c: '3' }, args: ['z'] }), { data: { b: '2', c: '3' }, args: ['z'] });
  assert.deepEqual(object, { data: { a: '1', b: '2' }, args: ['x', 'y'] });
});

it('containers are merged by name, keep their order or take the one that is given', () => {
  const object = {
    containers: [
      { name: 'web', image: 'web:1', env: [{ name: 'A', value: '1' }] },
      { name: 'proxy', image: 'proxy:1' },
    ],
  };
  assert.deepEqual(
    merged(object, {
      containers: [
        { name: 'web', image: 'web:2', env: [{ name: 'B', value: '2' }] },
        { name: 'new', image: 'new:1' },
      ],
    }),
    {
      containers: [
        {
          name: 'web',
          image: 'web:2',
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '2' },
          ],
        },
        { name: 'proxy', image: 'proxy:1' },
        { name: 'new', image: 'new:1' },
      ],
    },
  );
  const reordered = merged(object, {
    '$setElementOrder/containers': [{ name: 'proxy' }, { name: 'web' }],
    containers: [{ name: 'proxy', image: 'proxy:2' }],
  });
  assert.deepEqual(reordered, { containers: [{ name: 'proxy', image: 'proxy:2' }, object.containers[0]] });
});

it('directives delete and replace elements, maps and texts', () => {
  const object = {
    containers: [{ name: 'a' }, { name: 'b' }],
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
    finalizers: ['x', 'y'],
  };
  assert.deepEqual(merged(object, { containers: [{ name: 'a', $patch: 'delete' }] }), { ...object, containers: [{ name: 'b' }] });
  assert.deepEqual(merged(object, { containers: [{ $patch: 'replace' }, { name: 'c' }] }), { ...object, containers: [{ name: 'c' }] });
  assert.deepEqual(merged(object, { strategy: { $retainKeys: ['type'], type: 'Recreate' } }), {
    ...object,
    strategy: { type: 'Recreate' },
  });
  assert.deepEqual(merged(object, { strategy: { $patch: 'replace', type: 'Recreate' } }), { ...object, strategy: { type: 'Recreate' } });
  assert.deepEqual(merged(object, { finalizers: ['z'] }), { ...object, finalizers: ['x', 'y', 'z'] });
  assert.deepEqual(merged(object, { '$deleteFromPrimitiveList/finalizers': ['x'] }), { ...object, finalizers: ['y'] });
});

it('a directive that is not known is refused', () => {
  for (const patch of [{ $teleport: 1 }, { data: { $patch: 'explode' } }, { list: [{ $x: 1 }] }, [], 'text']) {
    const result = applyStrategicMerge({}, patch);
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 400);
  }
});
