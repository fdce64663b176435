import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type StructuralSchema, shape } from './structural.ts';

const schema: StructuralSchema = {
  type: 'object',
  properties: {
    a: { type: 'string', default: 'x' },
    b: { type: 'string' },
    inner: { type: 'object', properties: { c: { type: 'integer', default: 1 } } },
    full: { type: 'object', default: { c: 5 }, properties: { c: { type: 'integer' } } },
    list: { type: 'array', items: { type: 'object', properties: { d: { type: 'string', default: 'y' } } } },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    kept: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

const run = (value: unknown) => {
  const unknown: string[] = [];
  return { value: shape(schema, value, { path: '', onUnknown: (path) => unknown.push(path) }), unknown };
};

test('defaults are filled in where the parent is there, and only there', () => {
  assert.deepEqual(run({}).value, { a: 'x', full: { c: 5 } });
  assert.deepEqual(run({ inner: {}, list: [{}, { d: 'z' }] }).value, {
    a: 'x',
    full: { c: 5 },
    inner: { c: 1 },
    list: [{ d: 'y' }, { d: 'z' }],
  });
});

test('a null gives way to the default, or is dropped, except as an entry of a list', () => {
  assert.deepEqual(run({ a: null, b: null, inner: { c: null }, map: { k: null, l: 'v' }, list: [null] }).value, {
    a: 'x',
    full: { c: 5 },
    inner: { c: 1 },
    map: { l: 'v' },
    list: [null],
  });
});

test('unknown fields are pruned and told, unless they are to be kept', () => {
  const { value, unknown } = run({ z: 1, inner: { z: 1 }, list: [{ z: 1 }], map: { z: '1' }, kept: { z: 1 } });
  assert.deepEqual(unknown, ['z', 'inner.z', 'list[0].z']);
  assert.deepEqual(value, { a: 'x', full: { c: 5 }, inner: { c: 1 }, list: [{ d: 'y' }], map: { z: '1' }, kept: { z: 1 } });
});

test('shaping twice changes nothing more, and never the argument', () => {
  fc.assert(
    fc.property(fc.object({ key: fc.constantFrom('a', 'b', 'inner', 'list', 'map', 'c', 'd', 'z', '__proto__'), maxDepth: 3 }), (value) => {
      const before = JSON.stringify(value);
      const once = run(value).value;
      assert.deepEqual(run(once).value, once);
      assert.deepEqual(run(once).unknown, []);
      assert.equal(JSON.stringify(value), before);
    }),
    { numRuns: 300 },
  );
});
