/** A stand-in for a GitOps tool and a cluster: applies what is on the branch into Deployments after a while, which then roll out as planned. */
import type { Deployment } from '../../src/api/kinds/native.ts';
import type { Resource } from '../../src/api/meta.ts';
import type { GitRemotes } from './git-remotes.ts';
import { allEnvironments, FIRST_TAG, imagesAt } from './manifests.ts';
import { type Behaviour, BRANCH, type PlannedPipeline, type Scenario } from './scenario.ts';
import type { Scheduler } from './scheduler.ts';
import type { StoreCore } from './store-core.ts';

/** What the stand-in works on. */
export interface GitopsWorld {
  readonly scenario: Scenario;
  readonly remotes: GitRemotes;
  readonly core: StoreCore;
  readonly scheduler: Scheduler;
}

const ACTOR = 'gitops';

const container = (reference: string, index: number) => ({ name: `c${index}`, image: reference });

const healthyStatus = (generation: number, available: boolean, updated: number): NonNullable<Deployment['status']> => ({
  observedGeneration: generation,
  replicas: 1,
  updatedReplicas: updated,
  availableReplicas: available ? 1 : 0,
  conditions: [{ type: 'Available', status: available ? 'True' : 'False' }],
});

/** The Deployment of an environment as it is now. */
export const deploymentOf = (core: StoreCore, namespace: string, name: string): Deployment | undefined => {
  const found = core.get('Deployment', namespace, name);
  return found && asDeployment(found);
};

/** A copy of a Deployment. */
export const asDeployment = (object: Resource): Deployment => JSON.parse(JSON.stringify(object));

/** Makes the Deployments and begins to follow the branches. */
export const startGitops = (world: GitopsWorld): void => {
  const { scenario, remotes, core, scheduler } = world;
  for (const planned of scenario.pipelines) {
    for (const environment of allEnvironments(planned)) createDeployment(core, planned, environment.name ?? '');
  }
  remotes.onLanded(({ url }) => {
    scheduler.after(scenario.gitopsDelay(), `gitops applies ${url}`, () => {
      for (const planned of scenario.pipelines.filter((candidate) => candidate.url === url)) apply(world, planned);
    });
  });
};

const createDeployment = (core: StoreCore, planned: PlannedPipeline, namespace: string): void => {
  const name = planned.pipeline.metadata.name;
  const containers = planned.images.map((image, index) => container(`${image}:${FIRST_TAG}`, index));
  const deployment: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: { replicas: 1, template: { spec: { containers } } },
  };
  core.create(deployment, ACTOR);
  core.updateStatus({ ...deployment, status: healthyStatus(1, true, 1) } as Resource, ACTOR);
};

const apply = ({ scenario, remotes, core, scheduler }: GitopsWorld, planned: PlannedPipeline): void => {
  const tip = remotes.tip(planned.url, BRANCH);
  if (!tip) return;
  const name = planned.pipeline.metadata.name;
  for (const environment of allEnvironments(planned)) {
    const namespace = environment.name ?? '';
    const wanted = imagesAt(tip.files, environment, planned.images);
    const deployment = deploymentOf(core, namespace, name);
    const containers = wanted.map(container);
    if (!deployment || JSON.stringify(deployment.spec?.template?.spec?.containers) === JSON.stringify(containers)) continue;
    const updated: Deployment = { ...deployment, spec: { ...deployment.spec, template: { spec: { containers } } } };
    core.update(updated, ACTOR);
    const generation = core.get('Deployment', namespace, name)?.metadata.generation ?? 0;
    const tag = /:([^:@/]+)(?:@|$)/.exec(wanted[0] ?? '')?.[1] ?? '';
    rollOut({ core, scheduler, namespace, name, generation }, scenario.behaviour(name, namespace, tag));
  }
};

interface Rollout {
  readonly core: StoreCore;
  readonly scheduler: Scheduler;
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
}

const rollOut = (rollout: Rollout, behaviour: Behaviour): void => {
  const { core, scheduler, namespace, name, generation } = rollout;
  const later = (delay: number, what: string, status: NonNullable<Deployment['status']>) =>
    scheduler.after(delay, `${namespace}/${name} ${what}`, () => {
      const deployment = deploymentOf(core, namespace, name);
      if (deployment?.metadata.generation !== generation) return;
      core.updateStatus({ ...deployment, status } as Resource, ACTOR);
    });
  const { observedAfter, readyAfter, dip } = behaviour;
  const stuck = readyAfter === undefined;
  later(observedAfter, stuck ? 'is stuck' : 'rolls out', healthyStatus(generation, !stuck, stuck ? 1 : 0));
  if (stuck) return;
  later(readyAfter, 'is ready', healthyStatus(generation, true, 1));
  if (!dip) return;
  later(readyAfter + dip.after, 'turns unhealthy', healthyStatus(generation, false, 1));
  later(readyAfter + dip.after + dip.length, 'is healthy again', healthyStatus(generation, true, 1));
};
