/** Benchmark `throughput`: a fleet of pipelines in one repository, all Bundles at once, against plain git on the same repository. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { atLeast, atMost, type Benchmark, type Measured, row, type Setting, type Table } from '../benchmark.ts';
import { git } from '../plain-git/run-git.ts';
import { quantile } from '../quantile.ts';
import { ENVIRONMENTS } from '../sample/manifests.ts';
import { BRANCH, createRemote } from '../sample/remote.ts';
import { type FleetReport, runFleet } from './fleet.ts';
import { type Cut, openPlainGit, type PlainGit } from './plain-push.ts';

/** A fleet as it is asked for. */
interface Shape {
  readonly pipelines: number;
  readonly following: boolean;
}

interface Plan {
  readonly fleets: readonly Shape[];
  /** Promotions of each sample of plain git, one a push. */
  readonly serial: number;
  /** Commits in one push of plain git. */
  readonly group: number;
}

const still = (pipelines: number): Shape => ({ pipelines, following: false });

const FULL: Plan = { fleets: [still(100), still(500), still(1000), { pipelines: 500, following: true }], serial: 15, group: 200 };
const SMOKE: Plan = { fleets: [still(10), { pipelines: 10, following: true }], serial: 4, group: 30 };

/** After this a fleet that is not Verified is an error. */
const LIMIT_MS = 900_000;

/** Promotions per second of the ways to do it by hand. */
interface Plain {
  readonly serial: number;
  readonly pushOnly: number;
  readonly grouped: number;
}

const samplePlain = async (plain: PlainGit, { serial, group }: Plan): Promise<Plain> => {
  const one = (cut: Cut): Promise<number> => plain.rate(cut);
  return {
    serial: await one({ promotions: serial, perPush: 1, fetch: true }),
    pushOnly: await one({ promotions: serial, perPush: 1, fetch: false }),
    grouped: await one({ promotions: 2 * group, perPush: group, fetch: true }),
  };
};

/** The samples from before and after a fleet count alike. */
const mean = (a: number, b: number): number => 2 / (1 / a + 1 / b);

interface Fleet extends Shape {
  readonly report: FleetReport;
  readonly plain: Plain;
}

/** The figures only count when every promotion landed, once: of all pipelines and of the one that warmed the mirror. */
const checkLanded = async (folder: string, pipelines: number): Promise<void> => {
  const runs = await git(folder, ['log', '--format=%(trailers:key=Promoter-Run,valueonly,separator=)', BRANCH]);
  const landed = runs.split('\n').filter((run) => run !== '');
  const expected = (pipelines + 1) * ENVIRONMENTS.length;
  if (landed.length === expected && new Set(landed).size === expected) return;
  throw new Error(`${landed.length} commits of ${new Set(landed).size} runs are on the branch, not ${expected}`);
};

const labelOf = ({ pipelines, following }: Shape): string => `${pipelines} pipelines${following ? ', rolling out' : ''}`;

const measure = async (shape: Shape, plan: Plan, setting: Setting): Promise<Fleet> => {
  const { pipelines } = shape;
  const folder = join(setting.folder, 'fleet');
  await mkdir(folder, { recursive: true });
  const remote = await createRemote(join(folder, 'remote.git'), pipelines + 1);
  const plain = await openPlainGit(remote, folder);
  try {
    const before = await samplePlain(plain, plan);
    setting.tell(`${labelOf(shape)}: begins`);
    const report = await runFleet({ ...shape, folder: join(folder, 'data'), url: remote.url, limitMs: LIMIT_MS }, setting.profile);
    setting.tell(`${labelOf(shape)}: ${report.seconds.toFixed(1)} s`);
    for (const [name, why] of Object.entries(report.failed)) setting.tell(`failed: ${name}: ${why}`);
    await checkLanded(remote.folder, pipelines);
    const after = await samplePlain(plain, plan);
    const both = {
      serial: mean(before.serial, after.serial),
      pushOnly: mean(before.pushOnly, after.pushOnly),
      grouped: mean(before.grouped, after.grouped),
    };
    return { ...shape, report, plain: both };
  } finally {
    plain.close();
    remote.close();
    await rm(folder, { recursive: true, force: true });
  }
};

const promotionsOf = ({ pipelines }: Fleet): number => pipelines * ENVIRONMENTS.length;
const rateOf = (fleet: Fleet): number => promotionsOf(fleet) / fleet.report.seconds;

const fleetRow = (fleet: Fleet) => {
  const { report } = fleet;
  const promotions = promotionsOf(fleet);
  return row({
    seconds: report.seconds,
    'promotions/s': rateOf(fleet),
    'landed p50 s': quantile(report.latencies, 0.5),
    'p95 s': quantile(report.latencies, 0.95),
    'p99 s': quantile(report.latencies, 0.99),
    'git processes/promotion': report.processes / promotions,
    'store writes/promotion': report.writes / promotions,
    'writes/commit': report.writes / report.commits,
    'CPU ms/promotion': ((report.userSeconds + report.systemSeconds) * 1000) / promotions,
    'peak MB': report.peakMegabytes,
  });
};

const ratesRow = (fleet: Fleet, { group }: Plan) =>
  row({
    promoter: rateOf(fleet),
    'plain git, fetch + push each': fleet.plain.serial,
    'push only each': fleet.plain.pushOnly,
    [`${group} commits a push`]: fleet.plain.grouped,
    'promoter ÷ one each': rateOf(fleet) / fleet.plain.serial,
    'grouped ÷ one each': fleet.plain.grouped / fleet.plain.serial,
  });

/** Rows by what was counted, a column for each fleet. */
const perPromotion = (fleets: readonly Fleet[], counts: (report: FleetReport) => Readonly<Record<string, number>>): Table => {
  const kinds = new Set(fleets.flatMap(({ report }) => Object.keys(counts(report)).filter((what) => (counts(report)[what] ?? 0) > 0)));
  const cells = (what: string): [string, number][] =>
    fleets.map((fleet) => [labelOf(fleet), (counts(fleet.report)[what] ?? 0) / promotionsOf(fleet)]);
  return Object.fromEntries([...kinds].toSorted().map((what) => [what, row(Object.fromEntries(cells(what)))]));
};

const tables = (fleets: readonly Fleet[], plan: Plan): Readonly<Record<string, Table>> => {
  const each = <T>(make: (fleet: Fleet) => T): Record<string, T> =>
    Object.fromEntries(fleets.map((fleet) => [labelOf(fleet), make(fleet)]));
  return {
    'from the creation of all Bundles until all are Verified': each(fleetRow),
    'promotions per second': each((fleet) => ratesRow(fleet, plan)),
    'store writes per promotion, by what was asked for': perPromotion(fleets, ({ asked }) => asked),
    'store reads per promotion': perPromotion(fleets, ({ read }) => read),
  };
};

const run = async (setting: Setting): Promise<Measured> => {
  const plan = setting.smoke ? SMOKE : FULL;
  const fleets: Fleet[] = [];
  for (const shape of plan.fleets) fleets.push(await measure(shape, plan, setting));
  const budgets = fleets
    .filter(({ following }) => !following)
    .flatMap((fleet) => [
      atLeast(`× the rate of one commit a push, ${labelOf(fleet)}`, rateOf(fleet) / fleet.plain.serial, 10),
      atMost(`git processes per promotion, ${labelOf(fleet)}`, fleet.report.processes / promotionsOf(fleet), 2),
    ]);
  return { figures: tables(fleets, plan), budgets };
};

/** A fleet of pipelines in one repository. */
export const throughputBenchmark: Benchmark = {
  name: 'throughput',
  about:
    '100, 500 and 1,000 pipelines of 3 environments in one repository, all Bundles at once; rivals: plain git, one commit a push and grouped',
  run,
};
