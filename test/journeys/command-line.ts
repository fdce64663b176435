/** The real command-line tool in processes of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'promoter');

/** How a command ended. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A process that goes on, and what it has printed so far. */
export interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves when standard output matches; rejects when the process ends before, or after a minute. */
  readonly printed: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
}

/** Starts the tool and leaves it running. */
export const start = (args: readonly string[], options: { readonly cwd?: string; readonly env?: Record<string, string> } = {}): Running => {
  const { PROMOTER_KUBECONFIG: _a, KUBECONFIG: _b, ...outer } = process.env;
  const child = spawn(PROGRAM, args, {
    cwd: options.cwd ?? tmpdir(),
    env: { ...outer, HOME: '/nonexistent', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = once(child, 'close').then(([code]) => ({ code: typeof code === 'number' ? code : -1, out, err }));
  const printed = async (pattern: RegExp): Promise<RegExpExecArray> => {
    const limit = performance.now() + 60_000;
    for (;;) {
      const match = pattern.exec(out);
      if (match !== null) return match;
      const over = child.exitCode !== null || child.signalCode !== null || performance.now() > limit;
      if (over) throw new Error(`${args.join(' ')} did not print ${pattern}\n${out}\n${err}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return { child, out: () => out, err: () => err, printed, ended };
};

/** Runs the tool to its end. */
export const promoter = (args: readonly string[], options?: { readonly cwd?: string; readonly env?: Record<string, string> }) =>
  start(args, options).ended;

/** A folder that goes with the test. */
export const folderFor = async (context: TestContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'promoter-journey-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** A controller in its own process. */
export interface Controller extends Running {
  readonly http: string;
  readonly api: string;
  readonly kubeconfig: string;
  /** Runs a command against it. */
  readonly run: (...args: string[]) => Promise<Ended>;
}

/** Starts a controller on free ports of the loopback and waits until it serves; it is killed with the test. */
export const startController = async (context: TestContext, dataDir: string, ...flags: string[]): Promise<Controller> => {
  const defaults = ['--http-address', '127.0.0.1:0', '--api-address', '127.0.0.1:0'];
  const running = start(['controller', '--data-dir', dataDir, ...defaults, ...flags]);
  context.after(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  });
  await running.printed(/^ready$/m);
  const [, http = ''] = await running.printed(/^http: (\S+)/m);
  const [, api = ''] = await running.printed(/^api: (\S+)/m);
  const [, kubeconfig = ''] = await running.printed(/^kubeconfig: (.+)$/m);
  return { ...running, http, api, kubeconfig, run: (...args) => promoter(args, { env: { PROMOTER_KUBECONFIG: kubeconfig } }) };
};

/** Asks again and again until the answer is there, for at most a minute. */
export const eventually = async <T>(ask: () => Promise<T | undefined>, what: string): Promise<T> => {
  const limit = performance.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > limit) throw new Error(`not within a minute: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};
