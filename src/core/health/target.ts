/** What a health check looks at (spec, "health block"). */
import { canonical } from '../../api/aliases.ts';
import { parseDuration } from '../../api/duration.ts';
import type { ResolvedEnvironment } from '../../api/resolve.ts';

/** A target of type `resource`, with the times that its verdict depends on, in milliseconds. */
export interface HealthTarget {
  readonly namespace: string;
  readonly name: string;
  readonly condition: string;
  /** Watch all Deployments with these labels instead of the one by name. */
  readonly selector: Readonly<Record<string, string>> | undefined;
  /** Secret that holds the kubeconfig of a remote cluster. */
  readonly cluster: string | undefined;
  readonly timeoutMs: number;
  readonly settleMs: number;
}

const DEFAULT_TIMEOUT_MS = 600_000;
const DEFAULT_SETTLE_MS = 10_000;

/** The target of an environment; `pipeline` is the Pipeline's name. */
export const healthTarget = (environment: ResolvedEnvironment, pipeline: string): HealthTarget => {
  const { health } = environment;
  const labels = health.labelSelector;
  return {
    namespace: health.resource?.namespace || environment.name,
    name: health.resource?.name || pipeline,
    condition: health.resource?.condition || 'Available',
    selector: labels && Object.keys(labels).length > 0 ? labels : undefined,
    cluster: health.cluster || undefined,
    timeoutMs: parseDuration(health.timeout ?? '') ?? DEFAULT_TIMEOUT_MS,
    settleMs: parseDuration(health.settle ?? '') ?? DEFAULT_SETTLE_MS,
  };
};

/** What this version cannot check, and says so before anything is written; undefined when it can. */
export const unsupportedHealth = (environment: ResolvedEnvironment): string | undefined => {
  const type = canonical('healthType', environment.health.type ?? 'resource');
  if (type !== 'resource') return `health.type ${type} is not available in this version; use resource`;
  const kind = environment.health.resource?.kind ?? 'Deployment';
  if (kind !== 'Deployment') return `health.resource.kind ${kind} is not available in this version; use Deployment`;
  if (environment.health.cluster) return 'health.cluster is not available in this version; leave it out for the local cluster';
  return undefined;
};
