/** Bugs planted on purpose between the controllers and their ports, to see that the simulation finds them. None changes any source. */
import type { Deployment } from '../../src/api/kinds/native.ts';
import { done } from '../../src/api/outcome.ts';
import type { ControllerPorts } from '../../src/controller/index.ts';

/** A planted bug. */
export interface Planted {
  readonly name: string;
  /** What it does, and what it is like in the wild. */
  readonly story: string;
  /** The invariants of which one must speak up. */
  readonly found: readonly string[];
  readonly wrap: (ports: ControllerPorts) => ControllerPorts;
}

/** Looks for the run nowhere: every push begins at the tip, so that a run repeated after a crash is written again. */
const skipsRunSearch: Planted = {
  name: 'a push that does not look for its run',
  story:
    'The push searches for its own commit only behind the present tip. When somebody wrote over it after it had landed, a repeated push lands a second time.',
  found: ['I2'],
  wrap: (ports) => ({
    ...ports,
    git: {
      ...ports.git,
      push: async (repository, plan, guard) => {
        const fetched = await ports.git.fetch(repository, plan.branch);
        if (fetched.outcome !== 'done') return fetched;
        return ports.git.push(repository, { ...plan, since: fetched.value.tip }, guard);
      },
    },
  }),
};

/** Reads that ask for the latest version get one from a cache. */
const staleGuards: Planted = {
  name: 'a guard that reads from the cache',
  story:
    'Reads that ask for the latest version are answered from a cache, so that the last look before a push does not see that a newer Bundle has superseded this one, and the place in the order is counted from old ones.',
  found: ['I1', 'I4', 'I5', 'I14'],
  wrap: (ports) => ({
    ...ports,
    store: {
      ...ports.store,
      get: (kind, namespace, name, options) => ports.store.get(kind, namespace, name, { ...options, fresh: false }),
      list: (kind, options) => ports.store.list(kind, { ...options, fresh: false }),
    },
  }),
};

/** Says that a status was written when it was not. */
const lostStatus: Planted = {
  name: 'a store that acknowledges a status before it is durable',
  story:
    'The store says yes to the status of a PromotionStep that has just been Verified and forgets it: what follows from it is written all the same.',
  found: ['I8'],
  wrap: (ports) => ({
    ...ports,
    store: {
      ...ports.store,
      updateStatus: async (object, options) => {
        const verified = object.kind === 'PromotionStep' && object.status?.state === 'Verified';
        if (verified) return { ok: true, object, warnings: [] };
        return ports.store.updateStatus(object, options);
      },
    },
  }),
};

/** Pushes whatever the guard says. */
const noGuard: Planted = {
  name: 'a push that does not ask its guard',
  story: 'The conditions of a push are read when it is planned and not again when the write is handed over.',
  found: ['I3', 'I4', 'I5'],
  wrap: (ports) => ({
    ...ports,
    git: {
      ...ports.git,
      push: (repository, plan, guard) =>
        ports.git.push(repository, plan, async () => {
          await guard();
          return true;
        }),
    },
  }),
};

/** Shows every Deployment as healthy and as running what it should. */
const believesHealth: Planted = {
  name: 'health that is checked on the old revision',
  story:
    'What the Deployment runs and whether its controller has seen the change is not looked at: an Available of the old version counts.',
  found: ['I9', 'I14'],
  wrap: (ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      deployment: async (cluster, namespace, name) => {
        const read = await ports.cluster.deployment(cluster, namespace, name);
        if (read.outcome !== 'done' || !read.value?.spec) return read;
        const { template: _, ...spec } = read.value.spec;
        const status = { conditions: read.value.status?.conditions ?? [] };
        const shown: Deployment = { ...read.value, spec, status };
        return done(shown);
      },
    },
  }),
};

/** All planted bugs. */
export const PLANTED: readonly Planted[] = [skipsRunSearch, staleGuards, lostStatus, noGuard, believesHealth];
