import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admit } from './admission.ts';
import type { Resource } from './meta.ts';

const refusals = (metadata: unknown, kind = 'ConfigMap'): readonly string[] => {
  const result = admit({ operation: 'create', object: { apiVersion: 'v1', kind, metadata } as Resource });
  return result.ok ? [] : result.causes.map((cause) => `${cause.field}: ${cause.message}`);
};

const named = (more: object) => ({ name: 'a', namespace: 'default', ...more });

test('a resource needs a name that Kubernetes takes, or the beginning of one', () => {
  assert.deepEqual(refusals({}), ['metadata.name: must not be empty, unless metadata.generateName is given']);
  assert.deepEqual(refusals({ generateName: 'web-' }), []);
  assert.deepEqual(refusals({ generateName: `${'x'.repeat(300)}` }), []);
  assert.match(String(refusals({ generateName: 'Web-' })), /^metadata.generateName: must be the beginning of a name.*got "Web-"$/);
  for (const name of ['A', 'a_b', 'a..b', '-a', 'x'.repeat(254), 7, 'a\n'])
    assert.match(String(refusals({ name })), /^metadata.name: must be at most 253/);
  for (const name of ['a', 'a.b-c', '1', 'x'.repeat(253)]) assert.deepEqual(refusals({ name }), []);
});

test('namespaces are DNS labels, and kinds without one have none', () => {
  assert.match(String(refusals({ name: 'a', namespace: 'a.b' })), /^metadata.namespace: must be a DNS label/);
  assert.deepEqual(refusals({ name: 'team' }, 'Namespace'), []);
  assert.match(String(refusals({ name: 'a.b' }, 'Namespace')), /^metadata.name: must be a DNS label/);
  assert.match(
    String(refusals({ name: 'a', namespace: 'b' }, 'Namespace')),
    /^metadata.namespace: must be absent, because a Namespace belongs to no namespace/,
  );
});

test('labels and annotations follow the syntax of Kubernetes, but a gate may name several environments', () => {
  const label = (key: string, value: unknown) => refusals(named({ labels: { [key]: value } }));
  assert.deepEqual(label('app.kubernetes.io/name', 'web_1.2'), []);
  assert.deepEqual(label('a', ''), []);
  assert.match(String(label('a b', 'x')), /^metadata.labels: key "a b" must be/);
  assert.match(String(label('A_/x', 'x')), /^metadata.labels: key "A_\/x"/);
  assert.match(String(label('a', 'x,y')), /^metadata.labels.a: must be a label value.*got "x,y"$/);
  assert.match(String(label('a', 'x'.repeat(64))), /^metadata.labels.a/);
  assert.match(String(label('a', true)), /^metadata.labels.a: must be a string; got true$/);
  assert.deepEqual(label('promoter.io/applies-to', 'staging,prod'), []);
  assert.deepEqual(label('promoter.io/applies-to', 'staging, prod'), []);
  assert.match(String(label('promoter.io/applies-to', 'a;b')), /or several joined by commas; got "a;b"$/);
  assert.deepEqual(refusals(named({ labels: [] })), ['metadata.labels: must be an object; got a list of 0']);
  assert.deepEqual(refusals(named({ labels: null, annotations: { 'x/y': 'any text\n' } })), []);
  assert.match(String(refusals(named({ annotations: { x: 'y'.repeat(300_000) } }))), /^metadata.annotations: must be at most 262144/);
});

test('owners and finalizers are complete', () => {
  assert.deepEqual(refusals(named({ ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 'a' }] })), [
    'metadata.ownerReferences[0].uid: must be a string that is not empty; got nothing',
  ]);
  assert.match(String(refusals(named({ ownerReferences: {} }))), /must be a list/);
  assert.deepEqual(refusals(named({ finalizers: ['promoter.io/x', 'foregroundDeletion'] })), []);
  assert.match(String(refusals(named({ finalizers: [7] }))), /^metadata.finalizers\[0\]/);
});

test('unknown metadata is pruned with a warning, what only other servers know without one', () => {
  const metadata = { name: 'a', selfLink: '/x', managedFields: [], clusterName: 'c', uid: 'u' };
  const result = admit({ operation: 'create', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata } as Resource });
  assert.ok(result.ok);
  assert.deepEqual(result.warnings, ['unknown field "metadata.clusterName"']);
  assert.deepEqual(result.object.metadata, { name: 'a', uid: 'u' });
});
