import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aliasesOf, canonical } from './aliases.ts';
import type { Environment, PipelineGit } from './kinds/pipeline.ts';
import { resolveEnvironment, resolveEnvironments } from './resolve.ts';

const git: PipelineGit = { url: 'https://h/r.git', provider: 'github', secretRef: { name: 'token' } };
const resolve = (environment: Environment, more: PipelineGit = {}) => resolveEnvironment({ ...git, ...more }, environment, 'team');

test('an environment that says only its name has every default of the specification', () => {
  assert.deepEqual(resolve({ name: 'test' }), {
    name: 'test',
    repository: { url: 'https://h/r.git', credential: { namespace: 'team', name: 'token' } },
    layout: 'directory',
    branch: 'main',
    path: 'environments/test',
    provider: 'host-a',
    dependsOn: undefined,
    wave: 0,
    strategy: 'overlay',
    chart: { file: 'values.yaml', path: 'image.tag' },
    approval: 'auto',
    pr: false,
    merge: 'human',
    renderManifests: false,
    health: {},
    delegate: 'none',
    shard: undefined,
    steps: undefined,
    bake: undefined,
    onHealthFailure: 'none',
  });
});

test('paths come out as git stores them', () => {
  for (const path of ['apps/test', './apps/test', 'apps//test/', '/apps/./test'])
    assert.equal(resolve({ name: 'a', path }).path, 'apps/test', path);
  for (const path of ['', '.', './', '/']) assert.equal(resolve({ name: 'a', path }).path, '', path);
  assert.equal(resolve({ name: 'a', update: { chart: { file: './charts//values.yaml' } } }).chart.file, 'charts/values.yaml');
});

test('with layout branch the environment is a branch and its overlay a folder of the source', () => {
  const layout: PipelineGit = { layout: 'branch' };
  const { branch, path } = resolve({ name: 'prod' }, layout);
  assert.deepEqual([branch, path], ['env/prod', 'environments/prod']);
  assert.equal(resolve({ name: 'prod' }, { ...layout, branchPrefix: '' }).branch, 'prod');
  assert.equal(resolve({ name: 'prod', path: 'live' }, layout).branch, 'live');
  assert.equal(resolve({ name: 'prod', sourcePath: 'overlays/prod/' }, layout).path, 'overlays/prod');
});

test('aliases give way to the words of the specification, and inherited names are no aliases', () => {
  const resolved = resolve({ name: 'a', update: { strategy: 'helm' }, delivery: { delegate: 'flagger' } }, { provider: 'gitlab' });
  assert.deepEqual([resolved.provider, resolved.strategy, resolved.delegate], ['host-b', 'chart', 'canaryAnalysis']);
  assert.equal(canonical('step', 'kustomize-build'), 'overlay-build');
  assert.equal(canonical('provider', 'constructor'), 'constructor');
  assert.deepEqual(aliasesOf('healthType'), ['argocd', 'flux', 'argoRollouts', 'flagger']);
});

test('an empty list or text is the same as an absent one, and an own repository wins', () => {
  const resolved = resolve({ name: 'a', dependsOn: [], shard: '', gitRepo: 'https://h/other.git', bake: { minutes: 0 } });
  assert.equal(resolved.dependsOn, undefined);
  assert.equal(resolved.shard, undefined);
  assert.equal(resolved.bake, undefined);
  assert.equal(resolved.repository.url, 'https://h/other.git');
  assert.deepEqual(resolve({ name: 'a', bake: { minutes: 3 } }).bake, { minutes: 3, policy: 'reset-on-alarm' });
});

test('a Pipeline without anything resolves to no environments', () => {
  assert.deepEqual(resolveEnvironments({ apiVersion: 'promoter.io/v1alpha1', kind: 'Pipeline', metadata: { name: 'web' } }), []);
});
