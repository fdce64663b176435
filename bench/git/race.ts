/** Rounds in which contenders take turns on the same repositories, so that a slow moment of the machine meets all of them. */
import { join } from 'node:path';
import { git } from '../plain-git/run-git.ts';
import { ENVIRONMENTS, kustomizationPath } from '../sample/manifests.ts';
import { BRANCH, type Remote } from '../sample/remote.ts';
import type { Contender, Prepare, Promotion, Sample } from './contender.ts';

/** Somebody who takes part. */
export interface Entrant {
  readonly name: string;
  readonly prepare: Prepare;
  /** Promotions that are measured in that repository. */
  readonly rounds: (remote: Remote) => number;
  /** Promotions before the first that is measured. */
  readonly warmUp: number;
}

/** What was measured of one entrant in one repository. */
export interface Result {
  readonly entrant: string;
  readonly remote: Remote;
  readonly samples: readonly Sample[];
}

interface Lane extends Result {
  readonly samples: Sample[];
  readonly contender: Contender;
  /** Promotions in all. */
  readonly rounds: number;
  readonly warmUp: number;
  /** Among the lanes of its repository. */
  readonly place: number;
  done: number;
  last: Promotion | undefined;
}

/** Environments whose file is promoted in turns; each has been promoted before, as in everyday work. */
const TURNS = 4;

const promoteOnce = async (lane: Lane): Promise<void> => {
  const turn = lane.done % TURNS;
  lane.done += 1;
  await lane.remote.disturb();
  lane.last = {
    // Apps of its own: a file that somebody else promoted would have to be fetched first.
    app: (lane.place * TURNS + turn) % lane.remote.apps,
    environment: ENVIRONMENTS[turn % ENVIRONMENTS.length] ?? 'test',
    tag: `2.${lane.done}-${lane.entrant.replaceAll(' ', '-')}`,
  };
  const sample = await lane.contender.promote(lane.last);
  if (lane.done > lane.warmUp) lane.samples.push(sample);
};

/** A time only counts when the branch says what was to be promoted. */
const checkLanded = async ({ entrant, remote, last }: Lane): Promise<void> => {
  if (last === undefined) return;
  const text = await git(remote.folder, ['show', `${BRANCH}:${kustomizationPath(last.app, last.environment)}`]);
  if (!text.includes(last.tag)) throw new Error(`${entrant} did not land ${last.tag}`);
};

const takePart = async (entrant: Entrant, remote: Remote, place: number, folder: string): Promise<Lane> => ({
  entrant: entrant.name,
  remote,
  samples: [],
  contender: await entrant.prepare(remote, folder),
  rounds: entrant.rounds(remote) + entrant.warmUp,
  warmUp: entrant.warmUp,
  place,
  done: 0,
  last: undefined,
});

const runRounds = async (lanes: readonly Lane[]): Promise<void> => {
  const most = Math.max(...lanes.map((lane) => lane.rounds));
  for (let round = 0; round < most; round += 1) {
    // Who comes first changes from round to round.
    const order = round % 2 === 0 ? lanes : lanes.toReversed();
    for (const lane of order) if (lane.done < lane.rounds) await promoteOnce(lane);
  }
  for (const lane of lanes) await checkLanded(lane);
};

/** Runs all rounds; every entrant keeps its own folder for each repository below the given one. */
export const race = async (remotes: readonly Remote[], entrants: readonly Entrant[], folder: string): Promise<readonly Result[]> => {
  const lanes: Lane[] = [];
  try {
    for (const remote of remotes) {
      for (const [place, entrant] of entrants.entries()) {
        if (entrant.rounds(remote) > 0) lanes.push(await takePart(entrant, remote, place, join(folder, `lane-${lanes.length}`)));
      }
    }
    await runRounds(lanes);
  } finally {
    for (const { contender } of lanes) await contender.close();
  }
  return lanes;
};

/** Times of an entrant in a repository, in milliseconds; none when it did not take part there. */
export const timesOf = (results: readonly Result[], entrant: string, remote: Remote, part: keyof Sample = 'total'): readonly number[] =>
  results
    .filter((result) => result.entrant === entrant && result.remote === remote)
    .flatMap((result) => result.samples)
    .flatMap((sample) => sample[part] ?? []);
