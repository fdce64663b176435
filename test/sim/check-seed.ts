/** Runs a seed; every so often also without its faults, and a second time, because both must agree with the first run. */
import { type RunOptions, type RunResult, runSeed } from './simulation.ts';

/** One seed in so many is run twice and must leave the same trace. */
const TWICE = 100;
/** One seed in so many is compared with the run without faults. */
const FAULTLESS = 20;

const compared = (result: RunResult, faultless: RunResult): RunResult => {
  if (result.violation) return result;
  if (faultless.violation) {
    const message = `without faults: ${faultless.violation.message}`;
    return { ...result, violation: { ...faultless.violation, message }, tail: faultless.tail };
  }
  for (const [pipeline, end] of result.ends) {
    const other = faultless.ends.get(pipeline);
    if (other === undefined || other === end) continue;
    return { ...result, violation: { invariant: 'I14', message: `${pipeline} ended with ${end}, and without faults with ${other}` } };
  }
  return result;
};

/** The result of a seed; `index` is its place among all that are run. */
export const checkSeed = async (seed: string, index: number, options: RunOptions = {}): Promise<RunResult> => {
  const result = await runSeed(seed, options);
  if (!result.violation && index % TWICE === 0) {
    const again = await runSeed(seed, options);
    if (again.hash !== result.hash) {
      const message = `two runs left different traces: ${result.hash} and ${again.hash}`;
      return { ...result, violation: { invariant: 'Determinism', message } };
    }
  }
  if (index % FAULTLESS !== 0 || options.withoutFaults) return result;
  return compared(result, await runSeed(seed, { ...options, withoutFaults: true }));
};
