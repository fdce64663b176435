/** What Deployments say about the health of an environment that was just written to (spec, adapter `resource`). */
import { parseImage } from '../../api/image-reference.ts';
import type { Image } from '../../api/kinds/bundle.ts';
import type { Deployment } from '../../api/kinds/native.ts';
import type { Outcome, Reason } from '../../api/outcome.ts';
import type { HealthTarget } from './target.ts';

/**
 * One observation. `proven`: something shows that what is healthy is the new version. `contradicted`: another version is there. `progressing`: a rollout
 * is under way. Both block, and neither is an alarm. `unknown`: nothing could be seen, which is neither health nor an alarm. `impossible`: nothing
 * ever will be.
 */
export interface Observation {
  readonly verdict: 'healthy' | 'contradicted' | 'progressing' | 'unhealthy' | 'unknown' | 'impossible';
  readonly proven: boolean;
  readonly reason: Reason;
}

const unhealthy = (code: string, message: string): Observation => ({ verdict: 'unhealthy', proven: false, reason: { code, message } });

const blocked = (verdict: 'contradicted' | 'progressing', code: string, message: string): Observation => ({
  verdict,
  proven: false,
  reason: { code, message },
});

const sameImage = (running: Image, wanted: Image): boolean =>
  wanted.digest && running.digest
    ? running.digest === wanted.digest
    : (running.tag ?? '') === (wanted.tag ?? '') && wanted.tag !== undefined;

/** Containers that run an image of the Bundle: in the wanted version, or in another one. */
const compareImages = (deployment: Deployment, images: readonly Image[]): { readonly proven: boolean; readonly contradiction?: string } => {
  let proven = false;
  const { containers = [], initContainers = [] } = deployment.spec?.template?.spec ?? {};
  for (const container of [...initContainers, ...containers]) {
    const parsed = parseImage(container.image ?? '');
    if (!parsed.ok) continue;
    const wanted = images.find((image) => image.repository === parsed.image.repository);
    if (wanted === undefined) continue;
    if (!sameImage(parsed.image, wanted)) {
      const version = [wanted.tag, wanted.digest].filter(Boolean).join('@');
      return { proven: false, contradiction: `container ${container.name} runs ${container.image ?? ''}, not ${version}` };
    }
    proven = true;
  }
  return { proven };
};

/** What is present and contradicts blocks; what is absent never does. */
const rollout = (deployment: Deployment): string | undefined => {
  const { generation } = deployment.metadata;
  const { observedGeneration, updatedReplicas, replicas } = deployment.status ?? {};
  if (generation !== undefined && observedGeneration !== undefined && observedGeneration < generation) {
    return `generation ${generation} has not been observed yet`;
  }
  if (updatedReplicas !== undefined && updatedReplicas < (deployment.spec?.replicas ?? 1)) {
    return `${updatedReplicas} of ${deployment.spec?.replicas ?? 1} replicas are updated`;
  }
  if (updatedReplicas !== undefined && replicas !== undefined && replicas > updatedReplicas) {
    return `${replicas - updatedReplicas} replicas of the old version are still there`;
  }
  return undefined;
};

/** The template says what shall run; only a controller that has seen it makes its status speak of that. */
const isObserved = ({ metadata, status }: Deployment): boolean =>
  metadata.generation !== undefined && status?.observedGeneration !== undefined && status.observedGeneration >= metadata.generation;

const observeOne = (deployment: Deployment, target: HealthTarget, images: readonly Image[]): Observation => {
  const name = `Deployment ${deployment.metadata.namespace ?? ''}/${deployment.metadata.name}`;
  const compared = compareImages(deployment, images);
  if (compared.contradiction) return blocked('contradicted', 'OldRevision', `${name}: ${compared.contradiction}`);
  const behind = rollout(deployment);
  if (behind) return blocked('progressing', 'RolloutInProgress', `${name}: ${behind}`);
  const condition = deployment.status?.conditions?.find((candidate) => candidate.type === target.condition);
  if (condition === undefined) return unhealthy('ConditionMissing', `${name} has no condition ${target.condition} yet`);
  if (condition.status !== 'True') {
    const why = condition.message || condition.reason || 'no message';
    return unhealthy('NotAvailable', `${name}: ${target.condition} is ${condition.status ?? 'Unknown'} (${why})`);
  }
  return {
    verdict: 'healthy',
    proven: compared.proven && isObserved(deployment),
    reason: { code: 'Healthy', message: `${name}: ${target.condition} is True` },
  };
};

/** Whether a Deployment runs an image of the Bundle at all; what else a selector finds proves nothing either way. */
const carries = (deployment: Deployment | undefined, images: readonly Image[]): boolean =>
  deployment !== undefined && compareImages(deployment, images).proven;

/** Judges what was read for the target against the images that shall be running. */
export const observe = (read: Outcome<readonly Deployment[]>, target: HealthTarget, images: readonly Image[]): Observation => {
  if (read.outcome !== 'done')
    return { verdict: read.outcome === 'terminal' ? 'impossible' : 'unknown', proven: false, reason: read.reason };
  const found = read.value;
  if (found.length === 0) {
    return target.selector
      ? unhealthy('NothingSelected', `no Deployment in namespace ${target.namespace} matches the labelSelector`)
      : unhealthy('DeploymentMissing', `Deployment ${target.namespace}/${target.name} not found`);
  }
  const observations = found.map((deployment) => observeOne(deployment, target, images));
  const bad =
    observations.find((observation) => observation.verdict === 'unhealthy') ??
    observations.find((observation) => observation.verdict !== 'healthy');
  if (bad) return bad;
  const carriers = observations.filter((_, index) => carries(found[index], images));
  const proven = carriers.length > 0 && carriers.every((observation) => observation.proven);
  const first = observations[0]?.reason ?? { code: 'Healthy', message: 'healthy' };
  return {
    verdict: 'healthy',
    proven,
    reason: found.length === 1 ? first : { code: 'Healthy', message: `${found.length} Deployments are healthy` },
  };
};
