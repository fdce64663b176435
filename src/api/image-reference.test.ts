import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatImage, parseImage } from './image-reference.ts';

const read = (text: string) => {
  const parsed = parseImage(text);
  return parsed.ok ? parsed.image : parsed.message;
};

test('references of every form are taken apart', () => {
  assert.deepEqual(read('nginx'), { repository: 'nginx' });
  assert.deepEqual(read('nginx:1.29'), { repository: 'nginx', tag: '1.29' });
  assert.deepEqual(read('registry:5000/web'), { repository: 'registry:5000/web' });
  assert.deepEqual(read('registry:5000/web:v1'), { repository: 'registry:5000/web', tag: 'v1' });
  assert.deepEqual(read('ghcr.io/acme/web@sha256:ab12'), { repository: 'ghcr.io/acme/web', digest: 'sha256:ab12' });
  assert.deepEqual(read('[::1]:5000/a/b:v1@sha256:0'), { repository: '[::1]:5000/a/b', tag: 'v1', digest: 'sha256:0' });
});

test('what is no reference is refused with the part that is wrong', () => {
  assert.match(String(read('web:')), /image "web:" has the tag ""; accepted is/);
  assert.match(String(read('web@sha512:ab')), /has the digest "sha512:ab"/);
  assert.match(String(read('web@sha256:')), /has the digest "sha256:"/);
  assert.match(String(read('web@sha256:xyz')), /has the digest/);
  assert.match(String(read('web:v1:v2')), /has the tag "v1:v2"/);
  assert.match(String(read('web:v 1')), /has the tag "v 1"/);
  for (const text of ['', ':v1', '@sha256:ab', 'a//b', '/a', 'a/', 'https://a/b', 'a b', 'web\n', 'x'.repeat(2000)]) {
    assert.equal(parseImage(text).ok, false, JSON.stringify(text));
  }
});

test('formatting and parsing are each other inverse', () => {
  const name = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  const image = fc.record(
    {
      repository: fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/')),
      tag: name,
      digest: name.map(() => 'sha256:0af'),
    },
    { requiredKeys: ['repository'] },
  );
  fc.assert(fc.property(image, (value) => assert.deepEqual(read(formatImage(value)), { ...value })));
});
