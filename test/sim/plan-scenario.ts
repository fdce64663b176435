/** Puts what a scenario plans on the clock of the simulated world. */
import type { GitRemotes } from './git-remotes.ts';
import { overwriteImages } from './manifests.ts';
import { BRANCH, NAMESPACE, type OutsideChange, type PlannedBundle, type PlannedPipeline, type Scenario } from './scenario.ts';
import type { Scheduler } from './scheduler.ts';
import type { StoreCore } from './store-core.ts';

/** Where it happens. */
export interface Stage {
  readonly scenario: Scenario;
  readonly core: StoreCore;
  readonly scheduler: Scheduler;
  readonly remotes: GitRemotes;
  /** Names of the Bundles that were created once; the simulation keeps it. */
  readonly created: Set<string>;
}

/** Actor of everything that people do. */
export const USER = 'user';

const planPipeline = ({ core, scheduler }: Stage, planned: PlannedPipeline): void => {
  const { pipeline, createdAt, recreatedAt, edit } = planned;
  const { name } = pipeline.metadata;
  scheduler.after(createdAt, `Pipeline ${name} is created`, () => void core.create(pipeline, USER));
  if (edit) scheduler.after(edit.at, `Pipeline ${name} is edited`, () => void core.update({ ...pipeline, ...{ spec: edit.spec } }, USER));
  if (recreatedAt === undefined) return;
  scheduler.after(recreatedAt, `Pipeline ${name} is deleted`, () => void core.delete('Pipeline', NAMESPACE, name, { actor: USER }));
  scheduler.after(recreatedAt + 30_000, `Pipeline ${name} is created again`, () => void core.create(pipeline, USER));
};

const outside = ({ remotes, scheduler }: Stage, { url, note, overwrites, rewinds }: OutsideChange): void => {
  if (rewinds !== undefined) {
    remotes.rewind(url, BRANCH, rewinds);
    return;
  }
  const edit = (files: Map<string, string>) => {
    if (overwrites === undefined) files.set('NOTES.md', `${note}\n`);
    else overwriteImages(files, overwrites, note.replaceAll(' ', '-'));
  };
  remotes.writeOutside(url, BRANCH, { message: note, time: scheduler.now(), edit });
};

/** Creates the next Bundle of the Pipeline whose push is under way, if it waits for that; `uid` is that of the Bundle that is pushed. */
export const pushBegins = (stage: Stage, uid: string): string | undefined => {
  const { scenario, core } = stage;
  const pushed = [...core.all('Bundle').values()].find((bundle) => bundle.metadata.uid === uid);
  const index = scenario.bundles.findIndex(({ bundle }) => bundle.metadata.name === pushed?.metadata.name);
  const [own, next] = [scenario.bundles[index], scenario.bundles[index + 1]];
  if (!next?.onPush || next.bundle.spec?.pipeline !== own?.bundle.spec?.pipeline) return undefined;
  return createOnce(stage, next) ? next.bundle.metadata.name : undefined;
};

const createOnce = ({ core, created }: Stage, { bundle }: PlannedBundle): boolean => {
  const { name } = bundle.metadata;
  if (created.has(name)) return false;
  created.add(name);
  return core.create(bundle, USER).ok;
};

/** See the head of this file. */
export const planScenario = (stage: Stage): void => {
  const { scenario, core, scheduler } = stage;
  for (const planned of scenario.pipelines) planPipeline(stage, planned);
  for (const planned of scenario.bundles) {
    scheduler.after(planned.at, `Bundle ${planned.bundle.metadata.name} is created`, () => void createOnce(stage, planned));
  }
  for (const { bundle: name, at, againAt } of scenario.deletions) {
    scheduler.after(at, `Bundle ${name} is deleted`, () => void core.delete('Bundle', NAMESPACE, name, { actor: USER }));
    const planned = scenario.bundles.find(({ bundle }) => bundle.metadata.name === name);
    if (againAt === undefined || !planned) continue;
    scheduler.after(againAt, `Bundle ${name} is made again`, () => void core.create(planned.bundle, USER));
  }
  for (const { gate, from, to } of scenario.gates) {
    const { name, namespace = '' } = gate.metadata;
    scheduler.after(from, `gate ${name} closes`, () => void core.create(gate, USER));
    scheduler.after(to, `gate ${name} is taken away`, () => void core.delete('PolicyGate', namespace, name, { actor: USER }));
  }
  for (const change of scenario.outside) scheduler.after(change.at, `outside: ${JSON.stringify(change)}`, () => outside(stage, change));
};
