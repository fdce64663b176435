/** The demo: a controller, a Git repository over HTTP, a stand-in for a GitOps tool, a Pipeline and a first Bundle, all on this machine. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createBareRepository, startGitServer } from '../adapters/git-server/index.ts';
import { done, type Outcome, terminal as refused } from '../api/outcome.ts';
import type { KindMap, KindName } from '../api/registry.ts';
import { askExplanation } from '../cli/ask-explanation.ts';
import { undoAll } from '../cli/undo-all.ts';
import type { DemoOptions, Terminal } from '../cli/wiring.ts';
import type { Store } from '../ports/store.ts';
import { freePort } from './free-port.ts';
import { startStandIn } from './gitops-stand-in.ts';
import { followBundle, type Progress } from './progress.ts';
import { SAMPLE_ENVIRONMENTS, SAMPLE_IMAGE, SAMPLE_PIPELINE, sampleFiles } from './sample-repository.ts';
import { SAMPLE_NAMESPACE, sampleBundle, sampleNamespaces, samplePipeline } from './sample-resources.ts';
import type { Service, StartService } from './service.ts';

/** What the demo is handed. */
export interface DemoWiring {
  readonly terminal: Terminal;
  readonly startService: StartService;
  /** Resolves when the person asks for the end. */
  readonly interrupted: Promise<void>;
}

const TAG = '1.1.0';
const POLICY_NAMESPACE = 'platform-policies';
const LIMIT_MS = 60_000;
const PORTS = { http: 8083, api: 8084, git: 8085 } as const;

/** Undoes what was started, last first, whatever happens. */
type Cleanup = (() => Promise<void>)[];

interface Stage {
  readonly folder: string;
  readonly repository: string;
  readonly url: string;
  readonly service: Service;
}

const put = async (store: Store, object: KindMap[KindName]): Promise<Outcome<void>> => {
  const created = await store.create<KindMap[KindName]>(object);
  if (created.ok || created.error.code === 'AlreadyExists') return done(undefined);
  return refused('DemoRefused', `${object.kind} ${object.metadata.name} was refused: ${created.error.message}`);
};

const ports = async (once: boolean): Promise<{ http: number; api: number; git: number }> => {
  if (once) return { http: 0, api: 0, git: 0 };
  const [http, api, git] = await Promise.all([freePort(PORTS.http), freePort(PORTS.api), freePort(PORTS.git)]);
  return { http, api, git };
};

const controllerOptions = (folder: string, port: { http: number; api: number }) => ({
  dataDir: folder,
  httpAddress: `127.0.0.1:${port.http}`,
  apiAddress: `127.0.0.1:${port.api}`,
  policyNamespace: POLICY_NAMESPACE,
  systemNamespace: 'promoter-system',
  bundleRateLimit: 60,
  concurrency: 1,
  auditRetentionMs: 90 * 86_400_000,
  logLevel: 'warn',
  allowLocalGit: false,
});

const build = async (options: DemoOptions, wiring: DemoWiring, cleanup: Cleanup): Promise<Outcome<Stage>> => {
  const folder = options.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'promoter-demo-')) : resolve(options.dataDir);
  const root = join(folder, 'repositories');
  const repository = join(root, `${SAMPLE_PIPELINE}.git`);
  await mkdir(root, { recursive: true });
  // A folder that was used before keeps its history.
  const kept = existsSync(join(repository, 'HEAD'));
  const made = kept ? done(undefined) : await createBareRepository(repository, sampleFiles(), { branch: 'main' });
  if (made.outcome !== 'done') return made;
  const port = await ports(options.once);
  const server = await startGitServer({ root, port: port.git });
  cleanup.push(() => server.close());
  const service = await wiring.startService(controllerOptions(folder, port));
  if (service.outcome !== 'done') return service;
  cleanup.push(service.value.stop);
  return done({ folder, repository, url: `${server.url}/${SAMPLE_PIPELINE}.git`, service: service.value });
};

interface Play {
  readonly tell: (line: string) => void;
  readonly interrupted: AbortSignal;
  readonly cleanup: Cleanup;
}

const play = async (stage: Stage, { tell, interrupted, cleanup }: Play): Promise<Outcome<Progress>> => {
  const { store, clock, log } = stage.service;
  for (const namespace of sampleNamespaces()) {
    const created = await put(store, namespace);
    if (created.outcome !== 'done') return created;
  }
  const standIn = await startStandIn({
    store,
    repository: stage.repository,
    branch: 'main',
    environments: SAMPLE_ENVIRONMENTS,
    workload: SAMPLE_PIPELINE,
    log,
  });
  cleanup.push(standIn.stop);
  const bundle = sampleBundle(TAG);
  for (const object of [samplePipeline(stage.url), bundle]) {
    const created = await put(store, object);
    if (created.outcome !== 'done') return created;
  }
  tell(`Bundle ${bundle.metadata.name} carries ${SAMPLE_IMAGE}:${TAG} through ${SAMPLE_ENVIRONMENTS.join(', ')}:\n`);
  const { name } = bundle.metadata;
  const environments = SAMPLE_ENVIRONMENTS;
  const signal = AbortSignal.any([AbortSignal.timeout(LIMIT_MS), interrupted]);
  return done(await followBundle({ store, clock, namespace: SAMPLE_NAMESPACE, bundle: name, environments, tell, signal }));
};

/** What it is waiting for, in the words of `explain`. */
const why = async ({ service }: Stage, { phase }: Progress): Promise<string> => {
  const source = { store: service.store, cluster: service.cluster, clock: service.clock, policyNamespace: POLICY_NAMESPACE };
  const explained = await askExplanation(source, { namespace: SAMPLE_NAMESPACE, pipeline: SAMPLE_PIPELINE });
  return explained.ok ? explained.value.result : `the Bundle is ${phase}`;
};

const lookAround = ({ folder, repository, url, service }: Stage): string => `
What happened, in Git:

  git clone ${url} && cd ${SAMPLE_PIPELINE} && git log -p

Look around, in another terminal:

  export PROMOTER_KUBECONFIG=${service.kubeconfig}
  bin/promoter get bundles ${SAMPLE_PIPELINE}
  bin/promoter explain ${SAMPLE_PIPELINE}
  bin/promoter history ${SAMPLE_PIPELINE}

Send the next version and watch it go:

  bin/promoter create bundle ${SAMPLE_PIPELINE} --image ${SAMPLE_IMAGE}:1.2.0
  bin/promoter get steps ${SAMPLE_PIPELINE} --watch

Kubernetes' own tool works too:  kubectl --kubeconfig ${service.kubeconfig} get deployments -A

Everything is in ${folder} (the repository in ${repository}). Ctrl-C ends it.
`;

const report = async (stage: Stage, progress: Progress, options: DemoOptions, tell: (line: string) => void): Promise<string> => {
  const ok = progress.phase === 'Verified';
  const reason = ok ? '' : await why(stage, progress);
  tell(ok ? `\nVerified in every environment after ${progress.seconds.toFixed(1)} s.` : `\nThe Bundle is ${progress.phase}: ${reason}`);
  if (options.once) tell(`Everything is in ${stage.folder}.`);
  else if (ok) tell(lookAround(stage));
  return reason;
};

/**
 * Runs it. With `once` the outcome is done only when the Bundle was Verified, in at most 60 seconds; otherwise it goes on until it is interrupted,
 * which is no failure.
 */
export const runDemo = async (options: DemoOptions, wiring: DemoWiring): Promise<Outcome<void>> => {
  const { terminal } = wiring;
  const tell = (line: string): void => (options.json ? terminal.err : terminal.out)(`${line}\n`);
  const cleanup: Cleanup = [];
  const interruption = new AbortController();
  void wiring.interrupted.then(() => interruption.abort());
  try {
    const stage = await build(options, wiring, cleanup);
    if (stage.outcome !== 'done') return stage;
    const played = await play(stage.value, { tell, interrupted: interruption.signal, cleanup });
    if (played.outcome !== 'done') return played;
    const { phase, environments, seconds } = played.value;
    const ok = phase === 'Verified';
    const cut = interruption.signal.aborted && !ok;
    const reason = cut ? 'it was interrupted' : await report(stage.value, played.value, options, tell);
    if (!options.once) await wiring.interrupted;
    if (options.json) terminal.out(`${JSON.stringify({ ok, seconds, environments, repository: stage.value.repository })}\n`);
    return ok || !options.once ? done(undefined) : refused('DemoNotVerified', `The Bundle was not Verified: ${reason}`);
  } finally {
    await undoAll(cleanup);
  }
};
