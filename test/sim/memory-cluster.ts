/** Reads Deployments of the store's core as a cluster reader does: late, stale, or not at all. */
import type { Deployment } from '../../src/api/kinds/native.ts';
import { done, type Outcome, transient } from '../../src/api/outcome.ts';
import type { ClusterReader } from '../../src/ports/cluster.ts';
import { keyOf, type StoreCore } from './store-core.ts';
import type { Snapshot } from './store-views.ts';
import type { Turnstile } from './turnstile.ts';

/** What goes wrong, asked at each call. */
export interface ClusterFaults {
  failure(): Outcome<never> | undefined;
  /** What a stale read sees; undefined: the latest. */
  stale(): Snapshot | undefined;
}

/** What the adapter needs. */
export interface MemoryClusterOptions {
  readonly core: StoreCore;
  readonly turnstile: Turnstile;
  readonly faults?: ClusterFaults;
  /** Hears of what the caller is told about one Deployment. */
  readonly observed?: (namespace: string, name: string, seen: Outcome<Deployment | undefined>) => void;
}

const copy = (object: unknown): Deployment => JSON.parse(JSON.stringify(object));

/** Makes the adapter; every cluster is the same one. */
export const createMemoryCluster = ({ core, turnstile, faults, observed }: MemoryClusterOptions): ClusterReader => {
  const objects = () => faults?.stale()?.objects ?? core.all('Deployment');
  return {
    deployment: async (_cluster, namespace, name) => {
      const answer = await turnstile.call({
        target: 'cluster',
        label: `cluster.deployment ${keyOf(namespace, name)}`,
        writes: false,
        show: (outcome) =>
          outcome.outcome === 'done' ? (outcome.value ? `rv ${outcome.value.metadata.resourceVersion}` : 'none') : outcome.reason.code,
        execute: (): Outcome<Deployment | undefined> => {
          const failure = faults?.failure();
          if (failure) return failure;
          const found = objects().get(keyOf(namespace, name));
          return done(found ? copy(found) : undefined);
        },
      });
      observed?.(namespace, name, answer);
      return answer;
    },
    deployments: (_cluster, namespace, labels) =>
      turnstile.call({
        target: 'cluster',
        label: `cluster.deployments ${namespace}`,
        writes: false,
        execute: (): Outcome<readonly Deployment[]> => {
          const failure = faults?.failure();
          if (failure) return failure;
          const wanted = Object.entries(labels);
          const found = [...objects().values()].filter(
            (object) => object.metadata.namespace === namespace && wanted.every(([key, value]) => object.metadata.labels?.[key] === value),
          );
          return done(found.map(copy));
        },
      }),
  };
};

/** The failure that a cluster reader gives when the cluster cannot be reached. */
export const clusterUnreachable = (): Outcome<never> => transient('ClusterUnreachable', 'connection refused');
