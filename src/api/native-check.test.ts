import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admit } from './admission.ts';
import type { Resource } from './meta.ts';

const metadata = { name: 'a', namespace: 'default' };
const of = (kind: string, fields: object, apiVersion = 'v1'): Resource => ({ apiVersion, kind, metadata, ...fields });

const refusals = (object: Resource, old?: Resource): readonly string[] => {
  const result = admit(old === undefined ? { operation: 'create', object } : { operation: 'update', object, old });
  return result.ok ? [] : result.causes.map((cause) => `${cause.field}: ${cause.message}`);
};

test('plain text of a Secret is folded into its data', () => {
  const result = admit({ operation: 'create', object: of('Secret', { data: { a: 'eA==' }, stringData: { token: 'tökén' } }) });
  assert.ok(result.ok);
  assert.deepEqual(result.object, {
    ...of('Secret', { type: 'Opaque', data: { a: 'eA==', token: Buffer.from('tökén').toString('base64') } }),
  });
});

test('the values of a Secret are never repeated in a refusal', () => {
  assert.deepEqual(refusals(of('Secret', { data: { token: 'hunter2!' } })), [
    'data.token: must be base64 (or use stringData for plain text)',
  ]);
  assert.deepEqual(refusals(of('Secret', { stringData: { token: 12 } })), ['stringData.token: must be a string']);
  assert.match(String(refusals(of('Secret', { data: { 'a/b': '' } }))), /^data: key "a\/b" must be/);
});

test('what is immutable does not change', () => {
  const old = of('Secret', { data: { a: 'eA==' }, immutable: true, type: 'Opaque' });
  assert.deepEqual(refusals(of('Secret', { data: { a: 'eQ==' }, immutable: true }), old), [
    'data: must not change, because immutable is true',
  ]);
  assert.deepEqual(refusals(of('Secret', { data: { a: 'eA==' } }), old), ['immutable: must not change, because immutable is true']);
  assert.deepEqual(refusals(old, old), []);
});

test('workloads have the shape that is read, and unknown fields are kept', () => {
  const deployment = (spec: unknown) => of('Deployment', { spec }, 'apps/v1');
  const good = deployment({
    replicas: 2,
    strategy: { type: 'Recreate' },
    template: { spec: { containers: [{ name: 'web', image: 'web:1' }] } },
  });
  const result = admit({ operation: 'create', object: good });
  assert.ok(result.ok);
  assert.deepEqual(result.object, good);
  assert.deepEqual(refusals(deployment('x')), ['spec: must be an object; got "x"']);
  assert.deepEqual(refusals(deployment({ replicas: -1 })), ['spec.replicas: must be a whole number of at least 0; got -1']);
  assert.deepEqual(refusals(deployment({ template: { spec: { containers: [{ image: 7 }] } } })), [
    'spec.template.spec.containers[0].name: must be a string; got nothing',
  ]);
  assert.match(String(refusals(deployment({ template: { spec: { containers: {} } } }))), /containers: must be a list/);
});
