/** One look at one resource: gather, decide, apply. */
import { decideBundle } from '../core/bundle/decide.ts';
import type { ActivityEffect, Decision } from '../core/effect.ts';
import { equal } from '../core/equal.ts';
import { decideGraph } from '../core/graph/decide.ts';
import { decidePipeline } from '../core/pipeline/decide.ts';
import { decideStep } from '../core/step/decide.ts';
import type { Clock } from '../ports/clock.ts';
import type { ClusterReader } from '../ports/cluster.ts';
import type { Log } from '../ports/log.ts';
import type { ReadResult } from '../ports/store.ts';
import { type Gathered, gatherBundle, gatherGraph, gatherPipeline, gatherStep, type WorldKey } from '../world/gather.ts';
import type { ReadContext } from '../world/reads.ts';
import type { Activities } from './activities.ts';
import { writeResources } from './effects/write-resources.ts';
import { type Key, keyText, type Reconciled } from './keys.ts';
import type { Look, Next } from './work-queue.ts';

export interface ReconcilePorts {
  readonly context: Omit<ReadContext, 'fresh'>;
  readonly cluster: ClusterReader;
  readonly clock: Clock;
  readonly log: Log;
  readonly activities: () => Pick<Activities, 'mark' | 'start'>;
}

type Decider = (context: ReadContext, ports: ReconcilePorts, key: WorldKey) => Promise<ReadResult<Decision | undefined>>;

const decisionOf = <World>(gathered: Gathered<World>, decide: (world: World) => Decision): ReadResult<Decision | undefined> =>
  gathered.ok ? { ok: true, value: gathered.value === undefined ? undefined : decide(gathered.value) } : gathered;

const DECIDERS: Readonly<Record<Reconciled, Decider>> = {
  Bundle: async (context, { clock }, key) => decisionOf(await gatherBundle(context, key), (world) => decideBundle(world, clock.now())),
  Pipeline: async (context, { clock }, key) =>
    decisionOf(await gatherPipeline(context, key), (world) => decidePipeline(world, clock.now())),
  Graph: async (context, { clock }, key) => decisionOf(await gatherGraph(context, key), (world) => decideGraph(world, clock.now())),
  PromotionStep: async (context, { clock, cluster }, key) =>
    decisionOf(await gatherStep(context, cluster, key), (world) => decideStep(world, clock.now())),
};

/** Looks at the key once; the worker is given back when only writes are left to do. */
export const reconcile = async (ports: ReconcilePorts, key: Key, look: Look): Promise<Next> => {
  const { context, log } = ports;
  const activities = ports.activities();
  const mark = activities.mark();
  const decision = await DECIDERS[key.kind]({ ...context, fresh: look.fresh }, ports, key);
  if (!decision.ok) {
    log.warn('reading failed', { key: keyText(key), code: decision.error.code, reason: decision.error.message });
    return { next: 'failed' };
  }
  if (decision.value === undefined) return { next: 'rest' };
  look.decided();
  const { writes, activity, reason, lookAgainAt } = decision.value;
  const error = await writeResources(context.store, writes);
  if (error) {
    const level = error.code === 'Conflict' ? 'debug' : 'warn';
    log[level]('a write was refused', { key: keyText(key), code: error.code, reason: error.message });
    return { next: 'failed' };
  }
  log.debug('looked', { key: keyText(key), reason: reason.code, message: reason.message, writes: writes.length, activity: activity?.kind });
  if (activity && activities.start(activity, mark) === 'outdated') return { next: 'failed' };
  return lookAgainAt === undefined ? { next: 'rest' } : { next: 'at', time: lookAgainAt };
};

/** Whether the latest state of everything still asks for this very activity: the same gather and decide, once more, right before the write. */
export const stillWanted = async (ports: ReconcilePorts, effect: ActivityEffect): Promise<boolean> => {
  const decision = await DECIDERS.PromotionStep({ ...ports.context, fresh: true }, ports, effect.step);
  if (!decision.ok || decision.value === undefined) return false;
  return equal(decision.value.activity, effect);
};
