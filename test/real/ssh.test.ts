import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createBareRepository } from '../../src/adapters/git-server/index.ts';
import { type Controller, eventually, folderFor, startController } from '../journeys/command-line.ts';
import { followBranch } from './deployments.ts';
import { startSshServer } from './ssh-server.ts';

const indented = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');

const resources = (url: string, key: string, knownHosts: string): string => `
apiVersion: v1
kind: Namespace
metadata: {name: test}
---
apiVersion: v1
kind: Secret
metadata: {name: git}
stringData:
  ssh-privatekey: |
${indented(key)}
  known_hosts: |
${indented(knownHosts)}
---
apiVersion: promoter.io/v1alpha1
kind: Pipeline
metadata: {name: web}
spec:
  git: {url: "${url}", provider: git, secretRef: {name: git}}
  environments: [{name: test, health: {type: resource}}]
`;

const reached = (controller: Controller, bundle: string, phase: string): Promise<true> =>
  eventually(
    async () => ((await controller.run('get', 'bundles')).out.match(new RegExp(`^${bundle} +${phase} `, 'm')) ? true : undefined),
    phase,
  );

test('a promotion over ssh with a key and a known host from a Secret', async (context) => {
  const folder = await folderFor(context);
  const repository = join(folder, 'env.git');
  const kustomization = 'images:\n  - name: acme/web\n    newTag: "0.1"\n';
  await createBareRepository(repository, { 'environments/test/kustomization.yaml': kustomization }, { branch: 'main' });
  const server = await startSshServer(context, join(folder, 'ssh'));
  const controller = await startController(context, join(folder, 'data'));
  const apply = async (knownHosts: string): Promise<void> => {
    await writeFile(join(folder, 'all.yaml'), resources(server.url(repository), server.privateKey, knownHosts));
    const applied = await controller.run('apply', '-f', join(folder, 'all.yaml'));
    assert.equal(applied.code, 0, applied.err);
  };
  const show = (...args: string[]): string => execFileSync('git', ['--git-dir', repository, ...args], { encoding: 'utf8' }).trim();

  // The server shows another key than the Secret knows: nothing is written, and the reason is told.
  const [place = '', type = ''] = server.knownHosts.split(' ');
  await apply(`${place} ${type} AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA`);
  await followBranch(context, { kubeconfig: controller.kubeconfig, repository, environments: ['test'], workload: 'web' });
  await controller.run('create', 'bundle', 'web', '--image', 'acme/web:1.0');
  const told = await eventually(async () => {
    const { out } = await controller.run('explain', 'web', '--env', 'test');
    return /git-clone +Failed/.test(out) ? out : undefined;
  }, 'the refusal shows in explain');
  assert.match(told, /refused access/);
  assert.equal(show('rev-list', '--count', 'main'), '1');

  // With the right key it goes on by itself, within the 30 seconds of a retry.
  await apply(server.knownHosts);
  await reached(controller, 'web-1.0', 'Verified');
  assert.equal(show('rev-list', '--count', 'main'), '2');
  assert.equal(show('show', 'main:environments/test/kustomization.yaml'), kustomization.trim().replace('0.1', '1.0'));
  assert.deepEqual(readdirSync(join(folder, 'data', 'git', 'tmp')), [], 'no key file is left');
  const words = controller.out() + controller.err() + told + show('log', '--format=%B', 'main');
  for (const line of server.privateKey.split('\n').slice(1, -2)) assert.equal(words.includes(line), false);
});
