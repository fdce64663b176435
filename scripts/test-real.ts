/**
 * `npm run test:real`: the service against real third-party programs, as far as this machine has them. What is left out is said, with the reason.
 * `--require NAME,NAME` makes what is missing a failure. The exit code is 0 only when everything that was run passed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const root = dirname(import.meta.dirname);

/** One third party. */
interface Party {
  readonly name: string;
  readonly file: string;
  /** What is missing, with what to do about it; undefined when everything is there. */
  readonly missing: () => string | undefined;
}

const runs = (program: string, ...args: string[]): boolean => spawnSync(program, args, { stdio: 'ignore' }).error === undefined;

const PARTIES: readonly Party[] = [
  {
    name: 'ssh',
    file: 'test/real/ssh.test.ts',
    missing: () => {
      if (!['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/opt/homebrew/sbin/sshd'].some((path) => existsSync(path))) {
        return 'no sshd; install openssh-server';
      }
      return runs('ssh-keygen', '-?') ? undefined : 'no ssh-keygen; install openssh-client';
    },
  },
  {
    name: 'kubectl',
    file: 'test/real/kubectl.test.ts',
    missing: () => (runs('kubectl', 'version', '--client') ? undefined : 'no kubectl on the PATH'),
  },
  {
    name: 'kubectl-api',
    file: 'test/real/kubectl-api.test.ts',
    missing: () => (runs('kubectl', 'version', '--client') ? undefined : 'no kubectl on the PATH'),
  },
  {
    name: 'cluster-admission',
    file: 'test/real/cluster-admission.test.ts',
    missing: () => (runs('go', 'version') ? undefined : "no go on the PATH, which builds the API server's own validation"),
  },
];

/** Third parties that the service does not speak to yet; named so that nobody takes their silence for a pass. */
const NOT_YET = [
  'OCI registry (no Subscriptions yet)',
  'Prometheus (no MetricChecks yet)',
  'kube-apiserver and etcd (embedded store only so far)',
];

const runFiles = (files: readonly string[]): Promise<{ readonly passed: boolean; readonly tests: number }> =>
  new Promise((resolve) => {
    let failed = 0;
    let tests = 0;
    const stream = run({ files: files.map((file) => join(root, file)), concurrency: 1, timeout: 5 * 60_000, cwd: root });
    stream.on('test:fail', () => {
      failed += 1;
    });
    stream.on('test:summary', (summary) => {
      if (summary.file === undefined) tests = summary.counts.tests;
    });
    const shown = stream.compose(spec());
    shown.on('end', () => resolve({ passed: failed === 0 && tests > 0, tests }));
    shown.pipe(process.stdout, { end: false });
  });

const flag = process.argv.indexOf('--require');
const required = new Set(flag < 0 ? [] : (process.argv[flag + 1] ?? '').split(',').filter((name) => name !== ''));
const missing = new Map(PARTIES.map((party) => [party.name, party.missing()]));
const chosen = PARTIES.filter((party) => missing.get(party.name) === undefined);
const result = chosen.length === 0 ? { passed: true, tests: 0 } : await runFiles(chosen.map((party) => party.file));

console.log('\n== real third parties');
let lacking = 0;
for (const { name } of PARTIES) {
  const why = missing.get(name);
  if (why !== undefined && required.has(name)) lacking += 1;
  console.log(why === undefined ? `ran       ${name}` : `left out  ${name}: ${why}${required.has(name) ? ' (required)' : ''}`);
}
for (const name of NOT_YET) console.log(`left out  ${name}`);
console.log(`${result.tests} tests against ${chosen.length} of ${PARTIES.length} third parties: ${result.passed ? 'passed' : 'FAILED'}`);
process.exitCode = result.passed && lacking === 0 ? 0 : 1;
