/**
 * Parsing: from a Pipeline as stored (every field optional, aliases allowed) to what decisions work with (defaults applied, the
 * specification's words only). Admission has refused what makes no sense; should such an object be in the store all the same, the
 * value that is missing comes out empty and the decision that needs it says so.
 */
import { canonical } from './aliases.ts';
import type { Environment, Health, Pipeline, PipelineGit, StepEntry } from './kinds/pipeline.ts';
import type { Repository } from './repository.ts';

/** One environment with all defaults. */
export interface ResolvedEnvironment {
  readonly name: string;
  readonly repository: Repository;
  /** Target branch. */
  readonly branch: string;
  readonly layout: 'directory' | 'branch';
  /** Folder of the manifests on the branch, without slashes at the ends; empty for the root. */
  readonly path: string;
  readonly provider: string;
  /** Undefined when absent or empty: the order of the list decides. */
  readonly dependsOn: readonly string[] | undefined;
  readonly wave: number;
  readonly strategy: string;
  readonly chart: { readonly file: string; readonly path: string };
  readonly approval: string;
  readonly pr: boolean;
  readonly merge: string;
  readonly renderManifests: boolean;
  readonly health: Health;
  readonly delegate: string;
  readonly shard: string | undefined;
  /** Undefined: inferred. */
  readonly steps: readonly StepEntry[] | undefined;
  readonly bake: { readonly minutes: number; readonly policy: string } | undefined;
  readonly onHealthFailure: string;
}

/** The path as git stores it: no empty segments and no `.`; empty for the root. */
const normalPath = (path: string): string =>
  path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');

const repositoryOf = (git: PipelineGit, environment: Environment, namespace: string): Repository => {
  const secret = git.secretRef?.name;
  const url = environment.gitRepo || git.url || '';
  return secret ? { url, credential: { namespace, name: secret } } : { url };
};

const placeOf = (git: PipelineGit, environment: Environment, name: string) => {
  const base = git.branch || 'main';
  if (git.layout !== 'branch') {
    return { layout: 'directory', branch: base, path: normalPath(environment.path ?? `environments/${name}`) } as const;
  }
  return {
    layout: 'branch',
    branch: environment.path || `${git.branchPrefix ?? 'env/'}${name}`,
    path: normalPath(environment.sourcePath ?? `environments/${name}`),
  } as const;
};

/** Resolves one environment against the git block it is promoted with. `namespace` is the Pipeline's. */
export const resolveEnvironment = (git: PipelineGit, environment: Environment, namespace: string): ResolvedEnvironment => {
  const name = environment.name ?? '';
  return {
    name,
    repository: repositoryOf(git, environment, namespace),
    ...placeOf(git, environment, name),
    provider: canonical('provider', git.provider ?? ''),
    dependsOn: environment.dependsOn?.length ? environment.dependsOn : undefined,
    wave: environment.wave ?? 0,
    strategy: canonical('strategy', environment.update?.strategy ?? 'overlay'),
    chart: { file: normalPath(environment.update?.chart?.file ?? 'values.yaml'), path: environment.update?.chart?.path ?? 'image.tag' },
    approval: environment.approval ?? 'auto',
    pr: environment.pr ?? false,
    merge: environment.merge ?? 'human',
    renderManifests: environment.renderManifests ?? false,
    health: environment.health ?? {},
    delegate: canonical('delegate', environment.delivery?.delegate ?? 'none'),
    shard: environment.shard || undefined,
    steps: environment.steps,
    bake: environment.bake?.minutes
      ? { minutes: environment.bake.minutes, policy: environment.bake.policy ?? 'reset-on-alarm' }
      : undefined,
    onHealthFailure: environment.onHealthFailure ?? 'none',
  };
};

/** Resolves all environments of a Pipeline, in their order. */
export const resolveEnvironments = (pipeline: Pipeline): readonly ResolvedEnvironment[] =>
  (pipeline.spec?.environments ?? []).map((environment) =>
    resolveEnvironment(pipeline.spec?.git ?? {}, environment, pipeline.metadata.namespace ?? 'default'),
  );
