/** Composition root: the only place that wires adapters to the rest. Heavy parts are loaded only by the commands that need them. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from './adapters/system-clock.ts';
import { done, type Outcome, type Terminal as Refusal, terminal as refused, type Transient } from './api/outcome.ts';
import { type Address, isLoopback, parseAddress } from './cli/address.ts';
import { findKubeconfig } from './cli/find-kubeconfig.ts';
import { runCli } from './cli/index.ts';
import { interruption } from './cli/interruption.ts';
import { processTerminal } from './cli/process-terminal.ts';
import { undoAll } from './cli/undo-all.ts';
import type { Connection, ControllerOptions, DemoOptions, Terminal, Wiring } from './cli/wiring.ts';
import type { Service } from './demo/service.ts';
import type { Log } from './ports/log.ts';
import type { Store, StoreError } from './ports/store.ts';

/** How long a stop waits for Git. */
const GIT_GRACE_MS = 15_000;

const versionOfPackage = (): string => {
  const parsed: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'));
  return typeof parsed === 'object' && parsed !== null && 'version' in parsed ? String(parsed.version) : 'unknown';
};

/** What listening on an address can be refused for, by the code of the system's error; anything else is a bug and is thrown on. */
const listening = async <T>(address: string, start: () => Promise<T>): Promise<Outcome<T>> => {
  try {
    return done(await start());
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const why = new Map([
      ['EADDRINUSE', 'another process listens there; choose another address or stop it'],
      ['EACCES', 'that needs more rights; choose a port above 1023'],
      ['EADDRNOTAVAIL', 'this machine does not have that address'],
      ['ENOTFOUND', 'that host is not known'],
    ]).get(code);
    if (why === undefined) throw error;
    return refused('AddressUnusable', `Cannot listen on ${address}: ${why}.`);
  }
};

/** Servers and what ends them. */
interface Servers {
  readonly apiUrl: string;
  readonly httpUrl: string;
  readonly kubeconfig: string;
  readonly close: () => Promise<void>;
}

/** Where the servers listen and what they serve. */
interface ServerSettings {
  readonly dataDir: string;
  readonly http: Address;
  readonly api: Address;
  readonly store: Store;
  readonly log: Log;
  /** Whether the controllers have seen everything once. */
  readonly ready: () => boolean;
  /** Why nothing can be written, if so. */
  readonly trouble: () => StoreError | undefined;
}

const startServers = async (options: ControllerOptions, settings: ServerSettings): Promise<Outcome<Servers>> => {
  const { dataDir, http, api, store, log, ready, trouble } = settings;
  const [{ startApiServer }, { startHttpServer }] = await Promise.all([
    import('./apiserver/start-api-server.ts'),
    import('./server/index.ts'),
  ]);
  const clock = systemClock;
  const apiServer = await listening(options.apiAddress, () => startApiServer({ store, ...api, dataDir, log, clock }));
  if (apiServer.outcome !== 'done') return apiServer;
  const { bundleApiToken, externalUrl, bundleRateLimit } = options;
  const readiness = () => {
    const reason = trouble()?.message ?? (ready() ? undefined : 'the controllers are still starting');
    return reason === undefined ? ({ ready: true } as const) : ({ ready: false, reason } as const);
  };
  const optional = {
    ...(bundleApiToken === undefined || bundleApiToken === '' ? {} : { bundleApiToken }),
    ...(externalUrl === undefined ? {} : { externalUrl }),
  };
  const httpServer = await listening(options.httpAddress, () =>
    startHttpServer({ store, ...http, rateLimitPerMinute: bundleRateLimit, readiness, log, clock, ...optional }),
  );
  if (httpServer.outcome !== 'done') {
    await apiServer.value.close();
    return httpServer;
  }
  return done({
    apiUrl: apiServer.value.url,
    httpUrl: httpServer.value.url,
    kubeconfig: apiServer.value.kubeconfigPath,
    close: async () => {
      await Promise.all([apiServer.value.close(), httpServer.value.close()]);
    },
  });
};

/**
 * Starts store, Git, servers and controllers, in that order. `stop` ends the servers first, so that nothing new comes in, then controllers, Git and
 * store, so that what is under way is still recorded.
 */
export const startService = async (options: ControllerOptions): Promise<Outcome<Service>> => {
  const [{ openSqliteStore }, { admit }, { createPinoLog }, { createSecrets }, { createClusterReader }, { createGit }] = await Promise.all([
    import('./adapters/store-sqlite/index.ts'),
    import('./api/admission.ts'),
    import('./adapters/pino-log.ts'),
    import('./adapters/secrets-store.ts'),
    import('./adapters/cluster-store.ts'),
    import('./adapters/git/index.ts'),
  ]);
  const clock = systemClock;
  const dataDir = resolve(options.dataDir);
  const [http, api] = [parseAddress(options.httpAddress), parseAddress(options.apiAddress)];
  if (http === undefined || api === undefined) return refused('AddressUnusable', 'An address has the form host:port.');
  const log = createPinoLog({ level: options.logLevel });
  const namespaces = [options.systemNamespace, options.policyNamespace];
  const opened = await openSqliteStore({ directory: join(dataDir, 'store'), clock, admit, namespaces });
  if (opened.outcome !== 'done') return opened;
  const store = opened.value;
  const undo: (() => Promise<void>)[] = [() => store.close()];
  const stop = async (): Promise<void> => {
    // Timers of the clock hold no process open, and what is waited for here may be one.
    const held = setInterval(() => {}, 1000);
    try {
      await undoAll(undo.splice(0));
    } finally {
      clearInterval(held);
    }
  };
  const secrets = createSecrets(store);
  const cluster = createClusterReader(store);
  // Whoever can write a Pipeline could otherwise have the controller read any repository of its machine.
  const allowFileUrls = options.allowLocalGit || (isLoopback(http.host) && isLoopback(api.host));
  const abandon = async (why: Transient | Refusal): Promise<Transient | Refusal> => {
    await stop();
    return why;
  };
  const git = await createGit({ directory: join(dataDir, 'git'), secrets, clock, log, allowFileUrls });
  if (git.outcome !== 'done') return abandon(git);
  undo.push(() => git.value.close());
  let ready = (): boolean => false;
  const servers = await startServers(options, { dataDir, http, api, store, log, ready: () => ready(), trouble: () => store.problem() });
  if (servers.outcome !== 'done') return abandon(servers);
  const { startControllers } = await import('./controller/index.ts');
  const { concurrency, policyNamespace, auditRetentionMs } = options;
  const how = { concurrency, policyNamespace, auditRetentionMs };
  const controllers = startControllers({ store, git: git.value, cluster, clock, log }, how);
  ready = controllers.ready;
  const stopControllers = async (): Promise<void> => {
    // Git that hangs is ended before the time is up, so that its result can still be recorded.
    const cancel = clock.at(clock.now() + GIT_GRACE_MS, () => void git.value.close());
    try {
      await controllers.stop();
    } finally {
      cancel();
    }
  };
  undo.push(stopControllers, servers.value.close);
  const { apiUrl, httpUrl, kubeconfig } = servers.value;
  return done({ store, cluster, apiUrl, httpUrl, kubeconfig, log, clock, stop });
};

const runController = async (options: ControllerOptions, terminal: Terminal): Promise<Outcome<void>> => {
  const interrupted = interruption(process);
  const started = await startService(options);
  if (started.outcome !== 'done') return started;
  const { apiUrl, httpUrl, kubeconfig, stop } = started.value;
  const bundles = options.bundleApiToken ? '' : ' (bundle endpoint off: no --bundle-api-token)';
  terminal.out(`promoter ${versionOfPackage()}\nhttp: ${httpUrl}${bundles}\napi: ${apiUrl}\nkubeconfig: ${kubeconfig}\nready\n`);
  await interrupted;
  terminal.err('Stopping; once more ends it at once.\n');
  await stop();
  return done(undefined);
};

const runDemo = async (options: DemoOptions, terminal: Terminal): Promise<Outcome<void>> => {
  const demo = await import('./demo/index.ts');
  return demo.runDemo(options, { terminal, startService, interrupted: interruption(process) });
};

const connect = async (options: { readonly kubeconfig?: string }): Promise<Outcome<Connection>> => {
  const given = options.kubeconfig === undefined ? {} : { given: options.kubeconfig };
  const path = findKubeconfig({ ...given, environment: process.env, folder: process.cwd() });
  if (path.outcome !== 'done') return path;
  const [{ loadKubeconfig }, { createHttpStore }, { createClusterReader }] = await Promise.all([
    import('./adapters/store-http/kubeconfig.ts'),
    import('./adapters/store-http/create-http-store.ts'),
    import('./adapters/cluster-store.ts'),
  ]);
  const access = await loadKubeconfig(path.value);
  if (access.outcome !== 'done') return access;
  const store = createHttpStore(access.value);
  const { namespace, server } = access.value;
  return done({ store, cluster: createClusterReader(store), namespace, server, close: async () => store.close() });
};

const wire = (): Wiring => {
  const terminal = processTerminal(process);
  return {
    version: versionOfPackage(),
    clock: systemClock,
    terminal,
    connect,
    runController: (options) => runController(options, terminal),
    runDemo: (options) => runDemo(options, terminal),
  };
};

/** Whether the folder that this was started in is still there: without it, Node cannot even make a path absolute. */
const hasFolder = (): boolean => {
  try {
    return process.cwd() !== '';
  } catch {
    return false;
  }
};

const main = async (): Promise<number> => {
  const wiring = wire();
  if (hasFolder()) return runCli(process.argv.slice(2), wiring);
  wiring.terminal.err('error: The folder that this was started in does not exist any more; change to one that does.\n');
  return 1;
};

if (import.meta.main) process.exitCode = await main();
