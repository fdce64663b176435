/** Reads workloads of a cluster for health checks; never writes. */
import type { Deployment } from '../api/kinds/native.ts';
import type { Outcome } from '../api/outcome.ts';
import type { SecretRef } from '../api/repository.ts';

/** The cluster a workload lives in: the local one, or the one whose kubeconfig a Secret holds. */
export type ClusterRef = { readonly cluster: 'local' } | { readonly cluster: 'remote'; readonly kubeconfig: SecretRef };

export interface ClusterReader {
  /** Undefined when it does not exist. */
  deployment(cluster: ClusterRef, namespace: string, name: string): Promise<Outcome<Deployment | undefined>>;
  /** All Deployments of the namespace with these labels. */
  deployments(cluster: ClusterRef, namespace: string, labels: Readonly<Record<string, string>>): Promise<Outcome<readonly Deployment[]>>;
}
