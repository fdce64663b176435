/** Stands in for a GitOps tool: when a push has landed, the Deployment of that environment is brought to the new version. */
import type { Deployment } from '../../src/api/kinds/native.ts';
import type { PromotionStep } from '../../src/api/kinds/promotion-step.ts';
import type { Store } from '../../src/ports/store.ts';
import { deploymentsOf, TAG } from './resources.ts';

/** How long a new version takes to be available: no two Deployments of an environment alike, as in a cluster. */
const rollOutMs = (app: number): number => 200 + ((app * 7919) % 2000);

/** Rolls out what landed; gives the number of writes that it made so far. */
export const createRollouts = (store: Store, apps: ReadonlyMap<string, number>) => {
  let writes = 0;
  const rollOut = async ({ spec }: PromotionStep): Promise<void> => {
    const app = apps.get(spec?.pipeline ?? '');
    const next = deploymentsOf(app ?? -1, TAG).find(({ metadata }) => metadata.namespace === spec?.environment);
    if (app === undefined || next === undefined) throw new Error(`nothing to roll out for ${spec?.pipeline}`);
    const written = await store.update<Deployment>(next);
    if (!written.ok) throw new Error(written.error.message);
    await new Promise((resolve) => setTimeout(resolve, rollOutMs(app)));
    const observedGeneration = written.object.metadata.generation ?? 1;
    await store.updateStatus<Deployment>({ ...next, status: { ...next.status, observedGeneration } });
    writes += 2;
  };
  return { landed: (step: PromotionStep): void => void rollOut(step), writes: () => writes };
};
