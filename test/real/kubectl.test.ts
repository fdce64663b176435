import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createBareRepository } from '../../src/adapters/git-server/index.ts';
import { folderFor, startController } from '../journeys/command-line.ts';
import { followBranch } from './deployments.ts';

const run = promisify(execFile);

const pipeline = (url: string): string => `
apiVersion: v1
kind: Namespace
metadata: {name: test}
---
apiVersion: promoter.io/v1alpha1
kind: Pipeline
metadata: {name: web}
spec:
  git: {url: "${url}", provider: git}
  environments: [{name: test, health: {type: resource}}]
`;

const bundle = `
apiVersion: promoter.io/v1alpha1
kind: Bundle
metadata: {name: web-1.0, labels: {promoter.io/pipeline: web}}
spec: {pipeline: web, images: [{repository: acme/web, tag: "1.0"}]}
`;

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: acme/web}]}
`;

test('kubectl applies, lists, waits, patches and deletes; kustomize renders what was promoted', async (context) => {
  const folder = await folderFor(context);
  const repository = join(folder, 'env.git');
  const kustomization = 'resources:\n  - deployment.yaml\nimages:\n  - name: acme/web\n    newTag: "0.1"\n';
  const place = 'environments/test';
  await createBareRepository(repository, { [`${place}/kustomization.yaml`]: kustomization, [`${place}/deployment.yaml`]: deployment });
  const { kubeconfig } = await startController(context, join(folder, 'data'));
  // Never synchronously: the Deployments follow the branch in this very process.
  const kubectl = async (args: string, input = ''): Promise<string> => {
    const running = run('kubectl', ['--kubeconfig', kubeconfig, '--cache-dir', join(folder, 'cache'), ...args.split(' ')]);
    running.child.stdin?.end(input);
    return (await running).stdout;
  };
  await kubectl('apply --validate=false -f -', pipeline(`file://${repository}`));
  await followBranch(context, { kubeconfig, repository, environments: ['test'], workload: 'web' });
  await kubectl('apply --validate=false -f -', bundle);
  await kubectl('wait --timeout=30s --for=jsonpath={.status.phase}=Verified bundle/web-1.0');
  assert.match(await kubectl('get bundles'), /web-1\.0/);
  assert.match(await kubectl('get promotionsteps -o wide -A'), /^default +\S+ +web-1\.0 +test +Verified /m);
  await kubectl('label bundle web-1.0 checked=yes');
  assert.equal((await kubectl('get bundles -l checked=yes -o name')).trim(), 'bundle.promoter.io/web-1.0');
  await kubectl('patch pipeline web --type merge -p {"spec":{"historyLimit":5}}');
  assert.equal(await kubectl('get pipeline web -o jsonpath={.spec.historyLimit}'), '5');
  await assert.rejects(kubectl('patch bundle web-1.0 --type merge -p {"spec":{"version":"2"}}'), /immutable/);

  execFileSync('git', ['clone', '--quiet', repository, join(folder, 'clone')]);
  const rendered = execFileSync('kubectl', ['kustomize', join(folder, 'clone', place)], { encoding: 'utf8' });
  assert.match(rendered, /image: acme\/web:1\.0$/m);

  await kubectl('delete bundle web-1.0 --wait=true --timeout=20s');
  assert.equal((await kubectl('get promotionsteps -A -o name')).trim(), '', 'what the Bundle owned went with it');
});
