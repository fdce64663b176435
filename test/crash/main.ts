/**
 * `npm run crash -- --kills N [--bundles N] [--pipelines N] [--seed S]`: a real controller over a real repository, killed with SIGKILL at random moments
 * while Bundles run. The last line is JSON: kills, restarts, violations, and how long after the last restart everything had ended.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createBareRepository } from '../../src/adapters/git-server/index.ts';
import { createHttpStore } from '../../src/adapters/store-http/create-http-store.ts';
import { loadKubeconfig } from '../../src/adapters/store-http/kubeconfig.ts';
import { API_VERSION } from '../../src/api/meta.ts';
import type { Store } from '../../src/ports/store.ts';
import { allEnded, type Scene, violations } from './checks.ts';
import { followBranch, type Place } from './cluster.ts';
import { seeded } from './random.ts';
import { createService, type Service } from './service.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '10' },
    bundles: { type: 'string', default: '50' },
    pipelines: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
  },
});
const KILLS = Number(values.kills);
const BUNDLES = Number(values.bundles);
const ENVIRONMENTS = ['test', 'staging', 'prod'];
const TOKEN = 'crash-test-token';
/** Bundles are spread over the time of the kills, so that every kill meets promotions under way. */
const POST_EVERY_MS = (Math.max(1, KILLS) * 2500) / BUNDLES;
const SETTLE_LIMIT_MS = 180_000;

const random = seeded(Number(values.seed));
const folder = mkdtempSync(join(tmpdir(), 'promoter-crash-'));
const repository = join(folder, 'deploy.git');
const applications = Array.from({ length: Number(values.pipelines) }, (_, index) => `app-${index}`);
const places: readonly Place[] = applications.flatMap((application) =>
  ENVIRONMENTS.map((environment) => ({ application, environment, file: `apps/${application}/${environment}/kustomization.yaml` })),
);

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const manifest = (place: Place): string => `images:\n  - name: registry.example/${place.application} # ours\n    newTag: "0"\n`;

const applyPipelines = async (store: Store): Promise<void> => {
  for (const application of applications) {
    const environments = ENVIRONMENTS.map((name) => ({ name, path: `apps/${application}/${name}` }));
    const result = await store.create({
      apiVersion: API_VERSION,
      kind: 'Pipeline',
      metadata: { name: application, namespace: 'default' },
      spec: { git: { url: `file://${repository}`, provider: 'git' }, environments, historyLimit: 100 },
    });
    if (!result.ok) throw new Error(`${application}: ${result.error.message}`);
  }
};

/** Posts one Bundle until it is acknowledged; an answer that was lost shows as a duplicate the next time. */
const post = async (service: Service, application: string, tag: string): Promise<string> => {
  const body = JSON.stringify({ pipeline: application, images: [{ repository: `registry.example/${application}`, tag }] });
  for (;;) {
    const response = await fetch(`${service.http}/api/v1/bundles`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body,
    }).catch(() => undefined);
    if (response?.status === 201 || response?.status === 409) return `${application}-${tag}`;
    if (response && response.status < 500 && response.status !== 429) throw new Error(`${response.status}: ${await response.text()}`);
    await pause(50);
  }
};

const postAll = async (service: Service, acknowledged: Set<string>): Promise<void> => {
  for (let index = 0; index < BUNDLES; index += 1) {
    const application = applications[index % applications.length] ?? '';
    acknowledged.add(await post(service, application, `${Math.floor(index / applications.length) + 1}.0`));
    await pause(random() * 2 * POST_EVERY_MS);
  }
};

const killRepeatedly = async (service: Service): Promise<void> => {
  for (let kill = 0; kill < KILLS; kill += 1) {
    await pause(200 + random() * 2500);
    await service.kill();
    if (random() < 0.3) await pause(random() * 500);
    await service.start();
  }
};

const settle = async (store: Store): Promise<readonly string[]> => {
  const limit = performance.now() + SETTLE_LIMIT_MS;
  while (performance.now() < limit) {
    if (await allEnded(store)) return [];
    await pause(100);
  }
  const read = await store.list('Bundle');
  const open = read.ok ? read.value.items.filter((bundle) => ['Available', 'Promoting', undefined].includes(bundle.status?.phase)) : [];
  return [`I14: not ended ${SETTLE_LIMIT_MS / 1000} s after the last restart: ${open.map((bundle) => bundle.metadata.name).join(', ')}`];
};

const leftovers = async (service: Service): Promise<readonly string[]> => {
  const code = await service.stop();
  await pause(500);
  const children = service.children();
  return [
    ...(code === 0 ? [] : [`the controller ended with ${code} on SIGTERM`]),
    ...(children.length === 0 ? [] : [`processes are left: ${children.join(', ')}`]),
  ];
};

const main = async (): Promise<number> => {
  await createBareRepository(repository, new Map(places.map((place) => [place.file, manifest(place)])), { branch: 'main' });
  const service = await createService(join(folder, 'data'), TOKEN, join(folder, 'controller.log'));
  await service.start();
  const access = await loadKubeconfig(service.kubeconfig);
  if (access.outcome !== 'done') throw new Error(access.reason.message);
  const store = createHttpStore(access.value);
  await applyPipelines(store);
  const cluster = followBranch(store, repository, places);
  const acknowledged = new Set<string>();
  await Promise.all([postAll(service, acknowledged), killRepeatedly(service)]);
  const restarted = performance.now();
  const late = await settle(store);
  const seconds = Math.round(performance.now() - restarted) / 1000;
  const scene: Scene = { store, repository, places, applications, acknowledged };
  const found = [...late, ...(await violations(scene))];
  await cluster.stop();
  store.close();
  found.push(...(await leftovers(service)));
  for (const problem of found) console.log(`violation ${problem}`);
  if (found.length > 0 || values.keep) console.log(`everything is kept in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  console.log(
    JSON.stringify({ kills: KILLS, restarts: KILLS, bundles: acknowledged.size, violations: found.length, convergenceSeconds: seconds }),
  );
  return found.length === 0 ? 0 : 1;
};

process.exitCode = await main();
