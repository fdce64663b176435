/** Benchmark `git`: one promotion in repositories of growing size, against the floor and against tools that clone. */
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { startGitServer } from '../../src/adapters/git-server/index.ts';
import { atLeast, atMost, type Benchmark, type Budget, type Measured, row, type Setting, type Table } from '../benchmark.ts';
import { median, quantile } from '../quantile.ts';
import { quietLog } from '../quiet-log.ts';
import { FILES_PER_APP } from '../sample/manifests.ts';
import { createRemote, type Remote } from '../sample/remote.ts';
import { prepareShallow, prepareSparse } from './clones.ts';
import { timed } from './contender.ts';
import { prepareFloor } from './floor.ts';
import { prepareOurs } from './ours.ts';
import { type Entrant, type Result, race, timesOf } from './race.ts';

/** How much is measured. */
interface Plan {
  /** Files of each repository. */
  readonly sizes: readonly number[];
  /** The size at which clones are held against us. */
  readonly compared: number;
  readonly rounds: number;
  /** Rounds of those that clone: fewer where a clone takes long. */
  readonly cloneRounds: { readonly sparse: (files: number) => number; readonly shallow: (files: number) => number };
  readonly http: number;
}

const FULL: Plan = {
  sizes: [3_000, 30_000, 300_000],
  compared: 30_000,
  rounds: 24,
  cloneRounds: { sparse: (files) => (files > 100_000 ? 2 : 6), shallow: (files) => (files > 100_000 ? 1 : 4) },
  http: 12,
};

const SMOKE: Plan = {
  sizes: [400, 4_000],
  compared: 4_000,
  rounds: 4,
  cloneRounds: { sparse: () => 1, shallow: () => 1 },
  http: 1,
};

const filesIn = (remote: Remote): number => remote.apps * FILES_PER_APP;
const label = (files: number): string => `${files.toLocaleString('en-US')} files`;

/** Promoter once more in the rounds of the clones, which keep the disk busy for whoever comes after them. */
const BESIDE = 'promoter, beside clones';

const quick = (rounds: number, tell: Setting['tell']): readonly Entrant[] => [
  { name: 'promoter', prepare: prepareOurs(quietLog(tell)), rounds: () => rounds, warmUp: 4 },
  { name: 'floor', prepare: prepareFloor, rounds: () => rounds, warmUp: 4 },
];

const cloning = ({ cloneRounds: { sparse, shallow } }: Plan, tell: Setting['tell']): readonly Entrant[] => [
  { name: BESIDE, prepare: prepareOurs(quietLog(tell)), rounds: (remote) => sparse(filesIn(remote)), warmUp: 4 },
  { name: 'sparse clone', prepare: prepareSparse, rounds: (remote) => sparse(filesIn(remote)), warmUp: 0 },
  { name: 'shallow clone', prepare: prepareShallow, rounds: (remote) => shallow(filesIn(remote)), warmUp: 0 },
];

const medianOf = (results: readonly Result[], entrant: string, remote: Remote): number => median(timesOf(results, entrant, remote));

const tableOf = (results: readonly Result[], remote: Remote): Table => {
  const rows = results.filter((result) => result.remote === remote);
  return Object.fromEntries(
    rows.map(({ entrant, samples }) => {
      const totals = samples.map((sample) => sample.total);
      const own = timesOf(results, entrant, remote, 'own');
      const parts = { 'own work p25 ms': quantile(own, 0.25), 'own work p50 ms': median(own) };
      const ratio = medianOf(results, entrant, remote) / medianOf(results, 'floor', remote);
      const times = { 'p50 ms': quantile(totals, 0.5), 'p95 ms': quantile(totals, 0.95), '× floor': ratio };
      return [entrant, row({ ...times, ...(own.length === 0 ? {} : parts), samples: samples.length })];
    }),
  );
};

const budgetsOf = (results: readonly Result[], remotes: readonly Remote[], plan: Plan): readonly Budget[] => {
  const ours = (remote: Remote): number => medianOf(results, 'promoter', remote);
  const beside = (remote: Remote): number => medianOf(results, BESIDE, remote);
  const against = remotes.find((remote) => filesIn(remote) === plan.compared);
  const own = remotes.map((remote) => median(timesOf(results, 'promoter', remote, 'own')));
  return [
    ...remotes.map((remote) => atMost(`× floor at ${label(filesIn(remote))}`, ours(remote) / medianOf(results, 'floor', remote), 2)),
    atMost('own work p50, largest size ÷ smallest', (own.at(-1) ?? Number.NaN) / (own[0] ?? Number.NaN), 1.3),
    ...(against === undefined
      ? []
      : [
          atLeast(`sparse clone ÷ promoter at ${label(plan.compared)}`, medianOf(results, 'sparse clone', against) / beside(against), 3),
          atLeast(`shallow clone ÷ promoter at ${label(plan.compared)}`, medianOf(results, 'shallow clone', against) / beside(against), 15),
        ]),
  ];
};

/** The same over HTTP, promoter and floor only. */
const overHttp = async (remote: Remote, plan: Plan, setting: Setting): Promise<Table> => {
  const server = await startGitServer({ root: join(remote.folder, '..') });
  try {
    const served: Remote = { ...remote, url: `${server.url}/${basename(remote.folder)}` };
    return tableOf(await race([served], quick(plan.http, setting.tell), join(setting.folder, 'http')), served);
  } finally {
    await server.close();
  }
};

const run = async (setting: Setting): Promise<Measured> => {
  const plan = setting.smoke ? SMOKE : FULL;
  const { folder, tell } = setting;
  const remotes: Remote[] = [];
  try {
    for (const files of plan.sizes) {
      const took = await timed(async () => remotes.push(await createRemote(join(folder, `${files}.git`), files / FILES_PER_APP)));
      tell(`a repository of ${label(files)} made in ${(took / 1000).toFixed(1)} s`);
    }
    const results = [
      ...(await race(remotes, quick(plan.rounds, tell), join(folder, 'quick'))),
      ...(await race(remotes, cloning(plan, tell), join(folder, 'cloning'))),
    ];
    const middle = remotes[1];
    const figures = Object.fromEntries(remotes.map((remote) => [`${label(filesIn(remote))}, file://`, tableOf(results, remote)]));
    if (middle === undefined) return { figures, budgets: budgetsOf(results, remotes, plan) };
    const http = { [`${label(filesIn(middle))}, http://`]: await overHttp(middle, plan, setting) };
    return { figures: { ...figures, ...http }, budgets: budgetsOf(results, remotes, plan) };
  } finally {
    for (const remote of remotes) remote.close();
    await rm(folder, { recursive: true, force: true });
  }
};

/** One promotion in repositories of growing size. */
export const gitBenchmark: Benchmark = {
  name: 'git',
  about:
    'one promotion in repositories of 3,000, 30,000 and 300,000 files; floor: hand-written plumbing; rivals: sparse and shallow clones',
  run,
};
