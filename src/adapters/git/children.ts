/**
 * A record of each git process, so that one which outlives its controller is ended before anybody touches the mirror again.
 * The record holds the process's start time, because its number may by then belong to somebody else.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GitHome } from './environment.ts';
import { markVariable } from './environment.ts';

interface ChildRecord {
  readonly pid: number;
  /** From /proc; empty where there is none. */
  readonly started: string;
  readonly boot: string;
  /** Milliseconds since the epoch. */
  readonly recorded: number;
}

/** Process numbers of git processes that this engine started; each leads a process group of its own. */
export class Children {
  readonly #home: GitHome;
  readonly #alive = new Set<number>();
  readonly #waiting: (() => void)[] = [];
  readonly #boot = readText('/proc/sys/kernel/random/boot_id').trim();

  constructor(home: GitHome) {
    this.#home = home;
  }

  /** How many are running. */
  get count(): number {
    return this.#alive.size;
  }

  /** Remembers a process that has just been started; why not, when it cannot be written down. */
  add(pid: number): string | undefined {
    const record: ChildRecord = { pid, started: startTime(pid), boot: this.#boot, recorded: Date.now() };
    try {
      // The folder may have been cleared away since the start.
      mkdirSync(this.#home.children, { recursive: true, mode: 0o700 });
      writeFileSync(join(this.#home.children, String(pid)), JSON.stringify(record));
    } catch (error) {
      return `the process cannot be recorded: ${error instanceof Error ? error.message : 'unknown'}`;
    }
    this.#alive.add(pid);
    return undefined;
  }

  /** Forgets a process that has ended. */
  remove(pid: number): void {
    this.#alive.delete(pid);
    rmSync(join(this.#home.children, String(pid)), { force: true });
    if (this.#alive.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Ends everything that was started by this engine; resolves when it is gone. */
  async endAll(): Promise<void> {
    await Promise.all(Array.from(this.#alive, (pid) => endGroup(pid)));
    if (this.#alive.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Ends what an earlier engine left running in this folder, and waits until it is gone; the number of processes ended. */
  async endLeftovers(): Promise<number> {
    let ended = 0;
    for (const name of readdirSync(this.#home.children)) {
      const record = parseRecord(readText(join(this.#home.children, name)));
      if (record !== undefined && this.#isOurs(record)) {
        ended += 1;
        await endGroup(record.pid);
      }
      rmSync(join(this.#home.children, name), { force: true });
    }
    return ended;
  }

  #isOurs(record: ChildRecord): boolean {
    if (!groupExists(record.pid)) return false;
    if (this.#boot === '') return looksLikeOurs(record);
    if (record.boot !== this.#boot) return false;
    const now = startTime(record.pid);
    return now === '' ? this.#groupCarriesMark(record.pid) : now === record.started;
  }

  /** The leader has ended and left members behind: they carry our mark, or the number belongs to another group by now. */
  #groupCarriesMark(group: number): boolean {
    const mark = `${markVariable}=${this.#home.directory}`;
    return readdirSync('/proc').some(
      (name) =>
        /^\d+$/.test(name) &&
        statField(readText(`/proc/${name}/stat`), 5) === String(group) &&
        readText(`/proc/${name}/environ`).split('\0').includes(mark),
    );
  }
}

/**
 * Ends a whole process group and waits until it is gone. Git is asked first: then it takes its lock files away, and for a file:// URL those of the
 * repository that it writes to are among them.
 */
export async function endGroup(pid: number): Promise<void> {
  signalGroup(pid, 'SIGTERM');
  await untilGone(pid, 2000);
  signalGroup(pid, 'SIGKILL');
  await untilGone(pid, 5000);
}

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Gone already.
  }
}

function groupExists(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function untilGone(pid: number, milliseconds: number): Promise<void> {
  for (let waited = 0; waited < milliseconds && groupRuns(pid); waited += 10) await sleep(10);
}

/** Processes that have ended but that nobody has reaped yet still count as a group; they can do no harm. */
function groupRuns(pid: number): boolean {
  if (!groupExists(pid)) return false;
  if (readText('/proc/self/stat') === '') return true;
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    const stat = readText(`/proc/${name}/stat`);
    return statField(stat, 5) === String(pid) && statField(stat, 3) !== 'Z';
  });
}

const startTime = (pid: number): string => statField(readText(`/proc/${pid}/stat`), 22);

/** Field of /proc/PID/stat, counted from 1; the second one is a name in brackets that may hold anything. */
function statField(stat: string, field: number): string {
  const rest = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return stat === '' ? '' : (rest[field - 3] ?? '');
}

/** Without /proc: the same number, a git process, and no younger than our record. */
function looksLikeOurs(record: ChildRecord): boolean {
  const shown = spawnSync('ps', ['-o', 'lstart=,command=', '-p', String(record.pid)], {
    encoding: 'utf8',
    env: { LC_ALL: 'C', PATH: process.env['PATH'] },
  });
  const started = Date.parse((shown.stdout ?? '').slice(0, 24));
  return (shown.stdout ?? '').includes('git') && Math.abs(started - record.recorded) < 3000;
}

function parseRecord(text: string): ChildRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('pid' in value) || typeof value.pid !== 'number' || value.pid < 2)
      return undefined;
    const started = 'started' in value && typeof value.started === 'string' ? value.started : '';
    const boot = 'boot' in value && typeof value.boot === 'string' ? value.boot : '';
    const recorded = 'recorded' in value && typeof value.recorded === 'number' ? value.recorded : 0;
    return { pid: value.pid, started, boot, recorded };
  } catch {
    return undefined;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
