/** The order of commits on the branch is the order of the graph. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Environment } from '../../src/api/kinds/pipeline.ts';
import type { Store } from '../../src/ports/store.ts';
import { folderFor, startController } from './command-line.ts';
import {
  apply,
  BUNDLE_TOKEN,
  connect,
  deploySteady,
  landed,
  makeRepository,
  overlay,
  pipeline,
  post,
  reaches,
  settledIn,
} from './scene.ts';

interface Case {
  readonly name: string;
  readonly environments: readonly Environment[];
  readonly intent?: Readonly<Record<string, unknown>>;
  /** Groups whose commits may come in any order among themselves; every commit of a group comes before any of the next. */
  readonly groups: readonly (readonly string[])[];
}

const CASES: readonly Case[] = [
  { name: 'sequential', environments: [{ name: 'a' }, { name: 'b' }, { name: 'c' }], groups: [['a'], ['b'], ['c']] },
  {
    name: 'fan-out-and-convergence',
    environments: [
      { name: 'test' },
      { name: 'eu', dependsOn: ['test'] },
      { name: 'us', dependsOn: ['test'] },
      { name: 'asia', dependsOn: ['test'] },
      { name: 'prod', dependsOn: ['eu', 'us', 'asia'] },
    ],
    groups: [['test'], ['eu', 'us', 'asia'], ['prod']],
  },
  {
    name: 'waves-with-a-gap',
    environments: [
      { name: 'last', wave: 7 },
      { name: 'one-b', wave: 1 },
      { name: 'three', wave: 3 },
      { name: 'one-a', wave: 1 },
    ],
    groups: [['one-a', 'one-b'], ['three'], ['last']],
  },
  {
    name: 'waves-between-sequential',
    environments: [
      { name: 'dev' },
      { name: 'test' },
      { name: 'eu', wave: 1 },
      { name: 'us', wave: 1 },
      { name: 'rest', wave: 2 },
      { name: 'archive' },
    ],
    groups: [['dev'], ['test'], ['eu', 'us'], ['rest'], ['archive']],
  },
  {
    name: 'wave-united-with-depends-on',
    environments: [
      { name: 'one', wave: 1 },
      { name: 'slow', wave: 2 },
      { name: 'two', wave: 2, dependsOn: ['slow'] },
      { name: 'three', wave: 3 },
    ],
    groups: [['one'], ['slow'], ['two'], ['three']],
  },
  {
    name: 'target-environment',
    environments: [{ name: 'test' }, { name: 'side', dependsOn: ['test'] }, { name: 'staging', dependsOn: ['test'] }, { name: 'prod' }],
    intent: { targetEnvironment: 'staging' },
    groups: [['test'], ['staging']],
  },
  {
    name: 'target-is-prod-when-not-given',
    environments: [{ name: 'test' }, { name: 'prod' }, { name: 'archive' }],
    groups: [['test'], ['prod']],
  },
  {
    name: 'skips-inherit',
    environments: [{ name: 'test' }, { name: 'qa' }, { name: 'staging' }, { name: 'prod' }],
    intent: { skipEnvironments: ['qa', 'staging'] },
    groups: [['test'], ['prod']],
  },
];

const prove = async (store: Store, repository: string, bundle: string, groups: Case['groups']): Promise<void> => {
  const done = await reaches(store, bundle, 'Verified');
  const commits = landed(repository).filter((commit) => commit.bundle === bundle);
  let from = 0;
  for (const group of groups) {
    const part = commits.slice(from, from + group.length).map((commit) => commit.environment);
    assert.deepEqual(part.toSorted(), group.toSorted(), `${bundle}: ${commits.map((commit) => commit.environment).join(' ')}`);
    from += group.length;
  }
  assert.equal(commits.length, from, 'nothing else was written');
  const records = new Map((done.status?.environments ?? []).map((record) => [record.name, record]));
  groups.forEach((group, index) => {
    const earlier = groups[index - 1] ?? [];
    const verified = earlier.map((name) => records.get(name)?.verifiedAt ?? 'never');
    for (const name of group) {
      const started = records.get(name)?.transitions.find((transition) => transition.to === 'Promoting')?.at ?? '';
      for (const at of verified) assert.ok(at <= started, `${bundle}: ${name} started ${started}, before ${earlier.join(', ')} at ${at}`);
    }
  });
};

const setUp = async (context: TestContext) => {
  const folder = await folderFor(context);
  const files = CASES.flatMap(({ name, environments }) =>
    environments.map((environment) => [`${name}/${environment.name}/kustomization.yaml`, overlay(name)] as const),
  );
  const repository = await makeRepository(join(folder, 'deploy.git'), Object.fromEntries(files));
  const controller = await startController(context, join(folder, 'data'), '--bundle-api-token', BUNDLE_TOKEN);
  const store = await connect(context, controller.kubeconfig);
  await deploySteady(store);
  return { repository, controller, store };
};

test('commits stand on the branch in the order of the graph, and none before its dependencies were Verified', async (context) => {
  const { repository, controller, store } = await setUp(context);
  const begin = async ({ name, environments, intent }: Case): Promise<string> => {
    const shown = environments.map((environment) => ({
      ...environment,
      path: `${name}/${environment.name}`,
      health: settledIn('1s'),
    }));
    await apply(store, pipeline(name, `file://${repository}`, shown));
    return post(controller.http, name, '1.0', intent ? { intent } : {});
  };
  const bundles = await Promise.all(CASES.map(begin));
  for (const [index, one] of CASES.entries()) {
    await context.test(one.name, () => prove(store, repository, bundles[index] ?? '', one.groups));
  }
  assert.equal(new Set(landed(repository).map((commit) => commit.run)).size, landed(repository).length, 'no run has two commits');
});
