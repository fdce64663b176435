/**
 * `npm test`: everything that needs only npm packages and git. Each stage runs even when an earlier one failed, and the exit code is 0 only when
 * all of them passed. `--fast` leaves out generated files and everything below test/. Paths given as arguments run only those test files.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const root = dirname(import.meta.dirname);
const FILE_LIMIT_MS = 5 * 60_000;

/** How a stage ended. */
interface Result {
  readonly stage: string;
  readonly passed: boolean;
  readonly note: string;
  readonly seconds: number;
}

const timed = async (stage: string, body: () => Promise<{ passed: boolean; note: string }>): Promise<Result> => {
  console.log(`\n== ${stage}`);
  const started = performance.now();
  const { passed, note } = await body();
  return { stage, passed, note, seconds: (performance.now() - started) / 1000 };
};

/** Runs a program to its end; it inherits the terminal. */
const program = (command: string, args: readonly string[]) => (): Promise<{ passed: boolean; note: string }> =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', (error) => resolve({ passed: false, note: error.message }));
    child.on('exit', (code, signal) => resolve({ passed: code === 0, note: code === 0 ? '' : `ended with ${signal ?? code}` }));
  });

const script = (path: string, ...args: string[]) =>
  existsSync(join(root, path))
    ? program(process.execPath, [path, ...args])
    : () => Promise.resolve({ passed: false, note: `${path} does not exist` });

const tool = (name: string, ...args: string[]) => program(join(root, 'node_modules', '.bin', name), args);

/** Runs test files in processes of their own, two at a time, and prints what Node's reporter says. */
const tests = (files: readonly string[]) => (): Promise<{ passed: boolean; note: string }> =>
  new Promise((resolve) => {
    let failed = 0;
    let note = 'the runner ended without a summary';
    let passed = false;
    // Test files that need another limit set it themselves; this one ends a file that hangs.
    const stream = run({ files: [...files], concurrency: 2, timeout: FILE_LIMIT_MS, cwd: root });
    stream.on('test:fail', () => {
      failed += 1;
    });
    stream.on('test:summary', (summary) => {
      if (summary.file !== undefined) return;
      const { tests: all, passed: good, skipped, todo } = summary.counts;
      const bad = all - good - skipped - todo;
      passed = summary.success && failed === 0 && all > 0;
      note = `${all} tests in ${files.length} files: ${good} passed, ${bad} failed, ${skipped} skipped, ${todo} to do`;
    });
    const shown = stream.compose(spec());
    shown.on('end', () => resolve({ passed, note }));
    shown.on('error', (error: Error) => resolve({ passed: false, note: error.message }));
    shown.pipe(process.stdout, { end: false });
  });

/** What needs programs of others is for `npm run test:real`. */
const find = (pattern: string): string[] => globSync(pattern, { cwd: root, exclude: ['test/real/**'] }).toSorted();

const main = async (): Promise<number> => {
  const fast = process.argv.includes('--fast');
  const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
  if (chosen.length > 0) return (await tests(chosen)()).passed ? 0 : 1;
  const files = [...find('src/**/*.test.ts'), ...find('scripts/**/*.test.ts'), ...(fast ? [] : find('test/**/*.test.ts'))];
  const stages: [string, () => Promise<{ passed: boolean; note: string }>][] = [
    ...(fast ? [] : [['generated files', script('scripts/generate.ts', '--check')] as [string, ReturnType<typeof script>]]),
    ['types', tool('tsc', '-p', '.')],
    ['lint and format', tool('biome', 'check', '--error-on-warnings', '.')],
    ['layers', script('scripts/layers.ts')],
    ['tests', tests(files)],
  ];
  const results: Result[] = [];
  for (const [stage, body] of stages) results.push(await timed(stage, body));
  console.log('\n== summary');
  for (const { stage, passed, note, seconds } of results) {
    console.log(`${passed ? 'ok  ' : 'FAIL'} ${stage.padEnd(16)} ${seconds.toFixed(1).padStart(6)} s  ${note}`);
  }
  const failures = results.filter((result) => !result.passed).length;
  console.log(`${results.length - failures} stages passed, ${failures} failed`);
  return failures === 0 ? 0 : 1;
};

process.exitCode = await main();
