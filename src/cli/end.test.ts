import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeStoreError } from './end.ts';

test('a refusal is whole sentences with each field once', () => {
  const message = 'no answer from the server at https://127.0.0.1:1: its certificate has expired';
  assert.equal(
    describeStoreError({ code: 'Unavailable', message }),
    `${message}. If that is not the server you mean, name another one with --kubeconfig.`,
  );
  assert.match(describeStoreError({ code: 'Unavailable', message: 'is the controller running?' }), /^is the controller running\? If /);
  const causes = [
    { field: 'spec.a', message: 'must be a string' },
    { field: 'spec.b', message: 'is missing' },
  ];
  assert.equal(
    describeStoreError({ code: 'Invalid', message: 'spec.a: must be a string', causes }),
    'spec.a: must be a string (spec.b: is missing)',
  );
});
