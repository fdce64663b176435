/** What journeys set up around a controller: repositories, resources, healthy workloads, and what they read back. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import { createBareRepository } from '../../src/adapters/git-server/index.ts';
import { createHttpStore } from '../../src/adapters/store-http/create-http-store.ts';
import { loadKubeconfig } from '../../src/adapters/store-http/kubeconfig.ts';
import type { Bundle } from '../../src/api/kinds/bundle.ts';
import type { Deployment } from '../../src/api/kinds/native.ts';
import type { Environment, Pipeline, PipelineGit, PipelineSpec } from '../../src/api/kinds/pipeline.ts';
import type { PromotionStep, StepRecord } from '../../src/api/kinds/promotion-step.ts';
import { API_VERSION } from '../../src/api/meta.ts';
import type { KindMap, KindName } from '../../src/api/registry.ts';
import type { Store } from '../../src/ports/store.ts';
import { eventually } from './command-line.ts';

/** The token of the bundle endpoint in journeys. */
export const BUNDLE_TOKEN = 'bundle-endpoint-token';

/** Runs git in a bare repository and gives what it printed. */
export const git = (repository: string, ...args: string[]): string =>
  execFileSync('git', ['--git-dir', repository, ...args], { encoding: 'utf8', maxBuffer: 1 << 26 });

/** An overlay file that names the image `registry.example/<application>` in version 0. */
export const overlay = (application: string): string =>
  `# of ${application}\nimages:\n  - name: registry.example/${application}\n    newTag: "0" # keep me\n`;

/** Makes a bare repository with the files on `main`. */
export const makeRepository = async (path: string, files: Readonly<Record<string, string>>): Promise<string> => {
  const made = await createBareRepository(path, files, { branch: 'main' });
  assert.equal(made.outcome, 'done');
  return path;
};

/** One promotion's commit, as its trailers name it. */
export interface Landed {
  readonly commit: string;
  readonly bundle: string;
  readonly environment: string;
  readonly run: string;
}

/** The promotions' commits on `main`, the oldest first; commits of others are left out. */
export const landed = (repository: string): readonly Landed[] => {
  const key = (name: string): string => `%(trailers:key=Promoter-${name},valueonly,separator=%x2c)`;
  return git(repository, 'log', '--reverse', `--format=%H|${key('Bundle')}|${key('Environment')}|${key('Run')}`, 'main')
    .trim()
    .split('\n')
    .map((line) => line.split('|'))
    .filter((fields) => fields[3] !== undefined && fields[3] !== '')
    .map(([commit = '', bundle = '', environment = '', run = '']) => ({ commit, bundle: bundle.split('/')[1] ?? '', environment, run }));
};

/** A file at the tip of `main`. */
export const fileAt = (repository: string, path: string): string => git(repository, 'show', `main:${path}`);

/** A client of the resource API; it ends with the test. */
export const connect = async (context: TestContext, kubeconfig: string): Promise<Store> => {
  const access = await loadKubeconfig(kubeconfig);
  assert.ok(access.outcome === 'done');
  const store = createHttpStore(access.value);
  context.after(() => store.close());
  return store;
};

/** Creates a resource, or brings the present one to what is given. */
export const apply = async <T extends KindMap[KindName]>(store: Store, object: T): Promise<T> => {
  const created = await store.create(object);
  if (created.ok) return created.object;
  assert.equal(created.error.code, 'AlreadyExists', created.error.message);
  const updated = await store.update(object);
  assert.ok(updated.ok, updated.ok ? '' : updated.error.message);
  return updated.object;
};

/** A Pipeline in namespace default. */
export const pipeline = (
  name: string,
  git: string | PipelineGit,
  environments: readonly Environment[],
  more: Partial<PipelineSpec> = {},
): Pipeline => ({
  apiVersion: API_VERSION,
  kind: 'Pipeline',
  metadata: { name, namespace: 'default' },
  spec: { git: typeof git === 'string' ? { url: git, provider: 'git' } : git, environments: [...environments], ...more },
});

/** Health of a Deployment that no image proves: it counts once it has held for `settle`. */
export const settledIn = (settle: string, name = 'steady'): NonNullable<Environment['health']> => ({
  type: 'resource',
  resource: { name, namespace: 'steady' },
  settle,
});

/** A Deployment with that condition; it runs an image of its own when none is given. */
export const deployment = (namespace: string, name: string, options: { image?: string; available?: boolean } = {}): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: { replicas: 1, template: { spec: { containers: [{ name: 'main', image: options.image ?? 'registry.example/other:1' }] } } },
  status: { conditions: [{ type: 'Available', status: options.available === false ? 'False' : 'True' }] },
});

/** Writes a Deployment with its status. */
export const deploy = async (store: Store, object: Deployment): Promise<void> => {
  const written = await apply(store, object);
  const status = { ...object.status, observedGeneration: written.metadata.generation ?? 1 };
  const result = await store.updateStatus({ ...written, status });
  assert.ok(result.ok, result.ok ? '' : result.error.message);
};

/** The workload that `settledIn` looks at. */
export const deploySteady = (store: Store): Promise<void> => deploy(store, deployment('steady', 'steady'));

/** Posts an image Bundle of `registry.example/<application>` and gives its name. */
export const post = async (
  http: string,
  application: string,
  tag: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> => {
  const answer = await fetch(`${http}/api/v1/bundles`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BUNDLE_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ pipeline: application, images: [{ repository: `registry.example/${application}`, tag }], ...more }),
  });
  const text = await answer.text();
  assert.equal(answer.status, 201, text);
  return (JSON.parse(text) as { name: string }).name;
};

/** A Bundle in namespace default, as it is now. */
export const bundleOf = async (store: Store, name: string): Promise<Bundle> => {
  const read = await store.get('Bundle', 'default', name, { fresh: true });
  assert.ok(read.ok, read.ok ? '' : read.error.message);
  return read.value;
};

/** Waits until the Bundle is in the phase; what it says of itself stands in the error when it never is. */
export const reaches = async (store: Store, name: string, phase: string): Promise<Bundle> => {
  let last: Bundle | undefined;
  const ask = async (): Promise<Bundle | undefined> => {
    last = await bundleOf(store, name);
    return last.status?.phase === phase ? last : undefined;
  };
  return eventually(ask, `${name} is ${phase}`).catch((error: unknown) => {
    throw new Error(`${name} is not ${phase}: ${JSON.stringify(last?.status)}`, { cause: error });
  });
};

/** The PromotionStep of a Bundle in an environment; undefined before it is created. */
export const stepOf = async (store: Store, bundle: string, environment: string): Promise<PromotionStep | undefined> => {
  const read = await store.list('PromotionStep', { fresh: true });
  assert.ok(read.ok, read.ok ? '' : read.error.message);
  return read.value.items.find((step) => step.spec?.bundle === bundle && step.spec.environment === environment);
};

/** The record of one step of the sequence. */
export const recordOf = (step: PromotionStep | undefined, name: string): StepRecord | undefined =>
  step?.status?.steps?.find((record) => record.name === name);

/** Waits until the PromotionStep satisfies the test. */
export const stepWhen = (
  store: Store,
  [bundle, environment]: readonly [bundle: string, environment: string],
  test: (step: PromotionStep) => boolean,
  what: string,
): Promise<PromotionStep> =>
  eventually(async () => {
    const step = await stepOf(store, bundle, environment);
    return step && test(step) ? step : undefined;
  }, `${bundle} in ${environment}: ${what}`);

/** When an environment of the Bundle came into the state, as text that sorts; empty when it never did. */
export const entered = (step: PromotionStep | undefined, state: string): string =>
  step?.status?.transitions?.find((transition) => transition.to === state)?.at ?? '';
