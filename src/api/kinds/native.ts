/** The Kubernetes kinds that the embedded API serves besides ours, as far as this service reads them. Unknown fields are kept as given. */
import type { Condition, Resource } from '../meta.ts';

/** v1 Secret; `data` is base64, `stringData` is folded into it on write. */
export interface Secret extends Resource {
  kind: 'Secret';
  type?: string;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  immutable?: boolean;
}

/** v1 ConfigMap. */
export interface ConfigMap extends Resource {
  kind: 'ConfigMap';
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

/** v1 Namespace. Cluster-scoped. */
export interface Namespace extends Resource {
  kind: 'Namespace';
  status?: { phase?: string };
}

/** v1 Event. */
export interface Event extends Resource {
  kind: 'Event';
  reason?: string;
  message?: string;
  type?: string;
}

/** The pod template as far as it is read. */
export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: { containers?: { name: string; image?: string }[]; initContainers?: { name: string; image?: string }[] };
}

/** apps/v1 Deployment. */
export interface Deployment extends Resource {
  kind: 'Deployment';
  spec?: { replicas?: number; selector?: { matchLabels?: Record<string, string> }; template?: PodTemplate };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
    conditions?: Partial<Condition>[];
  };
}

/** batch/v1 Job. */
export interface Job extends Resource {
  kind: 'Job';
  spec?: { template?: PodTemplate; ttlSecondsAfterFinished?: number; backoffLimit?: number };
  status?: {
    succeeded?: number;
    failed?: number;
    active?: number;
    startTime?: string;
    completionTime?: string;
    conditions?: Partial<Condition>[];
  };
}

/** coordination.k8s.io/v1 Lease. */
export interface Lease extends Resource {
  kind: 'Lease';
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; acquireTime?: string; renewTime?: string; leaseTransitions?: number };
}
