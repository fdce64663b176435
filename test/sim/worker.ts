/** Runs a share of the seeds in a thread of its own and sends each result as it comes. */
import { parentPort, workerData } from 'node:worker_threads';
import { checkSeed } from './check-seed.ts';

const { seeds, withoutFaults }: { seeds: readonly { readonly seed: string; readonly index: number }[]; withoutFaults: boolean } =
  workerData;
for (const { seed, index } of seeds) parentPort?.postMessage(await checkSeed(seed, index, { withoutFaults }));
