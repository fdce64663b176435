import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ApiUnderTest, makeApi } from '../contract/api-under-test.ts';

const PIPELINE = (limit: number) => `
apiVersion: promoter.io/v1alpha1
kind: Pipeline
metadata: {name: web}
spec:
  git: {url: https://git.example.com/acme/deploy.git, provider: host-a, secretRef: {name: git}}
  environments: [{name: dev}, {name: prod}]
  historyLimit: ${limit}
`;

const DEPLOYMENT = (image: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "${image}"}, {name: proxy, image: "proxy:1"}]}
`;

describe('kubectl', () => {
  let api: ApiUnderTest;
  let home = '';
  before(async () => {
    api = await makeApi();
    home = mkdtempSync(join(tmpdir(), 'kubectl-'));
  });
  after(async () => {
    await api[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  const run = (
    input: string | undefined,
    ...words: readonly string[]
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }> =>
    new Promise((resolve) => {
      const environment = { PATH: process.env['PATH'] ?? '', HOME: home, KUBECONFIG: api.server.kubeconfigPath };
      const child = execFile('kubectl', [...words], { env: environment, timeout: 30_000 }, (error, out, err) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, out, err });
      });
      child.stdin?.end(input ?? '');
    });
  const ok = async (input: string | undefined, ...words: readonly string[]): Promise<string> => {
    const { code, out, err } = await run(input, ...words);
    assert.equal(code, 0, `kubectl ${words.join(' ')}: ${err}`);
    return out;
  };

  it('finds the kinds, and applies, shows and deletes our resources with validation on', async () => {
    assert.match(await ok(undefined, 'api-resources'), /pipelines +pl +promoter\.io\/v1alpha1 +true +Pipeline/);
    assert.match(await ok(PIPELINE(5), 'apply', '-f', '-'), /created/);
    assert.match(await ok(PIPELINE(6), 'apply', '-f', '-'), /configured/);
    const typo = await run(PIPELINE(6).replace('historyLimit', 'historyLimits'), 'apply', '-f', '-');
    assert.notEqual(typo.code, 0);
    assert.match(typo.err, /unknown field "spec\.historyLimits"/);
    assert.match(await ok(undefined, 'get', 'pl'), /NAME +ENVIRONMENTS +AGE\nweb +2 /);
    assert.match(await ok(undefined, 'explain', 'pipeline.spec.historyLimit'), /Bundles/);
    await ok(undefined, 'label', 'pl', 'web', 'team=a');
    assert.equal(await ok(undefined, 'get', 'pl', '-l', 'team=a', '-o', 'jsonpath={.items[*].spec.historyLimit}'), '6');
    assert.match(await ok(undefined, 'delete', 'pl', 'web'), /deleted/);
  });

  it('creates Secrets and namespaces, and updates Deployments', async () => {
    await ok(undefined, 'create', 'namespace', 'shop');
    await ok(undefined, 'create', 'secret', 'generic', 'git', '-n', 'shop', '--from-literal=token=abc');
    assert.equal(await ok(undefined, 'get', 'secret', 'git', '-n', 'shop', '-o', 'jsonpath={.data.token}'), 'YWJj');
    await ok(DEPLOYMENT('web:1'), 'apply', '-f', '-');
    await ok(DEPLOYMENT('web:2'), 'apply', '-f', '-');
    await ok(undefined, 'set', 'image', 'deployment/web', 'proxy=proxy:2');
    const images = 'jsonpath={.spec.template.spec.containers[*].image}';
    assert.equal(await ok(undefined, 'get', 'deployment', 'web', '-o', images), 'web:2 proxy:2');
  });

  it('says what is wrong in the words of a cluster', async () => {
    const missing = await run(undefined, 'get', 'bundle', 'none');
    assert.equal(missing.err.trim(), 'Error from server (NotFound): bundles.promoter.io "none" not found');
    const invalid = await run(PIPELINE(5).replace(/environments: .*/, 'environments: []'), 'apply', '-f', '-');
    assert.match(invalid.err, /spec\.environments must contain at least one environment/);
  });
});
