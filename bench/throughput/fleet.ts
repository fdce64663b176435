/** Runs a fleet in a process of its own. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** What the process shall do. */
export interface FleetOrder {
  /** For the store and the mirrors. */
  readonly folder: string;
  /** The repository; it holds one app more than there are pipelines. */
  readonly url: string;
  readonly pipelines: number;
  /** Deployments are brought to the new version when it lands; otherwise they run it from the start. */
  readonly following: boolean;
  /** After this many milliseconds a phase has failed. */
  readonly limitMs: number;
}

/** What it measured. */
export interface FleetReport {
  /** From the creation of all Bundles until every one is Verified. */
  readonly seconds: number;
  /** Seconds from the creation of the Bundle until the push of an environment was recorded; one for each promotion. */
  readonly latencies: readonly number[];
  /** Why PromotionSteps failed. */
  readonly failed: Readonly<Record<string, string>>;
  readonly processes: number;
  /** Versions added to the store. */
  readonly writes: number;
  /** Transactions they shared. */
  readonly commits: number;
  /** Writes that the controllers asked for, by verb and kind. */
  readonly asked: Readonly<Record<string, number>>;
  /** Reads that the controllers asked for, by verb and kind. */
  readonly read: Readonly<Record<string, number>>;
  /** Processor time of the process itself, without git. */
  readonly userSeconds: number;
  readonly systemSeconds: number;
  readonly peakMegabytes: number;
}

/** Whether what a process was handed is an order. */
export const isOrder = (value: unknown): value is FleetOrder =>
  typeof value === 'object' &&
  value !== null &&
  ['folder', 'url', 'pipelines', 'following', 'limitMs'].every((name) => Object.hasOwn(value, name));

const isReport = (value: unknown): value is FleetReport => typeof value === 'object' && value !== null && 'latencies' in value;

/** Runs it to its end; with a folder for profiles the process writes its CPU profile there. */
export const runFleet = (order: FleetOrder, profile: string | undefined): Promise<FleetReport> =>
  new Promise((resolve, reject) => {
    const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
    const script = join(import.meta.dirname, 'fleet-process.ts');
    const child = spawn(process.execPath, [...flags, script, JSON.stringify(order)], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      const report: unknown = code === 0 ? JSON.parse(output.trim().split('\n').at(-1) ?? '') : undefined;
      if (isReport(report)) resolve(report);
      else reject(new Error(`the fleet's process ended with ${code}`));
    });
  });
