/** What happens in one run besides faults: repositories, Pipelines, Bundles, outside commits and how Deployments behave. All from the seed. */
import type { Bundle } from '../../src/api/kinds/bundle.ts';
import type { Environment, Pipeline } from '../../src/api/kinds/pipeline.ts';
import type { PolicyGate } from '../../src/api/kinds/policy-gate.ts';
import { API_VERSION } from '../../src/api/meta.ts';
import type { Random } from './random.ts';

/** How an environment's Deployment behaves when it gets a new version. */
export interface Behaviour {
  /** Milliseconds from the change of the Deployment until its controller has seen it. */
  readonly observedAfter: number;
  /** Milliseconds until it is available; undefined: never. */
  readonly readyAfter: number | undefined;
  /** Milliseconds after that at which it turns unhealthy, and for how long. */
  readonly dip: { readonly after: number; readonly length: number } | undefined;
}

/** One Pipeline of a scenario. */
export interface PlannedPipeline {
  readonly pipeline: Pipeline;
  readonly createdAt: number;
  /** When it is deleted, to be created again half a minute later. */
  readonly recreatedAt: number | undefined;
  readonly edit: { readonly at: number; readonly spec: NonNullable<Pipeline['spec']> } | undefined;
  readonly images: readonly string[];
  readonly url: string;
}

/** One Bundle of a scenario. */
export interface PlannedBundle {
  readonly bundle: Bundle;
  readonly at: number;
  readonly tag: string;
  /** It comes at the worst moment, if there is one before its time: while an older Bundle of its Pipeline is being pushed. */
  readonly onPush: boolean;
}

/** What somebody else does to a repository. */
export interface OutsideChange {
  readonly at: number;
  readonly url: string;
  readonly note: string;
  /** Folder whose images are set to something else; only an unrelated file is written when absent. */
  readonly overwrites?: string;
  /** The branch is moved back by so many commits. */
  readonly rewinds?: number;
}

/** A PolicyGate that holds environments of one name while it exists. */
export interface PlannedGate {
  readonly gate: PolicyGate;
  readonly environment: string;
  readonly from: number;
  readonly to: number;
}

/** Times are milliseconds after the start. */
export interface Scenario {
  readonly repositories: readonly string[];
  readonly pipelines: readonly PlannedPipeline[];
  readonly bundles: readonly PlannedBundle[];
  readonly outside: readonly OutsideChange[];
  /** Bundles that a user deletes, by name; some are made again under the same name a moment later. */
  readonly deletions: readonly { readonly at: number; readonly bundle: string; readonly againAt: number | undefined }[];
  /** PolicyGates that come and go. */
  readonly gates: readonly PlannedGate[];
  /** Times in which a repository refuses access. */
  readonly outages: readonly { readonly url: string; readonly from: number; readonly to: number }[];
  /** Paths that a hook of the server protects. */
  readonly protectedPaths: readonly string[];
  readonly gitopsDelay: () => number;
  readonly behaviour: (pipeline: string, environment: string, tag: string) => Behaviour;
  /** When the last planned thing happens. */
  readonly endMs: number;
}

/** Namespace of the Pipelines. */
export const NAMESPACE = 'team-a';
/** Namespace of the gates that apply to everybody. */
export const POLICIES = 'platform-policies';
/** Branch that everything is promoted on. */
export const BRANCH = 'main';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const SHAPES: readonly (readonly Environment[])[] = [
  [{ name: 'prod' }],
  [{ name: 'dev' }, { name: 'prod' }],
  [{ name: 'dev' }, { name: 'staging' }, { name: 'prod' }],
  [{ name: 'dev' }, { name: 'eu', dependsOn: ['dev'] }, { name: 'us', dependsOn: ['dev'] }, { name: 'prod', dependsOn: ['eu', 'us'] }],
  [{ name: 'dev' }, { name: 'eu', wave: 1 }, { name: 'us', wave: 1 }, { name: 'asia', wave: 3 }, { name: 'prod' }],
  [{ name: 'dev' }, { name: 'qa' }, { name: 'load', dependsOn: ['dev'] }],
  [
    { name: 'a', wave: 1 },
    { name: 'b', wave: 1 },
    { name: 'c', wave: 2 },
    { name: 'd', wave: 2 },
  ],
];

const drawBake = (random: Random): Partial<Environment> => {
  if (!random.chance(0.2)) return {};
  const policy = random.pick(['reset-on-alarm', 'fail-on-alarm']);
  return { bake: { minutes: random.between(1, 2), policy }, onHealthFailure: random.pick(['none', 'abort']) };
};

const drawEnvironment = (shape: Environment, name: string, random: Random): Environment => ({
  ...shape,
  path: `apps/${name}/${shape.name ?? ''}`,
  health: { type: 'resource', ...(random.chance(0.25) ? { timeout: '2m' } : {}) },
  ...(random.chance(0.2) ? { update: { strategy: 'chart' } } : {}),
  ...drawBake(random),
});

const drawEdit = (pipeline: Pipeline, random: Random): PlannedPipeline['edit'] => {
  if (!random.chance(0.25) || !pipeline.spec) return undefined;
  const environments = pipeline.spec.environments ?? [];
  const at = random.between(10 * SECOND, 3 * MINUTE);
  const last = environments.at(-1);
  const edited = random.pick<readonly Environment[]>([
    environments.map((environment) => ({ ...environment, health: { ...environment.health, timeout: '11m' } })),
    [...environments, { name: 'late', path: `apps/${pipeline.metadata.name}/late`, health: { type: 'resource' } }],
    environments.length > 2 && last
      ? environments.map((other) => (other === last ? { ...other, dependsOn: [environments[0]?.name ?? ''] } : other))
      : environments,
    environments.length > 2 ? environments.filter((_, index) => index !== 1).map(({ dependsOn: _, ...rest }) => rest) : environments,
  ]);
  return { at, spec: { ...pipeline.spec, environments: [...edited] } };
};

const drawPipeline = (index: number, urls: readonly string[], random: Random): PlannedPipeline => {
  const name = ['web', 'api', 'jobs'][index] ?? `app-${index}`;
  const url = random.pick(urls);
  const environments = random.pick(SHAPES).map((shape) => drawEnvironment(shape, name, random));
  const charts = environments.some((environment) => environment.update?.strategy === 'chart');
  const pipeline: Pipeline = {
    apiVersion: API_VERSION,
    kind: 'Pipeline',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      git: { url, branch: BRANCH, provider: 'git', secretRef: { name: 'git-token' } },
      environments,
      historyLimit: random.chance(0.1) ? 1 : 20,
    },
  };
  const recreatedAt = random.chance(0.05) ? random.between(MINUTE, 3 * MINUTE) : undefined;
  return {
    pipeline,
    url,
    createdAt: random.chance(0.1) ? random.below(MINUTE) : 0,
    recreatedAt,
    edit: recreatedAt === undefined ? drawEdit(pipeline, random) : undefined,
    images: !charts && random.chance(0.3) ? [`registry.test/${name}`, `registry.test/${name}-sidecar`] : [`registry.test/${name}`],
  };
};

const drawIntent = (planned: PlannedPipeline, random: Random): Bundle['spec'] => {
  const names = (planned.pipeline.spec?.environments ?? []).map((environment) => environment.name ?? '');
  // An edit may remove what an intent names; such a Bundle is refused or not depending on the moment.
  if (planned.edit) return {};
  if (random.chance(0.1)) return { intent: { targetEnvironment: random.pick(names) } };
  if (names.length > 2 && random.chance(0.1)) return { intent: { skipEnvironments: [names[1] ?? ''] } };
  return {};
};

const drawBundles = (planned: PlannedPipeline, random: Random): PlannedBundle[] => {
  const name = planned.pipeline.metadata.name;
  let at = random.below(20 * SECOND);
  return Array.from({ length: random.pick([1, 2, 2, 3, 4]) }, (_, index) => {
    const tag = `v${index + 1}`;
    const images = planned.images.map((repository, which) => ({
      repository,
      tag,
      ...(which === 0 && random.chance(0.1) ? { digest: `sha256:${(index + 1).toString(16).padStart(64, 'a')}` } : {}),
    }));
    const bundle: Bundle = {
      apiVersion: API_VERSION,
      kind: 'Bundle',
      metadata: { name: `${name}-${tag}`, namespace: NAMESPACE, labels: { 'promoter.io/pipeline': name } },
      spec: { type: 'image', pipeline: name, images, ...drawIntent(planned, random) },
    };
    const entry = { bundle, at, tag, onPush: index > 0 && random.chance(0.4) };
    at += random.pick([random.below(800), random.below(10 * SECOND), random.below(40 * SECOND), random.between(30 * SECOND, 3 * MINUTE)]);
    return entry;
  });
};

const drawBehaviour = (random: Random): Behaviour => {
  const observedAfter = random.pick([0, 200, 3_000]);
  const kind = random.next();
  if (kind < 0.06) return { observedAfter, readyAfter: undefined, dip: undefined };
  const readyAfter = observedAfter + (kind < 0.8 ? random.below(15 * SECOND) : random.below(90 * SECOND));
  const dip = random.chance(0.15) ? { after: random.below(60 * SECOND), length: random.between(2 * SECOND, 30 * SECOND) } : undefined;
  return { observedAfter, readyAfter, dip };
};

const drawOutside = (urls: readonly string[], pipelines: readonly PlannedPipeline[], random: Random): OutsideChange[] =>
  Array.from({ length: random.pick([0, 0, 1, 3]) }, (_, index) => {
    const planned = random.pick(pipelines);
    const environment = random.pick(planned.pipeline.spec?.environments ?? []);
    const change = { at: random.below(4 * MINUTE), note: `change ${index}` };
    if (random.chance(0.3)) return { ...change, url: planned.url, overwrites: `${environment.path ?? ''}/` };
    if (random.chance(0.1)) return { ...change, url: planned.url, rewinds: random.between(1, 3) };
    return { ...change, url: random.pick(urls) };
  });

const drawGate = (pipelines: readonly PlannedPipeline[], random: Random): PlannedGate => {
  const environment = random.pick(random.pick(pipelines).pipeline.spec?.environments ?? []).name ?? '';
  const from = random.below(2 * MINUTE);
  const gate: PolicyGate = {
    apiVersion: API_VERSION,
    kind: 'PolicyGate',
    metadata: {
      name: `hold-${environment}`,
      namespace: random.pick([NAMESPACE, POLICIES]),
      labels: { 'promoter.io/applies-to': environment },
    },
    spec: { expression: 'false', message: 'not now' },
  };
  return { gate, environment, from, to: from + random.between(5 * SECOND, 3 * MINUTE) };
};

const drawDeletion = (bundles: readonly PlannedBundle[], random: Random): Scenario['deletions'][number] => {
  const planned = random.pick(bundles);
  const at = planned.at + random.below(MINUTE);
  return { at, bundle: planned.bundle.metadata.name, againAt: random.chance(0.6) ? at + random.below(10 * SECOND) : undefined };
};

const drawOutage = (url: string, random: Random): Scenario['outages'][number] => {
  const from = random.below(2 * MINUTE);
  return { url, from, to: from + random.between(10 * SECOND, 5 * MINUTE) };
};

/** Draws a scenario. */
export const drawScenario = (random: Random): Scenario => {
  const repositories = Array.from({ length: random.between(1, 2) }, (_, index) => `https://git.test/fleet-${index}.git`);
  const pipelines = Array.from({ length: random.pick([1, 1, 2, 3]) }, (_, index) =>
    drawPipeline(index, repositories, random.fork(`pipeline-${index}`)),
  );
  const bundles = pipelines.flatMap((planned) => drawBundles(planned, random.fork(`bundles-${planned.pipeline.metadata.name}`)));
  const outside = drawOutside(repositories, pipelines, random.fork('outside'));
  const deletions = random.chance(0.1) ? [drawDeletion(bundles, random.fork('deletions'))] : [];
  const gates = random.chance(0.2) ? [drawGate(pipelines, random.fork('gates'))] : [];
  const outages = random.chance(0.15) ? [drawOutage(random.pick(repositories), random)] : [];
  const first = pipelines[0];
  const environments = first?.pipeline.spec?.environments ?? [];
  const protectedPaths = random.chance(0.05) && environments.length > 0 ? [`${random.pick(environments).path ?? ''}/`] : [];
  const slowest = random.pick([500, 5_000, 30_000]);
  const gitops = random.fork('gitops');
  const behaviours = new Map<string, Behaviour>();
  const times = [
    ...bundles.map((planned) => planned.at),
    ...[...outside, ...deletions].map((change) => change.at),
    ...[...outages, ...gates].map((span) => span.to),
    ...pipelines.flatMap((planned) => [planned.createdAt, planned.edit?.at ?? 0, (planned.recreatedAt ?? 0) + 30 * SECOND]),
  ];
  return {
    repositories,
    pipelines,
    bundles,
    outside,
    deletions,
    gates,
    outages,
    protectedPaths,
    gitopsDelay: () => gitops.below(slowest),
    behaviour: (pipeline, environment, tag) => {
      const key = `${pipeline}/${environment}/${tag}`;
      const behaviour = behaviours.get(key) ?? drawBehaviour(random.fork(`behaviour-${key}`));
      behaviours.set(key, behaviour);
      return behaviour;
    },
    endMs: Math.max(...times) + 30 * SECOND,
  };
};
