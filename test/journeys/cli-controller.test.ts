import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createBareRepository } from '../../src/adapters/git-server/index.ts';
import { createHttpStore } from '../../src/adapters/store-http/create-http-store.ts';
import { loadKubeconfig } from '../../src/adapters/store-http/kubeconfig.ts';
import { startStandIn } from '../../src/demo/gitops-stand-in.ts';
import { type Controller, eventually, folderFor, promoter, start, startController } from './command-line.ts';

const TOKEN = 'a-token-of-this-test';

const files = (environments: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    environments.map((name) => [`environments/${name}/kustomization.yaml`, 'images:\n  - name: acme/web\n    newTag: "0.1" # keep me\n']),
  );

const pipeline = (url: string, name = 'web'): string => `
apiVersion: promoter.io/v1alpha1
kind: Pipeline
metadata: {name: ${name}}
spec:
  git: {url: "${url}", provider: git}
  environments:
    - {name: test, health: {type: resource, resource: {name: web}}}
    - {name: prod, health: {type: resource, resource: {name: web}}}
---
apiVersion: v1
kind: Namespace
metadata: {name: test}
---
apiVersion: v1
kind: Namespace
metadata: {name: prod}
`;

/** Brings Deployments to what the branch says, through the resource API like everybody else. */
const deployFrom = async (context: TestContext, repository: string, { kubeconfig }: Controller): Promise<void> => {
  const access = await loadKubeconfig(kubeconfig);
  assert.ok(access.outcome === 'done');
  const store = createHttpStore(access.value);
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const standIn = await startStandIn({ store, repository, branch: 'main', environments: ['test', 'prod'], workload: 'web', log });
  context.after(async () => {
    await standIn.stop();
    store.close();
  });
};

interface Bundles {
  readonly items: readonly { readonly metadata: { readonly name: string }; readonly status?: { readonly phase?: string } }[];
}

const phase = async (controller: Controller, name: string): Promise<string | undefined> => {
  const { out } = await controller.run('get', 'bundles', '-o', 'json');
  return (JSON.parse(out) as Bundles).items.find((bundle) => bundle.metadata.name === name)?.status?.phase;
};

const reached = (controller: Controller, name: string, wanted: string): Promise<true> =>
  eventually(async () => ((await phase(controller, name)) === wanted ? true : undefined), `${name} is ${wanted}`);

test('a pipeline from a file carries Bundles of the command line and of HTTP through a file:// repository', async (context) => {
  const folder = await folderFor(context);
  const repository = join(folder, 'env.git');
  await createBareRepository(repository, files(['test', 'prod']), { branch: 'main' });
  const controller = await startController(context, join(folder, 'data'), '--bundle-api-token', TOKEN);
  assert.equal(statSync(controller.kubeconfig).mode & 0o777, 0o600);
  await writeFile(join(folder, 'pipeline.yaml'), pipeline(`file://${repository}`));
  const applied = await controller.run('apply', '-f', join(folder, 'pipeline.yaml'));
  assert.deepEqual([applied.code, applied.out], [0, 'pipeline/web created\nnamespace/test created\nnamespace/prod created\n'], applied.err);
  await deployFrom(context, repository, controller);

  const created = await controller.run('create', 'bundle', 'web', '--image', 'acme/web:1.0');
  assert.deepEqual([created.code, created.out], [0, 'bundle/web-1.0 created\n'], created.err);
  await reached(controller, 'web-1.0', 'Verified');
  const show = (...args: string[]) => execFileSync('git', ['--git-dir', repository, ...args], { encoding: 'utf8' });
  assert.equal(show('show', 'main:environments/prod/kustomization.yaml'), 'images:\n  - name: acme/web\n    newTag: "1.0" # keep me\n');
  assert.equal(show('rev-list', '--count', 'main').trim(), '3');

  const answer = await fetch(`${controller.http}/api/v1/bundles`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ pipeline: 'web', images: [{ repository: 'acme/web', tag: '2.0' }] }),
  });
  assert.equal(answer.status, 201, await answer.text());
  await reached(controller, 'web-2.0', 'Verified');

  const history = await controller.run('history', 'web', '-o', 'json');
  const entries = JSON.parse(history.out) as { bundle: string; phase: string; environments: { name: string; commit: string }[] }[];
  assert.deepEqual(
    entries.map((entry) => entry.bundle),
    ['web-2.0', 'web-1.0'],
  );
  const commits = entries.toReversed().flatMap((entry) => entry.environments.map((environment) => environment.commit));
  assert.deepEqual(commits, show('rev-list', '--reverse', 'main').trim().split('\n').slice(1));
  assert.match((await controller.run('explain', 'web')).out, /\nRESULT: 2\.0 is Verified/);
  assert.match((await controller.run('get', 'steps', 'web')).out, /web-2\.0 +prod +Verified/);
  assert.match((await controller.run('get', 'audit', '-l', 'promoter.io/action=PromotionSucceeded', '-o', 'name')).out, /auditevent\//);

  const secret = controller.out() + controller.err() + show('log', '--format=%B', 'main');
  assert.equal(secret.includes(TOKEN), false);
  controller.child.kill('SIGTERM');
  assert.equal((await controller.ended).code, 0);
});

test('a data directory has one controller, and the second is told so', async (context) => {
  const folder = await folderFor(context);
  const controller = await startController(context, folder);
  const second = await promoter(['controller', '--data-dir', folder, '--http-address', '127.0.0.1:0', '--api-address', '127.0.0.1:0']);
  assert.equal(second.code, 1);
  assert.match(second.err, /^error: [^\n]+\n$/);
  assert.equal((await controller.run('get', 'pipelines')).code, 0, 'the first one still serves');
});

test('an address that is taken is one line and exit code 1, and leaves the folder usable', async (context) => {
  const folder = await folderFor(context);
  const first = await startController(context, join(folder, 'a'));
  const taken = new URL(first.api).host;
  const refused = await promoter(['controller', '--data-dir', join(folder, 'b'), '--api-address', taken, '--http-address', '127.0.0.1:0']);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /Cannot listen on .*: another process listens there/);
  await startController(context, join(folder, 'b'));
});

test('file:// repositories are refused when others can reach a server, unless that is allowed', async (context) => {
  const folder = await folderFor(context);
  const repository = join(folder, 'env.git');
  await createBareRepository(repository, files(['test', 'prod']), { branch: 'main' });
  await writeFile(join(folder, 'pipeline.yaml'), pipeline(`file://${repository}`));
  const controller = await startController(context, join(folder, 'data'), '--http-address', '0.0.0.0:0');
  await controller.run('apply', '-f', join(folder, 'pipeline.yaml'));
  await controller.run('create', 'bundle', 'web', '--image', 'acme/web:1.0');
  await reached(controller, 'web-1.0', 'Failed');
  assert.match((await controller.run('explain', 'web')).out, /file URLs are not allowed/);
});

test('a watch goes on when the server is killed and comes back', async (context) => {
  const folder = await folderFor(context);
  const data = join(folder, 'data');
  const first = await startController(context, data);
  const watch = start(['get', 'pipelines', '--watch'], { env: { PROMOTER_KUBECONFIG: first.kubeconfig } });
  context.after(() => watch.child.kill('SIGKILL'));
  await writeFile(join(folder, 'one.yaml'), pipeline('https://git.example/x.git', 'one'));
  await writeFile(join(folder, 'two.yaml'), pipeline('https://git.example/x.git', 'two'));
  await first.run('apply', '-f', join(folder, 'one.yaml'));
  await watch.printed(/^one +/m);
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await startController(context, data, '--api-address', new URL(first.api).host);
  await second.run('apply', '-f', join(folder, 'two.yaml'));
  await watch.printed(/^two +/m);
  assert.equal(watch.out().match(/^one /gm)?.length, 1, 'what is known already is not printed again');
  assert.match(watch.err(), /connection is lost/);
});

test('commands without a server fail with one line that says what to do', async (context) => {
  const folder = await folderFor(context);
  const { code, err, out } = await promoter(['get', 'bundles'], { cwd: folder });
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /^error: No server is known here\. Start one with `promoter controller`[^\n]*\n$/);
  assert.equal((await promoter(['nonsense'])).code, 2);
  assert.equal((await promoter(['version'])).code, 0);
});

test('SIGTERM waits for what is under way, and a second one ends it at once', async (context) => {
  const folder = await folderFor(context);
  // A Git server that takes every connection and never answers.
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  context.after(() => silent.close());
  const sockets = new Set<Socket>();
  silent.on('connection', (socket) => sockets.add(socket));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  await once(silent, 'listening');
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await writeFile(join(folder, 'pipeline.yaml'), pipeline(`http://127.0.0.1:${port}/env.git`));
  const controller = await startController(context, join(folder, 'data'));
  await controller.run('apply', '-f', join(folder, 'pipeline.yaml'));
  await controller.run('create', 'bundle', 'web', '--image', 'acme/web:1.0');
  await eventually(async () => (sockets.size > 0 ? true : undefined), 'the fetch is under way');
  controller.child.kill('SIGTERM');
  await eventually(async () => (controller.err().includes('Stopping') ? true : undefined), 'it says that it stops');
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.equal(controller.child.exitCode, null, 'it waits');
  controller.child.kill('SIGTERM');
  const asked = performance.now();
  assert.equal((await controller.ended).code, 143);
  assert.ok(performance.now() - asked < 2000);
});
