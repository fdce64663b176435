/** The loop: watches feed queues, queues feed looks, looks start activities. */
import type { Clock } from '../ports/clock.ts';
import type { ClusterReader } from '../ports/cluster.ts';
import type { GitPort } from '../ports/git.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { createActivities } from './activities.ts';
import { createEdits } from './effects/edits.ts';
import { runActivity } from './effects/run-activity.ts';
import { createInterest } from './interest.ts';
import { type Key, RECONCILED, type Reconciled } from './keys.ts';
import { type ReconcilePorts, reconcile, stillWanted } from './reconcile.ts';
import { startSweep } from './sweep.ts';
import { startWatcher, WATCHED, type Watcher, type WatcherEars } from './watcher.ts';
import { type AddOptions, createWorkQueue, type WorkQueue } from './work-queue.ts';

/** The outside world of the controllers. */
export interface ControllerPorts {
  readonly store: Store;
  readonly git: GitPort;
  readonly cluster: ClusterReader;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ControllerOptions {
  /** Workers per kind; 1 by default. */
  readonly concurrency?: number;
  /** Namespace of org gates; `platform-policies` by default. */
  readonly policyNamespace?: string;
  /** How often everything is listed again, in milliseconds; 10 minutes by default. */
  readonly resyncMs?: number;
  /** How long AuditEvents are kept, in milliseconds; 90 days by default. */
  readonly auditRetentionMs?: number;
}

export interface Controllers {
  /** Ends: waits up to 20 s for activities; what is left continues at the next start. */
  stop(): Promise<void>;
  /** Nothing queued, looked at or under way. */
  idle(): boolean;
  /** Everything has been listed once, and is queued or has been looked at. */
  ready(): boolean;
}

const RESYNC_MS = 600_000;
const AUDIT_RETENTION_MS = 90 * 86_400_000;
const GRACE_MS = 20_000;
/** After a guard said no, what it saw may take a moment to be seen here. */
const WITHDRAWN_PAUSE_MS = 1000;

type Queues = Readonly<Record<Reconciled, WorkQueue>>;

/** A queue for each kind; a look that fails by a bug is logged and tried again like any other. */
const createQueues = (ports: ReconcilePorts, concurrency: number): Queues => {
  const queueOf = (): WorkQueue =>
    createWorkQueue(ports.clock, concurrency, async (key, look) => {
      try {
        return await reconcile(ports, key, look);
      } catch (error) {
        ports.log.error('a look ended by a bug', { kind: key.kind, namespace: key.namespace, name: key.name, error });
        return { next: 'failed' };
      }
    });
  return { Bundle: queueOf(), Pipeline: queueOf(), Graph: queueOf(), PromotionStep: queueOf() };
};

/** Lists everything again at every interval; the result ends it. */
const startResync = (clock: Clock, everyMs: number, watchers: readonly Watcher[]): (() => void) => {
  let stopped = false;
  let cancel = (): void => {};
  const schedule = (): void => {
    if (stopped) return;
    cancel = clock.at(clock.now() + everyMs, () => {
      void Promise.all(watchers.map((watcher) => watcher.resync())).then(schedule);
    });
  };
  schedule();
  return () => {
    stopped = true;
    cancel();
  };
};

/** Starts the controllers; they begin with a pass over everything. */
export const startControllers = (ports: ControllerPorts, options: ControllerOptions = {}): Controllers => {
  const { store, git, cluster, clock, log } = ports;
  const interest = createInterest();
  const compile = createEdits();
  const reconcilePorts: ReconcilePorts = {
    context: {
      store,
      policyNamespace: options.policyNamespace ?? 'platform-policies',
      auditRetentionMs: options.auditRetentionMs ?? AUDIT_RETENTION_MS,
      observingSince: clock.now(),
    },
    cluster,
    clock,
    log,
    activities: () => activities,
  };
  const activities = createActivities({
    store,
    clock,
    log,
    run: (effect) => runActivity(effect, { git, compile, stillWanted: () => stillWanted(reconcilePorts, effect) }),
    ended: (effect, withdrawn) => {
      if (withdrawn) queues.PromotionStep.addAt(effect.step, clock.now() + WITHDRAWN_PAUSE_MS);
      else queues.PromotionStep.add(effect.step, { fresh: true });
    },
  });
  const queues = createQueues(reconcilePorts, options.concurrency ?? 1);
  const addAll = (keys: readonly Key[], how: AddOptions = {}): void => {
    for (const key of keys) queues[key.kind].add(key, how);
  };
  const ears: WatcherEars = {
    changed: (change) => {
      const affected = interest.affected(change);
      addAll(affected.now);
      addAll(affected.later, { later: true });
    },
    listed: (kind, names, again) => {
      interest.retain(kind, names);
      if (again) addAll(interest.live());
    },
  };
  const watchers = WATCHED.map((kind) => startWatcher(ports, kind, ears));
  const stopResync = startResync(clock, options.resyncMs ?? RESYNC_MS, watchers);
  const stopSweep = startSweep({ store, clock, log, auditRetentionMs: reconcilePorts.context.auditRetentionMs });
  const idle = (): boolean => activities.running() === 0 && RECONCILED.every((kind) => queues[kind].idle());
  return {
    idle,
    ready: () => watchers.every((watcher) => watcher.synced()),
    stop: async () => {
      stopResync();
      stopSweep();
      for (const watcher of watchers) watcher.stop();
      await Promise.all(RECONCILED.map((kind) => queues[kind].stop()));
      await activities.stop(GRACE_MS);
    },
  };
};
