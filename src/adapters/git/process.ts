/** Starts git, bounds it in time and output, and never lets it outlive the engine. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Clock } from '../../ports/clock.ts';
import type { Children } from './children.ts';
import { endGroup } from './children.ts';
import { settingsEnvironment } from './environment.ts';

/** One call of git. */
export interface GitCommand {
  /** The mirror. */
  readonly gitDirectory: string;
  readonly args: readonly string[];
  readonly settings?: readonly (readonly [string, string])[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Milliseconds; the engine's own limit by default. */
  readonly timeoutMs?: number;
  /** Strings that must not appear in the output that is handed on. */
  readonly secrets?: readonly string[];
}

/** How a call ended. Output beyond 256 KiB of each stream is dropped from the front. */
export interface GitExit {
  readonly end: 'exited' | 'timeout' | 'killed' | 'not-started';
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Told of each process when it ends, for metrics and benchmarks. */
export interface ProcessEvent {
  /** The git command, such as `fetch`. */
  readonly command: string;
  readonly milliseconds: number;
  /** Bytes that it wrote to its output. */
  readonly bytes: number;
}

/** What all processes share. */
export interface RunnerOptions {
  readonly children: Children;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string>>;
  readonly settings: readonly (readonly [string, string])[];
  readonly timeoutMs: number;
  readonly onProcess: (event: ProcessEvent) => void;
}

/** Why git could not be started in a mirror that is not there. */
export const mirrorGone = 'the folder of the mirror has disappeared';

const outputLimit = 256 * 1024;

/** Signals that somebody sent; with any other git has crashed, which its last words may explain. */
const fromOutside: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']);

/** The one place where git is started. */
export class GitRunner {
  readonly #options: RunnerOptions;
  #closed = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** After this nothing is started any more; resolves when everything that ran is gone. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#options.children.endAll();
  }

  /** Starts git with pipes and leaves it to the caller; a string says why it could not be started. */
  start(command: GitCommand): ChildProcess | string {
    if (this.#closed) return 'the Git engine is closed';
    const { children, clock, onProcess } = this.#options;
    const started = clock.now();
    const child = spawn('git', [`--git-dir=${command.gitDirectory}`, ...command.args], {
      cwd: command.gitDirectory,
      // A group of its own, so that its helpers (git-remote-https, index-pack, ssh) end with it.
      detached: true,
      stdio: 'pipe',
      env: {
        ...this.#options.environment,
        ...settingsEnvironment([...this.#options.settings, ...(command.settings ?? [])]),
        ...command.environment,
      },
    });
    const pid = child.pid;
    let bytes = 0;
    child.on('error', () => undefined);
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('data', (data: Buffer) => {
      bytes += data.length;
    });
    // The system says the same of a program that is missing and of a folder that is.
    if (pid === undefined) return existsSync(command.gitDirectory) ? 'git cannot be started' : mirrorGone;
    const unrecorded = children.add(pid);
    if (unrecorded !== undefined) {
      void endGroup(pid);
      return unrecorded;
    }
    child.once('close', () => {
      children.remove(pid);
      onProcess({ command: command.args[0] ?? '', milliseconds: clock.now() - started, bytes });
    });
    return child;
  }

  /** Runs git to its end. */
  run(command: GitCommand): Promise<GitExit> {
    const child = this.start(command);
    if (typeof child === 'string') return Promise.resolve({ end: 'not-started', code: -1, stdout: '', stderr: child });
    return new Promise((resolve) => {
      const stdout = new Tail();
      const stderr = new Tail();
      let timedOut = false;
      const { clock, timeoutMs } = this.#options;
      const cancel = clock.at(clock.now() + (command.timeoutMs ?? timeoutMs), () => {
        timedOut = true;
        if (child.pid !== undefined) void endGroup(child.pid);
      });
      child.stdout?.on('data', (data: Buffer) => stdout.add(data));
      child.stderr?.on('data', (data: Buffer) => stderr.add(data));
      child.once('close', (code, signal) => {
        cancel();
        // Helpers may still hold on for a moment after git itself was killed.
        if (signal !== null && child.pid !== undefined) void endGroup(child.pid);
        const end = timedOut ? 'timeout' : signal !== null && fromOutside.has(signal) ? 'killed' : 'exited';
        resolve({ end, code: code ?? -1, stdout: scrub(stdout.text(), command.secrets), stderr: scrub(stderr.text(), command.secrets) });
      });
      child.stdin?.end(command.input ?? '');
    });
  }
}

/** The end of an output. */
class Tail {
  #parts: Buffer[] = [];
  #size = 0;

  add(data: Buffer): void {
    this.#parts.push(data);
    this.#size += data.length;
    while (this.#size > outputLimit && this.#parts.length > 1) this.#size -= this.#parts.shift()?.length ?? 0;
  }

  text(): string {
    return Buffer.concat(this.#parts).toString('utf8');
  }
}

function scrub(text: string, secrets: readonly string[] = []): string {
  return secrets.reduce((result, secret) => (secret === '' ? result : result.replaceAll(secret, '***')), text);
}
