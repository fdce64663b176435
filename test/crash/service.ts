/** A controller in a process of its own that can be killed and started again on the same data and addresses. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'promoter');
const START_LIMIT_MS = 60_000;

/** A controller under test. */
export interface Service {
  readonly http: string;
  readonly kubeconfig: string;
  /** Resolves when it serves. */
  start(): Promise<void>;
  /** Resolves when the process is gone; its children are whatever they are then. */
  kill(): Promise<void>;
  /** SIGTERM; the exit code. */
  stop(): Promise<number | null>;
  /** Git processes that still name the data directory, of whatever controller. */
  children(): readonly number[];
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
};

const commandLine = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') + readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
};

const processesOf = (dataDir: string): readonly number[] => {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => commandLine(pid).includes(dataDir))
    .map(Number);
};

/** Prepares a controller on that data directory; `token` is its bundle token. */
export const createService = async (dataDir: string, token: string, log: string): Promise<Service> => {
  const [http, api] = [await freePort(), await freePort()];
  let child: ChildProcess | undefined;
  const args = ['controller', '--data-dir', dataDir, '--http-address', `127.0.0.1:${http}`, '--api-address', `127.0.0.1:${api}`];

  const start = async (): Promise<void> => {
    const env = { ...process.env, PROMOTER_BUNDLE_TOKEN: token, PROMOTER_BUNDLE_RATE_LIMIT: '0' };
    const started = spawn(PROGRAM, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    for (const stream of [started.stdout, started.stderr]) stream?.on('data', (text: Buffer) => appendFileSync(log, text));
    const limit = performance.now() + START_LIMIT_MS;
    for (;;) {
      if (await isReady(`http://127.0.0.1:${http}`)) return;
      const dead = started.exitCode !== null || started.signalCode !== null;
      if (dead || performance.now() > limit) throw new Error(`the controller did not start; see ${log}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };

  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return running?.exitCode ?? null;
    const gone = once(running, 'exit');
    running.kill(signal);
    await gone;
    return running.exitCode;
  };

  return {
    http: `http://127.0.0.1:${http}`,
    kubeconfig: join(dataDir, 'kubeconfig'),
    start,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    children: () => processesOf(dataDir),
  };
};

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    (response) => response.ok,
    () => false,
  );
