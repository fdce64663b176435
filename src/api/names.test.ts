import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  auditEventName,
  bundleName,
  bundleVersion,
  childName,
  isDnsLabel,
  isDnsSubdomain,
  isLabelValue,
  isValidBranchName,
  labelValue,
  promotionBranch,
  runId,
} from './names.ts';

test('the version comes from the first image, the commit, or the field', () => {
  assert.equal(bundleVersion({ type: 'image', images: [{ repository: 'web', tag: '1.29' }] }), '1.29');
  assert.equal(bundleVersion({ images: [{ repository: 'web', digest: 'sha256:0123456789ABCDEF' }] }), '0123456789ab');
  assert.equal(bundleVersion({ images: [{ repository: 'web', tag: '1', digest: 'sha256:ff' }] }), '1');
  assert.equal(bundleVersion({ type: 'config', configRef: { commitSHA: '0123456789abcdef' } }), '01234567');
  assert.equal(
    bundleVersion({ type: 'mixed', images: [{ repository: 'web', tag: 'v1' }], configRef: { commitSHA: '0123456789' } }),
    'v1-01234567',
  );
  assert.equal(bundleVersion({ type: 'image', images: [{ repository: 'web', tag: '1' }], version: 'release-7' }), 'release-7');
  assert.equal(bundleVersion({}), '');
});

test('two images give a version that names all of them, whatever their order behind the first', () => {
  const one = { repository: 'web', tag: 'v1' };
  const two = { repository: 'api', tag: 'v1' };
  const version = bundleVersion({ images: [one, two] });
  assert.match(version, /^v1-[0-9a-f]{6}$/);
  assert.equal(bundleVersion({ images: [two, one] }), version);
  assert.notEqual(bundleVersion({ images: [one, { ...two, tag: 'v2' }] }), version);
});

test('a Bundle name stays as it is when it is valid and gets a hash when it is not', () => {
  assert.deepEqual(bundleName('web', '1.29.0'), { name: 'web-1.29.0', changed: false });
  const changed = bundleName('web', 'Feature_X');
  assert.match(changed.name, /^web-feature-x-[0-9a-f]{8}$/);
  assert.equal(changed.changed, true);
  assert.notEqual(bundleName('web', 'feature-x').name, changed.name);
  assert.ok(bundleName('web', 'v'.repeat(300)).name.length <= 189);
  assert.match(bundleName('web', '1.29.0', 'config').name, /^web-1\.29\.0-[0-9a-f]{8}$/);
});

test('made names are valid, deterministic and differ when what they are made from differs', () => {
  const part = fc.string({ minLength: 1, maxLength: 300, unit: 'binary' });
  fc.assert(
    fc.property(part, part, (one, two) => {
      const made = [bundleName(one, two).name, childName(one, two), auditEventName(one, two), bundleName(one, two, 'config').name];
      for (const name of made) assert.ok(isDnsSubdomain(name), name);
      assert.deepEqual(made, [
        bundleName(one, two).name,
        childName(one, two),
        auditEventName(one, two),
        bundleName(one, two, 'config').name,
      ]);
      assert.ok(isLabelValue(labelValue(one)), labelValue(one));
      assert.ok(isValidBranchName(promotionBranch('web', one, 'prod')), promotionBranch('web', one, 'prod'));
      if (one !== two) {
        assert.notEqual(labelValue(one), labelValue(two));
        assert.notEqual(promotionBranch('web', one, 'prod'), promotionBranch('web', two, 'prod'));
        assert.notEqual(auditEventName(one, two), auditEventName(two, one));
      }
    }),
    { numRuns: 60 },
  );
});

test('label values that Kubernetes takes are left alone', () => {
  for (const text of ['', 'web', 'A_b.c-1', 'x'.repeat(63)]) assert.equal(labelValue(text), text);
  assert.equal(labelValue('x'.repeat(64)).length, 63);
  assert.match(labelValue('a b'), /^a-b-[0-9a-f]{8}$/);
});

test('the identity of a run and its branch are what the specification says', () => {
  assert.equal(runId('uid-1', 'prod', 2), 'uid-1/prod/2');
  assert.equal(promotionBranch('web', '1.29.0', 'prod'), 'promoter/web-1.29.0/prod');
  assert.match(promotionBranch('web', '1..2', 'prod'), /^promoter\/web-1\.2-[0-9a-f]{8}\/prod$/);
});

test('branch names follow the rules of git', () => {
  for (const name of ['main', 'env/prod', 'feature/a.b', 'a@b', 'x-1', 'ünï']) assert.ok(isValidBranchName(name), name);
  for (const name of [
    '',
    '@',
    'HEAD',
    '-a',
    '/a',
    'a/',
    'a//b',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[',
    'a\\b',
    'a@{1}',
    'a.',
    '.a',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a\tb',
    'a\x7f',
    'x'.repeat(245),
  ]) {
    assert.ok(!isValidBranchName(name), JSON.stringify(name));
  }
});

test('DNS labels and subdomains follow RFC 1123', () => {
  for (const name of ['a', 'a-b', '1a', 'x'.repeat(63)]) assert.ok(isDnsLabel(name) && isDnsSubdomain(name), name);
  for (const name of ['', '-a', 'a-', 'A', 'a_b', 'a.b', 'x'.repeat(64), 'a\n']) assert.ok(!isDnsLabel(name), JSON.stringify(name));
  for (const name of ['', 'a..b', '.a', 'a.', 'a.-b', 'x'.repeat(254)]) assert.ok(!isDnsSubdomain(name), name);
});
