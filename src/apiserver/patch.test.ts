import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { applyJsonPatch, applyMergePatch } from './patch.ts';

describe('a merge patch', () => {
  // The examples of RFC 7396, appendix A, whose target and patch are objects.
  const examples: readonly [object, object, object][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of examples) {
    it(`${JSON.stringify(patch)} over ${JSON.stringify(target)} gives ${JSON.stringify(result)}`, () => {
      assert.deepEqual(applyMergePatch(target, patch), { ok: true, value: result });
    });
  }

  it('leaves the target alone and reaches no prototype', () => {
    const target = { a: { b: 1 } };
    const patched = applyMergePatch(target, JSON.parse('{"a":{"c":2},"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}'));
    assert.deepEqual(target, { a: { b: 1 } });
    assert.ok(patched.ok);
    assert.equal(Reflect.get({}, 'x'), undefined);
    assert.equal(Reflect.get(patched.value, 'x'), undefined);
  });
});

describe('a JSON patch', () => {
  const applied = (object: object, patch: unknown) => {
    const result = applyJsonPatch(object, patch);
    return result.ok ? result.value : result.refusal.code;
  };

  it('adds, replaces, removes, moves, copies and tests', () => {
    assert.deepEqual(applied({ a: [1, 2] }, [{ op: 'add', path: '/a/-', value: 3 }]), { a: [1, 2, 3] });
    assert.deepEqual(applied({ a: [1, 2] }, [{ op: 'add', path: '/a/1', value: 9 }]), { a: [1, 9, 2] });
    assert.deepEqual(
      applied({ a: { b: 1 } }, [
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'replace', path: '/c/b', value: 2 },
      ]),
      { a: { b: 1 }, c: { b: 2 } },
    );
    assert.deepEqual(
      applied({ a: 1 }, [
        { op: 'move', from: '/a', path: '/b' },
        { op: 'test', path: '/b', value: 1 },
      ]),
      { b: 1 },
    );
    assert.deepEqual(applied({ a: 1, b: 2 }, [{ op: 'remove', path: '/a' }]), { b: 2 });
    assert.deepEqual(applied({ a: null }, [{ op: 'test', path: '/a', value: null }]), { a: null });
  });

  it('that does not fit is a 422, that is malformed a 400', () => {
    for (const patch of [
      [{ op: 'remove', path: '/b' }],
      [{ op: 'replace', path: '/b', value: 1 }],
      [{ op: 'test', path: '/a', value: 2 }],
      [{ op: 'add', path: '/b/c', value: 1 }],
      [{ op: 'copy', from: '/b', path: '/c' }],
      [{ op: 'add', path: '', value: {} }],
      [{ op: 'move', from: '/a', path: '/a/b' }],
    ]) {
      assert.equal(applied({ a: 1 }, patch), 422, JSON.stringify(patch));
    }
    for (const patch of [
      null,
      {},
      [null],
      [{}],
      [{ op: 'add', path: '/a' }],
      [{ op: 'add', path: 'a', value: 1 }],
      [{ op: 'add', path: '/~2', value: 1 }],
      [{ op: 'toString', path: '/a' }],
    ]) {
      assert.equal(applied({ a: 1 }, patch), 400, JSON.stringify(patch));
    }
  });

  it('reaches nothing that objects inherit', () => {
    for (const path of [
      '/__proto__/x',
      '/constructor/x',
      '/constructor/prototype/x',
      '/toString/x',
      '/a/__proto__/x',
      '/a/constructor/prototype/x',
    ]) {
      assert.equal(applied({ a: {} }, [{ op: 'add', path, value: 1 }]), 422, path);
    }
    assert.equal(Reflect.get({}, 'x'), undefined);
    assert.equal(Reflect.get(Object, 'x'), undefined);
    assert.equal(Reflect.get(Object.prototype.toString, 'x'), undefined);
  });

  it('cannot grow an object without bound', () => {
    const copies = Array.from({ length: 64 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/k${index}` }));
    assert.equal(applied({ a: { text: 'x'.repeat(1000) } }, copies), 413);
    assert.equal(applied({}, Array(10_001).fill({ op: 'test', path: '/a', value: 1 })), 413);
  });

  it('never throws, and leaves the object alone', () => {
    const pointer = fc
      .array(fc.constantFrom('a', 'b', '0', '-', '1', '', 'toString', '__proto__', 'length'), { maxLength: 4 })
      .map((tokens) => tokens.map((token) => `/${token}`).join(''));
    const operation = fc.record({
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
      path: pointer,
      from: pointer,
      value: fc.jsonValue({ maxDepth: 2 }),
    });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 6 }), (patch) => {
        const object = { a: [{ b: 1 }, 2], b: { a: 'x' } };
        const before = JSON.stringify(object);
        applyJsonPatch(object, patch);
        assert.equal(JSON.stringify(object), before);
      }),
      { numRuns: 500 },
    );
  });
});
