/** What must hold after the last restart (the invariants of the service that a repository and the resources show). */
import { spawnSync } from 'node:child_process';
import type { Bundle } from '../../src/api/kinds/bundle.ts';
import type { Store } from '../../src/ports/store.ts';
import { type Place, tagsAt } from './cluster.ts';

/** What is checked. */
export interface Scene {
  readonly store: Store;
  readonly repository: string;
  readonly places: readonly Place[];
  readonly applications: readonly string[];
  /** Names of Bundles whose creation was acknowledged. */
  readonly acknowledged: ReadonlySet<string>;
}

const git = (repository: string, ...args: string[]) =>
  spawnSync('git', ['--git-dir', repository, ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });

const listed = async <T>(read: Promise<{ ok: true; value: { items: readonly T[] } } | { ok: false }>): Promise<readonly T[]> => {
  const result = await read;
  if (!result.ok) throw new Error('the store cannot be read');
  return result.value.items;
};

/** Whether every Bundle has ended. */
export const allEnded = async (store: Store): Promise<boolean> => {
  const read = await store.list('Bundle');
  return read.ok && read.value.items.every((bundle) => ['Verified', 'Superseded', 'Failed'].includes(bundle.status?.phase ?? ''));
};

const newestOf = (bundles: readonly Bundle[], application: string): Bundle | undefined =>
  bundles
    .filter((bundle) => bundle.spec?.pipeline === application)
    .sort((a, b) => (b.status?.sequence ?? 0) - (a.status?.sequence ?? 0))[0];

const phases = (scene: Scene, bundles: readonly Bundle[]): string[] => {
  const problems: string[] = [];
  const names = new Set(bundles.map((bundle) => bundle.metadata.name));
  for (const name of scene.acknowledged) if (!names.has(name)) problems.push(`I1: acknowledged Bundle ${name} is lost`);
  for (const application of scene.applications) {
    const newest = newestOf(bundles, application);
    if (newest?.status?.phase !== 'Verified')
      problems.push(`I14: the newest Bundle of ${application} is ${newest?.status?.phase ?? 'missing'}`);
    const tags = tagsAt(
      scene.repository,
      'main',
      scene.places.map((place) => place.file),
    );
    for (const place of scene.places.filter((candidate) => candidate.application === application)) {
      const tag = tags.get(place.file);
      if (tag !== newest?.status?.version)
        problems.push(`I14: ${place.file} says ${tag ?? 'nothing'}, not ${newest?.status?.version ?? ''}`);
    }
  }
  for (const bundle of bundles) {
    if (bundle.status?.phase === 'Failed')
      problems.push(`I14: ${bundle.metadata.name} is Failed: ${JSON.stringify(bundle.status.conditions)}`);
  }
  const sequences = bundles.map((bundle) => `${bundle.spec?.pipeline}/${bundle.status?.sequence}`);
  if (new Set(sequences).size !== sequences.length) problems.push('two Bundles have the same place in the order');
  return problems;
};

const commits = (scene: Scene): string[] => {
  const log = git(scene.repository, 'log', '--format=%H%x00%(trailers:key=Promoter-Run,valueonly,separator=%x2c)', 'main')
    .stdout.trim()
    .split('\n');
  const runs = log.map((line) => line.split('\0')[1] ?? '').filter((run) => run !== '');
  const doubled = runs.filter((run, index) => runs.indexOf(run) !== index);
  const problems = doubled.map((run) => `I2: run ${run} has more than one commit`);
  const fsck = git(scene.repository, 'fsck', '--full', '--strict');
  const words = `${fsck.stdout}${fsck.stderr}`
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('dangling') && !line.startsWith('notice'));
  return fsck.status === 0 ? problems : [...problems, `git fsck: ${words.join('; ')}`];
};

const audits = async (scene: Scene, bundles: readonly Bundle[]): Promise<string[]> => {
  const events = await listed(scene.store.list('AuditEvent'));
  const count = (bundle: Bundle, action: string) =>
    events.filter((event) => event.spec?.bundle === bundle.metadata.name && event.spec.action === action).length;
  return bundles.flatMap((bundle) => {
    const problems: string[] = [];
    const transitions = (bundle.status?.environments ?? []).flatMap((record) => record.transitions);
    const started = transitions.filter((transition) => transition.from === 'Pending' && transition.to === 'Promoting').length;
    const verified = transitions.filter((transition) => transition.to === 'Verified').length;
    const superseded = bundle.status?.phase === 'Superseded' ? 1 : 0;
    const name = bundle.metadata.name;
    if (count(bundle, 'PromotionStarted') !== started) problems.push(`I8: ${name} started ${started} times, not as many events`);
    if (count(bundle, 'PromotionSucceeded') !== verified) problems.push(`I8: ${name} succeeded ${verified} times, not as many events`);
    if (count(bundle, 'PromotionSuperseded') !== superseded) problems.push(`I8: ${name} superseded: ${superseded}, not as many events`);
    return problems;
  });
};

/** Everything that does not hold. */
export const violations = async (scene: Scene): Promise<readonly string[]> => {
  const bundles = await listed(scene.store.list('Bundle'));
  return [...phases(scene, bundles), ...commits(scene), ...(await audits(scene, bundles))];
};
