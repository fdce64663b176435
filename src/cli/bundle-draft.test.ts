import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftBundle } from './bundle-draft.ts';

const drafted = (options: Parameters<typeof draftBundle>[2]) => {
  const draft = draftBundle('web', 'team', options);
  assert.ok(draft.ok);
  return draft.value;
};
const refusal = (options: Parameters<typeof draftBundle>[2]): string => {
  const draft = draftBundle('web', 'team', options);
  return draft.ok || draft.end.code === 0 ? '' : draft.end.message;
};

test('an image makes an image Bundle with name and label', () => {
  const bundle = drafted({ image: ['registry:5000/acme/web:1.2.3'] });
  assert.equal(bundle.metadata.name, 'web-1.2.3');
  assert.deepEqual(bundle.metadata.labels, { 'promoter.io/pipeline': 'web' });
  assert.deepEqual(bundle.spec, { type: 'image', pipeline: 'web', images: [{ repository: 'registry:5000/acme/web', tag: '1.2.3' }] });
});

test('the name is the same whenever the flags are', () => {
  const flags = { image: ['a/b:1', 'c/d@sha256:00ff'] };
  assert.equal(drafted(flags).metadata.name, drafted(flags).metadata.name);
  assert.notEqual(drafted(flags).metadata.name, drafted({ image: ['a/b:1'] }).metadata.name);
});

test('provenance, intent and labels are taken only when given', () => {
  const bundle = drafted({
    image: ['a:1'],
    author: 'Ada',
    commit: 'abc123',
    ciRunUrl: 'https://ci/1',
    target: 'staging',
    skip: ['qa,perf', 'load'],
    label: ['hotfix=true', 'note=a=b'],
  });
  assert.deepEqual(bundle.spec?.provenance, { author: 'Ada', commitSHA: 'abc123', ciRunURL: 'https://ci/1' });
  assert.deepEqual(bundle.spec?.intent, { targetEnvironment: 'staging', skipEnvironments: ['qa', 'perf', 'load'] });
  assert.deepEqual(bundle.metadata.labels, { hotfix: 'true', note: 'a=b', 'promoter.io/pipeline': 'web' });
});

test('a label cannot take the place of the pipeline label', () => {
  assert.equal(drafted({ image: ['a:1'], label: ['promoter.io/pipeline=other'] }).metadata.labels?.['promoter.io/pipeline'], 'web');
});

test('the type follows from what is given', () => {
  const config = { configRepo: 'https://git/x', configCommit: 'abcdef1234' };
  assert.equal(drafted(config).spec?.type, 'config');
  assert.equal(drafted({ ...config, image: ['a:1'] }).spec?.type, 'mixed');
  assert.equal(drafted({ image: ['a:1'], type: 'mixed' }).spec?.type, 'mixed');
});

test('flags that make no Bundle are refused by name', () => {
  assert.match(refusal({}), /--image/);
  assert.match(refusal({ image: ['web'] }), /neither tag nor digest/);
  assert.match(refusal({ image: ['we b:1'] }), /--image/);
  assert.match(refusal({ image: ['a:1'], label: ['nonsense'] }), /--label nonsense/);
});
