/**
 * A small stand-in for a GitOps tool: it watches a branch and brings the Deployment of each environment to what the branch says, as slowly as
 * a cluster would. It is the only one here that writes Deployments; the controller just reads them.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Deployment } from '../api/kinds/native.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { imageOfFolder } from './manifest-image.ts';

/** What it works on. */
export interface StandInOptions {
  readonly store: Store;
  /** Folder of the bare repository. */
  readonly repository: string;
  readonly branch: string;
  /** Folders below `environments/`, each the namespace of a Deployment. */
  readonly environments: readonly string[];
  /** Name of the Deployments. */
  readonly workload: string;
  readonly log: Log;
}

/** A stand-in at work. */
export interface StandIn {
  readonly stop: () => Promise<void>;
}

const POLL_MS = 200;
/** How long it takes until the new version is seen, and until it runs. */
const OBSERVE_MS = 150;
const ROLL_OUT_MS = 350;
const REPLICAS = 2;

const run = promisify(execFile);
const git = async (repository: string, ...args: string[]): Promise<string | undefined> =>
  run('git', ['--git-dir', repository, ...args], { encoding: 'utf8' }).then(
    ({ stdout }) => stdout,
    () => undefined,
  );

const delay = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

const wanted = (namespace: string, name: string, image: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace, labels: { app: name } },
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name, image }] } },
  },
});

const statusOf = (generation: number, updated: number): NonNullable<Deployment['status']> => {
  const complete = updated === REPLICAS;
  const at = `${new Date().toISOString().slice(0, 19)}Z`;
  return {
    observedGeneration: generation,
    replicas: REPLICAS,
    updatedReplicas: updated,
    availableReplicas: complete ? REPLICAS : REPLICAS - 1,
    conditions: [
      {
        type: 'Available',
        status: complete ? 'True' : 'False',
        reason: complete ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
        message: complete ? 'all replicas are available' : 'the new version is being rolled out',
        lastTransitionTime: at,
      },
      {
        type: 'Progressing',
        status: 'True',
        reason: complete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
        message: '',
        lastTransitionTime: at,
      },
    ],
  };
};

const imageNow = (deployment: Deployment): string | undefined => deployment.spec?.template?.spec?.containers?.[0]?.image;

/** Writes the Deployment and lets it become available, one phase after the other. */
const rollOut = async (options: StandInOptions, namespace: string, image: string, signal: AbortSignal): Promise<void> => {
  const { store, workload, log } = options;
  const present = await store.get('Deployment', namespace, workload, { fresh: true });
  if (present.ok && imageNow(present.value) === image && present.value.status?.updatedReplicas === REPLICAS) return;
  const object = wanted(namespace, workload, image);
  const written = present.ok ? await store.update<Deployment>(object) : await store.create<Deployment>(object);
  if (!written.ok) return log.warn('the stand-in could not write a Deployment', { namespace, reason: written.error.message });
  const generation = written.object.metadata.generation ?? 1;
  for (const [updated, wait] of [
    [0, present.ok ? OBSERVE_MS : 0],
    [REPLICAS, present.ok ? ROLL_OUT_MS : 0],
  ] as const) {
    await delay(wait, signal);
    if (signal.aborted) return;
    const { resourceVersion: _, ...metadata } = written.object.metadata;
    await store.updateStatus<Deployment>({ ...object, metadata, status: statusOf(generation, updated) });
  }
};

const sync = async (options: StandInOptions, commit: string, signal: AbortSignal): Promise<void> => {
  await Promise.all(
    options.environments.map(async (environment) => {
      const read = (name: string) => git(options.repository, 'show', `${commit}:environments/${environment}/${name}`);
      const image = await imageOfFolder(read);
      if (image !== undefined && !signal.aborted) await rollOut(options, environment, image, signal);
    }),
  );
};

/** Applies what is on the branch now, then goes on watching it; resolves after the first time. */
export const startStandIn = async (options: StandInOptions): Promise<StandIn> => {
  const abort = new AbortController();
  const ref = `refs/heads/${options.branch}`;
  const tip = async (): Promise<string> => {
    // A branch that was just pushed is a file of its own: reading it starts no process at every look.
    const loose = await readFile(join(options.repository, ref), 'utf8').catch(() => undefined);
    return (loose ?? (await git(options.repository, 'rev-parse', '--verify', '--quiet', ref)) ?? '').trim();
  };
  let applied = await tip();
  await sync(options, applied, abort.signal);
  const watch = async (): Promise<void> => {
    while (!abort.signal.aborted) {
      const now = await tip();
      if (now !== applied && now !== '') {
        await sync(options, now, abort.signal);
        applied = now;
      } else await delay(POLL_MS, abort.signal);
    }
  };
  const watching = watch();
  return {
    stop: async () => {
      abort.abort();
      await watching;
    },
  };
};
