import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { decodeProtobuf } from './protobuf-body.ts';

const varint = (value: number): number[] => (value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]);
const field = (number: number, content: string | readonly number[]): number[] => {
  const bytes = typeof content === 'string' ? [...Buffer.from(content)] : [...content];
  return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
};
const flag = (number: number, value: 0 | 1): number[] => [...varint(number * 8), value];
const pair = (key: string, value: string | readonly number[]): number[] => [...field(1, key), ...field(2, value)];
const body = (apiVersion: string, kind: string, raw: readonly number[]): Buffer =>
  Buffer.from([
    ...Buffer.from('k8s\0'),
    ...field(1, [...field(1, apiVersion), ...field(2, kind)]),
    ...field(2, raw),
    ...field(3, ''),
    ...field(4, ''),
  ]);

it('a Secret is read with its metadata; empty texts and timestamps count as absent', () => {
  const metadata = [
    ...field(1, 'tok'),
    ...field(2, ''),
    ...field(3, 'shop'),
    ...field(8, []),
    ...field(11, pair('a', 'b')),
    ...field(14, 'x/y'),
  ];
  const raw = [
    ...field(1, metadata),
    ...field(2, pair('token', [0xff, 0x00])),
    ...field(2, pair('user', 'ada')),
    ...field(3, 'Opaque'),
    ...flag(5, 1),
  ];
  const decoded = decodeProtobuf(body('v1', 'Secret', raw));
  assert.deepEqual(decoded, {
    ok: true,
    value: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'tok', namespace: 'shop', labels: { a: 'b' }, finalizers: ['x/y'] },
      data: { token: '/wA=', user: 'YWRh' },
      type: 'Opaque',
      immutable: true,
    },
  });
});

it('owners are read', () => {
  const owner = [...field(1, 'Job'), ...field(3, 'j'), ...field(4, 'u-1'), ...field(5, 'batch/v1'), ...flag(6, 1)];
  const decoded = decodeProtobuf(
    body('v1', 'ConfigMap', [...field(1, [...field(1, 'c'), ...field(13, owner)]), ...field(2, pair('k', 'v'.repeat(300)))]),
  );
  assert.ok(decoded.ok);
  assert.deepEqual(decoded.value['metadata'], {
    name: 'c',
    ownerReferences: [{ kind: 'Job', name: 'j', uid: 'u-1', apiVersion: 'batch/v1', controller: true }],
  });
});

it('other kinds, unknown fields and damaged bytes are refused, never dropped in silence', () => {
  const good = field(1, field(1, 'c'));
  for (const bytes of [
    body('apps/v1', 'Deployment', good),
    body('v1', 'ConfigMap', [...good, ...field(9, 'new')]),
    body('v1', 'ConfigMap', [...field(1, [...field(1, 'c'), ...field(17, 'managed')])]),
    body('v1', 'ConfigMap', [...good, 0x0a, 0x7f]),
    body('v1', 'toString', good),
    Buffer.from('{"kind":"ConfigMap"}'),
    Buffer.alloc(0),
  ]) {
    const decoded = decodeProtobuf(bytes);
    assert.ok(!decoded.ok);
    assert.equal(decoded.refusal.code, 415);
  }
});

it('no bytes make it throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom('Secret', 'ConfigMap', 'Namespace'), (noise, kind) => {
      decodeProtobuf(Buffer.from(noise));
      decodeProtobuf(body('v1', kind, [...noise]));
    }),
  );
});
