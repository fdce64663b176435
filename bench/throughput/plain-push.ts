/** The same changes by plain git on the same repository: one commit a push, or many. */
import { join } from 'node:path';
import { commitEdit } from '../plain-git/edit-commit.ts';
import { type ObjectDatabase, openObjects } from '../plain-git/object-database.ts';
import { git } from '../plain-git/run-git.ts';
import { ENVIRONMENTS, kustomizationPath, withTag } from '../sample/manifests.ts';
import { BRANCH, type Remote } from '../sample/remote.ts';

/** How the work is cut. */
export interface Cut {
  /** Promotions in all. */
  readonly promotions: number;
  /** Commits in one push. */
  readonly perPush: number;
  /** Asks the remote for its tip before each push, as whoever is not alone has to. */
  readonly fetch: boolean;
}

interface Mirror {
  readonly folder: string;
  readonly objects: ObjectDatabase;
  readonly apps: number;
  /** Makes every tag another one. */
  count: number;
}

const commitOn = (mirror: Mirror, base: string): Promise<string> => {
  mirror.count += 1;
  const environment = ENVIRONMENTS[mirror.count % ENVIRONMENTS.length] ?? 'test';
  const tag = `9.${mirror.count}.${Date.now()}`;
  const path = kustomizationPath(mirror.count % mirror.apps, environment);
  return commitEdit(mirror.objects, base, { path, edit: (before) => withTag(before, tag), message: `Promote ${tag}` });
};

const pushOnce = async (mirror: Mirror, tip: string, { perPush, fetch }: Cut): Promise<string> => {
  const { folder, objects } = mirror;
  if (fetch) await git(folder, ['fetch', '--quiet', '--no-tags', 'origin', `+refs/heads/${BRANCH}:refs/remotes/origin/${BRANCH}`]);
  let head = fetch ? (await objects.read(`refs/remotes/origin/${BRANCH}`)).oid : tip;
  const base = head;
  for (let commit = 0; commit < perPush; commit += 1) head = await commitOn(mirror, head);
  await git(folder, ['push', '--quiet', `--force-with-lease=refs/heads/${BRANCH}:${base}`, 'origin', `${head}:refs/heads/${BRANCH}`]);
  return head;
};

/** Plain git on a bare mirror with everything in it. */
export interface PlainGit {
  /** Promotions per second. */
  readonly rate: (cut: Cut) => Promise<number>;
  readonly close: () => void;
}

/** Clones the mirror. */
export const openPlainGit = async (remote: Remote, folder: string): Promise<PlainGit> => {
  const path = join(folder, 'plain.git');
  await git('/', ['clone', '--quiet', '--bare', remote.url, path]);
  const mirror: Mirror = { folder: path, objects: openObjects(path), apps: remote.apps, count: 0 };
  return {
    rate: async (cut) => {
      const started = performance.now();
      let tip = await remote.tip();
      // What others pushed since the last time is brought outside the measured pushes; with a fetch each, the first one brings it.
      if (!cut.fetch) await git(path, ['fetch', '--quiet', '--no-tags', 'origin', `+refs/heads/${BRANCH}:refs/remotes/origin/${BRANCH}`]);
      for (let made = 0; made < cut.promotions; made += cut.perPush) tip = await pushOnce(mirror, tip, cut);
      return (cut.promotions / (performance.now() - started)) * 1000;
    },
    close: () => mirror.objects.close(),
  };
};
