/** The cluster port over the Deployments of a store. */
import { done, type Outcome, type Terminal, terminal, transient } from '../api/outcome.ts';
import type { ClusterReader, ClusterRef } from '../ports/cluster.ts';
import type { Store, StoreError } from '../ports/store.ts';

const remote = ({ namespace, name }: { readonly namespace: string; readonly name: string }): Terminal =>
  terminal(
    'RemoteClusterUnavailable',
    `health.cluster names the Secret ${namespace}/${name}, but other clusters are not available with the embedded store yet; leave health.cluster out to read workloads of the local store`,
  );

const failed = (error: StoreError): Outcome<never> =>
  error.code === 'BadRequest' || error.code === 'Invalid'
    ? terminal('InvalidSelector', error.message)
    : transient('StoreUnavailable', `workloads cannot be read: ${error.message}`);

const selectorOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

const refusedRemote = (cluster: ClusterRef): Terminal | undefined =>
  cluster.cluster === 'remote' ? remote(cluster.kubeconfig) : undefined;

/**
 * Makes the port for the local cluster. A remote cluster gives the terminal outcome `RemoteClusterUnavailable`; labels that Kubernetes does not
 * take give `InvalidSelector`.
 */
export const createClusterReader = (store: Store): ClusterReader => ({
  deployment: async (cluster, namespace, name) => {
    const refusal = refusedRemote(cluster);
    if (refusal) return refusal;
    const found = await store.get('Deployment', namespace, name);
    if (found.ok) return done(found.value);
    return found.error.code === 'NotFound' ? done(undefined) : failed(found.error);
  },
  deployments: async (cluster, namespace, labels) => {
    const refusal = refusedRemote(cluster);
    if (refusal) return refusal;
    const page = await store.list('Deployment', { namespace, labelSelector: selectorOf(labels) });
    return page.ok ? done(page.value.items) : failed(page.error);
  },
});
