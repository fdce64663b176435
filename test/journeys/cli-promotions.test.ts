import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createBareRepository } from '../../src/adapters/git-server/index.ts';
import { type Controller, eventually, folderFor, startController } from './command-line.ts';

/** Steps without a health check, for repositories that nothing is deployed from. */
const STEPS = '[{uses: git-clone}, {uses: overlay-set-image}, {uses: git-commit}, {uses: git-push}]';
const KUSTOMIZATION = 'images:\n  - name: acme/web\n    newTag: "0.1"\n';

const pipeline = (name: string, git: string, environments: readonly string[]): string =>
  `---\napiVersion: promoter.io/v1alpha1\nkind: Pipeline\nmetadata: {name: ${name}}\nspec:\n  git: ${git}\n  environments:\n` +
  environments.map((environment) => `    - {${environment}}\n`).join('');

const repositoryFor = async (folder: string, environments: readonly string[]): Promise<string> => {
  const repository = join(folder, 'repositories', 'env.git');
  const files = Object.fromEntries(environments.map((name) => [`environments/${name}/kustomization.yaml`, KUSTOMIZATION]));
  await createBareRepository(repository, files, { branch: 'main' });
  return repository;
};

const apply = async (controller: Controller, folder: string, text: string): Promise<string> => {
  await writeFile(join(folder, 'apply.yaml'), text);
  const applied = await controller.run('apply', '-f', join(folder, 'apply.yaml'));
  assert.equal(applied.code, 0, applied.err);
  return applied.err;
};

const phaseOf = async (controller: Controller, bundle: string): Promise<string | undefined> =>
  new RegExp(`^${bundle.replaceAll('.', '\\.')} +(\\w+) `, 'm').exec((await controller.run('get', 'bundles')).out)?.[1];

const reached = (controller: Controller, bundle: string, phase: string): Promise<true> =>
  eventually(async () => ((await phaseOf(controller, bundle)) === phase ? true : undefined), `${bundle} is ${phase}`);

/** Environments in the order of their commits. */
const order = (repository: string): string[] =>
  execFileSync(
    'git',
    ['--git-dir', repository, 'log', '--reverse', '--format=%(trailers:key=Promoter-Environment,valueonly,separator=)', 'main'],
    {
      encoding: 'utf8',
    },
  )
    .split('\n')
    .filter((line) => line !== '');

const graph = async (context: TestContext, environments: readonly string[], ...flags: string[]): Promise<string[]> => {
  const folder = await folderFor(context);
  const names = environments.map((environment) => /name: (\w+)/.exec(environment)?.[1] ?? '');
  const repository = await repositoryFor(folder, names);
  const controller = await startController(context, join(folder, 'data'));
  const git = `{url: "file://${repository}", provider: git}`;
  await apply(
    controller,
    folder,
    pipeline(
      'web',
      git,
      environments.map((environment) => `${environment}, steps: ${STEPS}`),
    ),
  );
  const created = await controller.run('create', 'bundle', 'web', '--image', 'acme/web:1.0', ...flags);
  assert.equal(created.code, 0, created.err);
  await reached(controller, 'web-1.0', 'Verified');
  return order(repository);
};

test('a target environment ends the way, a skipped one is passed by', async (context) => {
  const environments = ['name: test', 'name: qa', 'name: staging', 'name: prod'];
  assert.deepEqual(await graph(context, environments, '--target', 'staging', '--skip', 'qa'), ['test', 'staging']);
});

test('what is not there yet fails with a message and writes nothing', async (context) => {
  const folder = await folderFor(context);
  const repository = await repositoryFor(folder, ['prod']);
  const controller = await startController(context, join(folder, 'data'));
  const git = `{url: "file://${repository}", provider: git}`;
  const asked: Record<string, string> = {
    review: 'approval: pr-review',
    audit: 'pr: true',
    argo: 'health: {type: gitopsApp, gitopsApp: {name: x}}',
    rollout: 'delivery: {delegate: progressiveRollout}',
    custom: 'steps: [{uses: git-clone}, {uses: scan, webhook: {url: "http://127.0.0.1:1/"}}]',
    nowhere: 'path: environments/none',
  };
  const pipelines = Object.entries(asked).map(([name, fields]) => pipeline(name, git, [`name: prod, ${fields}`]));
  await apply(controller, folder, pipelines.join(''));
  for (const name of Object.keys(asked)) await controller.run('create', 'bundle', name, '--image', 'acme/web:1.0');
  for (const name of Object.keys(asked)) {
    await reached(controller, `${name}-1.0`, 'Failed');
    const { out } = await controller.run('explain', name);
    assert.match(out, name === 'nowhere' ? /RESULT: .*environments\/none/ : /RESULT: .*not available in this version/, name);
  }
  const gate =
    '---\napiVersion: promoter.io/v1alpha1\nkind: PolicyGate\nmetadata: {name: freeze}\nspec: {expression: "true", appliesTo: [prod]}\n';
  const warned = await apply(controller, folder, gate + pipeline('gated', git, [`name: prod, steps: ${STEPS}`]));
  assert.match(warned, /warning: policygate\/freeze: .*does not evaluate PolicyGates/);
  await controller.run('create', 'bundle', 'gated', '--image', 'acme/web:1.0');
  const held = await eventually(async () => {
    const { out } = await controller.run('explain', 'gated');
    return out.includes('freeze') ? out : undefined;
  }, 'the gate shows in explain');
  assert.match(held, /held by default\/freeze/);
  assert.deepEqual(order(repository), []);
});
