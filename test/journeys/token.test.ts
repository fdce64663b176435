/** A private repository over smart HTTP: the token opens it and shows nowhere but in its Secret. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { KINDS } from '../../src/api/registry.ts';
import type { Store } from '../../src/ports/store.ts';
import { eventually, folderFor, startController } from './command-line.ts';
import { startGitFront } from './git-front.ts';
import {
  apply,
  BUNDLE_TOKEN,
  connect,
  deploySteady,
  fileAt,
  git,
  landed,
  makeRepository,
  overlay,
  pipeline,
  post,
  reaches,
  recordOf,
  settledIn,
  stepOf,
  stepWhen,
} from './scene.ts';

const TOKEN = 'ghp_s3cr3tTokenOfThisTest0123456789';
/** A token that no server takes: what a refusal says must not repeat it either. */
const WRONG = 'ghp_wr0ngTokenOfThisTest9876543210';
/** Ways in which a token could be written down. */
const FORMS = [TOKEN, WRONG].flatMap((token) => [
  token,
  Buffer.from(token).toString('base64').replace(/=+$/, ''),
  Buffer.from(`x-access-token:${token}`).toString('base64').replace(/=+$/, ''),
]);

const leaksIn = (text: string): readonly string[] => FORMS.filter((form) => text.includes(form));

/** Reads the arguments of every process again and again; git's own processes come and go within milliseconds. */
const sampleArguments = (context: TestContext) => {
  const leaks: string[] = [];
  let seen = 0;
  const sample = (): void => {
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
        if (/\bgit\b/.test(line)) seen += 1;
        if (leaksIn(line).length > 0) leaks.push(line);
      } catch {
        // It ended meanwhile.
      }
    }
  };
  const timer = setInterval(sample, 15);
  context.after(() => clearInterval(timer));
  return { leaks, git: () => seen };
};

/** Files below the folder in which a token stands. */
const filesWithToken = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => leaksIn(readFileSync(join(folder, name), 'latin1')).length > 0);

const everythingButSecrets = async (store: Store): Promise<string> => {
  const kinds = Object.values(KINDS).filter((info) => info.kind !== 'Secret');
  const lists = await Promise.all(kinds.map((info) => store.list(info.kind, { fresh: true })));
  for (const list of lists) assert.ok(list.ok);
  return JSON.stringify(lists);
};

test('a Bundle sent by HTTP goes through a private repository, and the token shows nowhere', {
  skip: process.platform !== 'linux',
}, async (context) => {
  const folder = await folderFor(context);
  const files = { 'test/kustomization.yaml': overlay('web'), 'prod/kustomization.yaml': overlay('web') };
  const repository = await makeRepository(join(folder, 'web.git'), files);
  const front = await startGitFront(context, folder, () => TOKEN);
  const controller = await startController(context, join(folder, 'data'), '--bundle-api-token', BUNDLE_TOKEN, '--log-level', 'debug');
  const store = await connect(context, controller.kubeconfig);
  await deploySteady(store);
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'git', namespace: 'default' } } as const;
  await apply(store, { ...secret, stringData: { token: WRONG } });
  const environments = ['test', 'prod'].map((name) => ({ name, path: name, health: settledIn('0s') }));
  const spec = { url: `${front.url}/web.git`, provider: 'git', secretRef: { name: 'git' } };
  await apply(store, pipeline('web', spec, environments));
  const sampled = sampleArguments(context);

  assert.equal(await post(controller.http, 'web', '1.0'), 'web-1.0');
  const refused = await stepWhen(store, ['web-1.0', 'test'], (step) => recordOf(step, 'git-clone')?.state === 'Failed', 'is refused');
  const explained = (await controller.run('explain', 'web')).out;
  assert.equal(refused.status?.reason, 'GitUnauthorized');
  await apply(store, { ...secret, stringData: { token: TOKEN } });
  await reaches(store, 'web-1.0', 'Verified');

  assert.deepEqual(
    landed(repository).map((commit) => commit.environment),
    ['test', 'prod'],
  );
  assert.equal(fileAt(repository, 'prod/kustomization.yaml'), overlay('web').replace('"0"', '"1.0"'));
  assert.equal((await stepOf(store, 'web-1.0', 'prod'))?.status?.outputs?.['git.commit'], git(repository, 'rev-parse', 'main').trim());
  const admitted = front.asked.filter((one) => one.authorization === `Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString('base64')}`);
  assert.ok(admitted.some((one) => one.push) && admitted.some((one) => !one.push), 'reading and pushing both carry the token');
  assert.deepEqual(
    front.asked.filter((one) => leaksIn(one.path).length > 0),
    [],
    'no URL carries it',
  );
  assert.ok(sampled.git() > 0, 'processes of git were seen');
  assert.deepEqual(sampled.leaks, [], 'arguments');
  assert.deepEqual(leaksIn(explained + JSON.stringify(refused)), [], 'refusals');
  assert.deepEqual(leaksIn(await everythingButSecrets(store)), [], 'resources');
  assert.deepEqual(leaksIn((await controller.run('history', 'web', '-o', 'json')).out), [], 'history');
  assert.deepEqual(leaksIn(git(repository, 'log', '-p', '--all', '--format=fuller')), [], 'commits');
  const withToken = filesWithToken(join(folder, 'data'));
  assert.ok(withToken.length > 0, 'the search finds the Secret itself');
  assert.deepEqual(
    withToken.filter((name) => !name.startsWith('store/')),
    [],
    'files',
  );
  await eventually(async () => (controller.out() + controller.err()).length > 500 || undefined, 'a log');
  assert.deepEqual(leaksIn(controller.out() + controller.err()), [], 'logs');
});
