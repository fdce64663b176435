/** Tells, line by line, how a Bundle moves along, until it has ended. */

import { labelValue } from '../api/names.ts';
import type { KindMap } from '../api/registry.ts';
import { follow } from '../cli/follow.ts';
import { BUNDLE_LABEL } from '../core/labels.ts';
import { landedCommit } from '../core/step/landed-commit.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';

/** Where an environment stands. */
export interface EnvironmentProgress {
  readonly name: string;
  readonly state: string;
  readonly commit?: string;
}

/** What is followed. */
export interface ProgressOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly namespace: string;
  readonly bundle: string;
  readonly environments: readonly string[];
  /** One line without its line feed. */
  readonly tell: (line: string) => void;
  /** Gives up when aborted. */
  readonly signal: AbortSignal;
}

/** How it ended: the last phase seen, and the environments. */
export interface Progress {
  readonly phase: string;
  /** From the creation of the Bundle to its end, as the demo saw it. */
  readonly seconds: number;
  readonly environments: readonly EnvironmentProgress[];
}

const ENDED: ReadonlySet<string> = new Set(['Verified', 'Failed', 'Superseded', 'SkipDenied']);

const lineOf = (step: KindMap['PromotionStep'], seconds: number): string => {
  const { state = 'Pending', message = '' } = step.status ?? {};
  const commit = landedCommit(step.status);
  const facts = commit === undefined ? '' : `commit ${commit.slice(0, 12)}`;
  // While it is promoted, each step has its own message; the commit is the news.
  const why = state === 'Verified' || state === 'Promoting' ? '' : message;
  return [`${seconds.toFixed(1).padStart(6)} s`, (step.spec?.environment ?? '').padEnd(9), state.padEnd(15), facts.padEnd(19), why]
    .join('  ')
    .trimEnd();
};

/** Follows the Bundle to its end, or until the signal. */
export const followBundle = async (options: ProgressOptions): Promise<Progress> => {
  const { store, clock, namespace, bundle, tell } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const source = { store, clock, signal };
  const started = clock.now();
  const steps = new Map<string, KindMap['PromotionStep']>();
  const last = new Map<string, string>();
  let phase = 'Available';
  const told = (step: KindMap['PromotionStep']): void => {
    const name = step.spec?.environment ?? '';
    steps.set(name, step);
    const news = [step.status?.state, landedCommit(step.status)].join(' ');
    const begun = (step.status?.state ?? 'Pending') !== 'Pending';
    if (begun && last.get(name) !== news) tell(lineOf(step, (clock.now() - started) / 1000));
    last.set(name, news);
  };
  const lost = (): void => {};
  await Promise.all([
    follow(
      source,
      'PromotionStep',
      { namespace, labelSelector: `${BUNDLE_LABEL}=${labelValue(bundle)}` },
      { changed: ({ object }) => told(object), lost },
    ),
    follow(
      source,
      'Bundle',
      { namespace, fieldSelector: `metadata.name=${bundle}` },
      {
        changed: ({ object }) => {
          phase = object.status?.phase ?? phase;
          if (ENDED.has(phase)) stop.abort();
        },
        lost,
      },
    ),
  ]);
  // The last change of a step may come after the Bundle's: what counts is what is stored.
  for (const name of options.environments) {
    const found = [...steps.values()].find((step) => step.spec?.environment === name);
    const fresh = found && (await store.get('PromotionStep', namespace, found.metadata.name, { fresh: true }));
    if (fresh?.ok) told(fresh.value);
  }
  const environments = options.environments.map((name) => {
    const step = steps.get(name);
    const commit = landedCommit(step?.status);
    return { name, state: step?.status?.state ?? 'Pending', ...(commit === undefined ? {} : { commit }) };
  });
  return { phase, seconds: Math.round(clock.now() - started) / 1000, environments };
};
