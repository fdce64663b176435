/**
 * A process of its own that runs the real controllers over a fleet, so that its memory and its profile are its own. Takes one argument, a
 * FleetOrder as JSON; its last line of output is a FleetReport as JSON.
 */
import { join } from 'node:path';
import { createClusterReader } from '../../src/adapters/cluster-store.ts';
import { createGit } from '../../src/adapters/git/index.ts';
import { createSecrets } from '../../src/adapters/secrets-store.ts';
import { openSqliteStore } from '../../src/adapters/store-sqlite/index.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { admit } from '../../src/api/admission.ts';
import type { Deployment } from '../../src/api/kinds/native.ts';
import type { KindMap, KindName } from '../../src/api/registry.ts';
import { startControllers } from '../../src/controller/index.ts';
import type { Store } from '../../src/ports/store.ts';
import { expectDone } from '../git/ours.ts';
import { quietLog } from '../quiet-log.ts';
import { appName, ENVIRONMENTS } from '../sample/manifests.ts';
import { type FleetReport, isOrder } from './fleet.ts';
import { noteWrites } from './noted-store.ts';
import { bundleOf, deploymentsOf, OLD_TAG, pipelineOf, TAG } from './resources.ts';
import { createRollouts } from './rollouts.ts';

const put = async (store: Store, objects: readonly KindMap[KindName][]): Promise<void> => {
  const written = await Promise.all(objects.map((object) => store.create<KindMap[KindName]>(object)));
  for (const result of written) if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
};

/** The status of what is created is dropped, as a cluster does it. */
const makeAvailable = async (store: Store, deployments: readonly Deployment[]): Promise<void> => {
  const written = await Promise.all(deployments.map((deployment) => store.updateStatus<Deployment>(deployment)));
  for (const result of written) if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
};

/** Where the first few unfinished steps stand, for the message of a run that did not end. */
const unfinished = async (store: Store): Promise<string> => {
  const steps = await store.list('PromotionStep');
  const left = steps.ok ? steps.value.items.filter((step) => step.status?.state !== 'Verified') : [];
  const shown = left.slice(0, 5).map(({ metadata, status }) => `${metadata.name} is ${status?.state ?? 'new'}: ${status?.message ?? ''}`);
  return [`${left.length} steps are not Verified`, ...shown].join('\n  ');
};

interface Watch {
  readonly store: Store;
  readonly limitMs: number;
}

const until = async (what: string, { store, limitMs }: Watch, met: () => boolean): Promise<void> => {
  const end = performance.now() + limitMs;
  while (!met()) {
    if (performance.now() > end) throw new Error(`${what}: not within ${limitMs / 1000} s; ${await unfinished(store)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

const since = (before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): Record<string, number> =>
  Object.fromEntries([...now].map(([what, number]) => [what, number - (before.get(what) ?? 0)]));

const main = async (text: string | undefined): Promise<void> => {
  const order: unknown = JSON.parse(text ?? '');
  if (!isOrder(order)) throw new Error('the order is none');
  const { folder, url, pipelines, following, limitMs } = order;
  const log = quietLog((line) => console.error(line));
  const count = { processes: 0, commits: 0, writes: 0 };
  const opened = expectDone(
    await openSqliteStore({
      directory: join(folder, 'store'),
      clock: systemClock,
      admit,
      namespaces: ['platform-policies', ...ENVIRONMENTS],
      onCommit: ({ changes }) => {
        count.commits += 1;
        count.writes += changes;
      },
    }),
  );
  const apps = Array.from({ length: pipelines + 1 }, (_, app) => app);
  const rollouts = createRollouts(opened, new Map(apps.map((app) => [appName(app), app])));
  const { store, notes } = noteWrites(opened, following ? rollouts.landed : () => undefined);
  const watch: Watch = { store, limitMs };
  const secrets = createSecrets(store);
  const onProcess = (): void => {
    count.processes += 1;
  };
  const git = expectDone(
    await createGit({ directory: join(folder, 'git'), secrets, clock: systemClock, log, allowFileUrls: true, onProcess }),
  );
  const running = following ? OLD_TAG : TAG;
  for (const app of apps) await put(store, [...deploymentsOf(app, running), pipelineOf(app, url)]);
  await makeAvailable(
    store,
    apps.flatMap((app) => deploymentsOf(app, running)),
  );
  const controllers = startControllers({ store, git, cluster: createClusterReader(store), clock: systemClock, log });
  await until('the first pass', watch, () => controllers.ready() && controllers.idle());
  // The last app warms the mirror, as everyday work would have.
  await put(store, [bundleOf(pipelines)]);
  await until('the first Bundle', watch, () => notes.verified.size === 1 && controllers.idle());
  const before = { ...count, rollouts: rollouts.writes(), asked: new Map(notes.asked), read: new Map(notes.read) };
  const cpu = process.cpuUsage();
  const started = performance.now();
  await put(store, apps.slice(0, pipelines).map(bundleOf));
  await until('every Bundle Verified', watch, () => notes.verified.size === pipelines + 1);
  const ended = performance.now();
  const used = process.cpuUsage(cpu);
  await until('rest', watch, () => controllers.idle());
  await controllers.stop();
  await git.close();
  await opened.close();
  const report: FleetReport = {
    seconds: (ended - started) / 1000,
    latencies: [...notes.landed.values()].filter(({ at }) => at > started).map(({ at }) => (at - started) / 1000),
    failed: Object.fromEntries(notes.failed),
    processes: count.processes - before.processes,
    writes: count.writes - before.writes - (rollouts.writes() - before.rollouts),
    commits: count.commits - before.commits,
    asked: since(before.asked, notes.asked),
    read: since(before.read, notes.read),
    userSeconds: used.user / 1e6,
    systemSeconds: used.system / 1e6,
    peakMegabytes: process.resourceUsage().maxRSS / 1024,
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
};

await main(process.argv[2]);
