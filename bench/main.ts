/**
 * `npm run bench -- NAME|all [--json] [--smoke] [--profile FOLDER]`. Every benchmark compares with a floor and a rival in the same run, so that a
 * slow machine does not decide. A budget that does not hold is reported and changes no exit code; 2 is a wrong call.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Benchmark } from './benchmark.ts';
import { gitBenchmark } from './git/index.ts';
import { printMeasured } from './print.ts';
import { throughputBenchmark } from './throughput/index.ts';

const BENCHMARKS: readonly Benchmark[] = [gitBenchmark, throughputBenchmark];

const usage = (): string =>
  [
    'usage: npm run bench -- NAME|all [--json] [--smoke] [--profile FOLDER]',
    '',
    ...BENCHMARKS.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`),
    '',
    '  --json       the last line of each benchmark is its result as JSON; everything else goes to standard error',
    '  --smoke      small sizes, less than a minute in all',
    '  --profile    writes CPU profiles of the controller into the folder (throughput)',
  ].join('\n');

interface Call {
  readonly chosen: readonly Benchmark[];
  readonly json: boolean;
  readonly smoke: boolean;
  readonly profile: string | undefined;
}

const readCall = (given: readonly string[]): Call | string => {
  try {
    const options = { json: { type: 'boolean' }, smoke: { type: 'boolean' }, profile: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args: [...given], options, allowPositionals: true });
    const [name, ...more] = positionals;
    const chosen = BENCHMARKS.filter((benchmark) => name === 'all' || benchmark.name === name);
    if (name === undefined || more.length > 0) return 'exactly one name is needed';
    if (chosen.length === 0) return `there is no benchmark ${JSON.stringify(name)}`;
    const profile = values.profile === undefined ? undefined : resolve(values.profile);
    return { chosen, json: values.json ?? false, smoke: values.smoke ?? false, profile };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const runOne = async ({ name, run }: Benchmark, { json, smoke, profile }: Call): Promise<void> => {
  const tell = (line: string): void => void process.stderr.write(`${line}\n`);
  const folder = await mkdtemp(join(tmpdir(), `promoter-bench-${name}-`));
  try {
    const measured = await run({ smoke, folder, profile, tell });
    (json ? process.stderr : process.stdout).write(`${printMeasured(name, measured)}\n`);
    if (json) process.stdout.write(`${JSON.stringify({ benchmark: name, ...measured })}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const main = async (given: readonly string[]): Promise<number> => {
  const call = readCall(given);
  if (typeof call === 'string') {
    process.stderr.write(`${call}\n\n${usage()}\n`);
    return 2;
  }
  for (const benchmark of call.chosen) await runOne(benchmark, call);
  return 0;
};

process.exitCode = await main(process.argv.slice(2));
