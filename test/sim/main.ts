/** `npm run sim -- --seeds N [--seed S] [--trace]`: runs seeds, prints violations, ends with one line of JSON. */
import { parseArgs } from 'node:util';
import { checkSeed } from './check-seed.ts';
import { type RunResult, runSeed } from './simulation.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    seed: { type: 'string' },
    from: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    faultless: { type: 'boolean', default: false },
  },
});

const show = (result: RunResult): void => {
  if (!result.violation) return;
  if (!values.trace) for (const line of result.tail) console.log(`  ${line}`);
  console.log(`seed ${result.seed} violates ${result.violation.invariant}: ${result.violation.message}`);
  console.log(`  again: npm run sim -- --seed ${result.seed} --trace`);
};

const options = { withoutFaults: values.faultless, ...(values.trace ? { echo: (line: string) => console.log(line) } : {}) };
const seeds =
  values.seed === undefined
    ? Array.from({ length: Number(values.seeds) }, (_, index) => String(Number(values.from) + index))
    : [values.seed];
const total = { seeds: seeds.length, steps: 0, faults: 0, violations: 0 };
const begun = Date.now();
for (const [index, seed] of seeds.entries()) {
  const result = await (values.seed === undefined ? checkSeed(seed, index, options) : runSeed(seed, options));
  total.steps += result.steps;
  total.faults += result.faults;
  if (result.violation) total.violations += 1;
  show(result);
}
const seconds = (Date.now() - begun) / 1000;
console.log(`${seeds.length} seeds in ${seconds.toFixed(1)} s, ${(seeds.length / seconds).toFixed(1)} a second`);
console.log(JSON.stringify(total));
process.exitCode = total.violations > 0 ? 1 : 0;
