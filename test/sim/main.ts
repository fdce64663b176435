/** `npm run sim -- --seeds N [--seed S] [--trace]`: runs seeds, prints violations, ends with one line of JSON; exit 1 when there was a violation. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { type RunResult, runSeed } from './simulation.ts';

const USAGE = `npm run sim -- [options]
  --seeds N     how many seeds (200)
  --from S      the first of them (1)
  --seed S      replays one seed
  --trace       with --seed: prints every line of the trace
  --faultless   the scenarios without faults
  --jobs N      threads (as many as there are cores, at most 4)`;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    faultless: { type: 'boolean', default: false },
    jobs: { type: 'string', default: String(Math.min(4, availableParallelism())) },
    help: { type: 'boolean', default: false },
  },
});

const total = { seeds: 0, steps: 0, faults: 0, violations: 0 };
const begun = Date.now();

const count = (result: RunResult): void => {
  total.seeds += 1;
  total.steps += result.steps;
  total.faults += result.faults;
  if (!result.violation) return;
  total.violations += 1;
  if (!values.trace) for (const line of result.tail) console.log(`  ${line}`);
  console.log(`seed ${result.seed} violates ${result.violation.invariant}: ${result.violation.message}`);
  console.log(`  again: npm run sim -- --seed ${result.seed} --trace`);
};

/** Every thread takes every so-many-th seed. */
const share = (jobs: number, which: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const all = Array.from({ length: Number(values.seeds) }, (_, index) => ({ seed: String(Number(values.from) + index), index }));
    const seeds = all.filter(({ index }) => index % jobs === which);
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: { seeds, withoutFaults: values.faultless } });
    worker.on('message', count);
    worker.on('error', reject);
    worker.on('exit', () => resolve());
  });

const runAll = async (): Promise<void> => {
  const jobs = Math.max(1, Number(values.jobs));
  await Promise.all(Array.from({ length: jobs }, (_, which) => share(jobs, which)));
  const seconds = (Date.now() - begun) / 1000;
  console.log(`${total.seeds} seeds in ${seconds.toFixed(1)} s, ${(total.seeds / seconds).toFixed(1)} a second`);
};

const positive = (text: string): boolean => /^[1-9]\d{0,8}$/.test(text);
const wrong = (['seeds', 'from', 'jobs'] as const).find((name) => !positive(values[name]));

if (values.help) console.log(USAGE);
else if (wrong) {
  console.error(`--${wrong} must be a whole number from 1, not ${JSON.stringify(values[wrong])}\n${USAGE}`);
  process.exitCode = 2;
} else {
  if (values.seed === undefined) await runAll();
  else
    count(await runSeed(values.seed, { withoutFaults: values.faultless, ...(values.trace ? { echo: (line) => console.log(line) } : {}) }));
  console.log(JSON.stringify(total));
  process.exitCode = total.violations > 0 ? 1 : 0;
}
