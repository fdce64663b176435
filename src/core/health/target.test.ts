import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Health } from '../../api/kinds/pipeline.ts';
import { resolveEnvironment } from '../../api/resolve.ts';
import { healthTarget, unsupportedHealth } from './target.ts';

const resolved = (health: Health) => resolveEnvironment({}, { name: 'test', health }, 'default');

test('the target is the Deployment of the Pipeline in the namespace of the environment, unless something else is named', () => {
  assert.deepEqual(healthTarget(resolved({}), 'web'), {
    namespace: 'test',
    name: 'web',
    condition: 'Available',
    selector: undefined,
    cluster: undefined,
    timeoutMs: 600_000,
    settleMs: 10_000,
  });
  const health: Health = {
    resource: { name: 'api', namespace: 'apps', condition: 'Progressing' },
    labelSelector: { app: 'web' },
    cluster: 'remote',
    timeout: '90s',
    settle: '0s',
  };
  assert.deepEqual(healthTarget(resolved(health), 'web'), {
    namespace: 'apps',
    name: 'api',
    condition: 'Progressing',
    selector: { app: 'web' },
    cluster: 'remote',
    timeoutMs: 90_000,
    settleMs: 0,
  });
});

test('what is empty counts as absent, and a duration that is none as the default', () => {
  const target = healthTarget(resolved({ resource: { name: '', namespace: '' }, labelSelector: {}, timeout: 'soon', settle: '' }), 'web');
  assert.deepEqual([target.name, target.namespace, target.selector], ['web', 'test', undefined]);
  assert.deepEqual([target.timeoutMs, target.settleMs], [600_000, 10_000]);
});

test('what this version cannot check is refused by name, in either word', () => {
  const cases: readonly [Health, RegExp | undefined][] = [
    [{}, undefined],
    [{ type: 'resource', resource: { kind: 'Deployment' } }, undefined],
    [{ type: 'flux' }, /health\.type gitopsKustomization is not available/],
    [{ type: 'canaryAnalysis' }, /health\.type canaryAnalysis/],
    [{ resource: { kind: 'DaemonSet' } }, /health\.resource\.kind DaemonSet/],
    [{ cluster: 'remote' }, /health\.cluster is not available/],
  ];
  for (const [health, message] of cases) {
    const said = unsupportedHealth(resolved(health));
    if (message) assert.match(said ?? '', message);
    else assert.equal(said, undefined);
  }
});
