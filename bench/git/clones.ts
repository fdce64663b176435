/** The rivals: tools that clone for every promotion, edit the file in a working tree, commit and push. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '../plain-git/run-git.ts';
import { kustomizationPath, overlayFolder, withTag } from '../sample/manifests.ts';
import { BRANCH, type Remote } from '../sample/remote.ts';
import { type Contender, type Prepare, type Promotion, timed } from './contender.ts';

type Clone = (remote: Remote, folder: string, promotion: Promotion) => Promise<void>;

const sparse: Clone = async ({ url }, folder, { app, environment }) => {
  await git('/', ['clone', '--quiet', '--filter=blob:none', '--no-checkout', '--single-branch', '--branch', BRANCH, url, folder]);
  await git(folder, ['sparse-checkout', 'set', overlayFolder(app, environment)]);
  await git(folder, ['checkout', '--quiet', BRANCH]);
};

const shallow: Clone = async ({ url }, folder) => {
  await git('/', ['clone', '--quiet', '--depth=1', '--single-branch', '--branch', BRANCH, url, folder]);
};

const editCommitPush = async (folder: string, { app, environment, tag }: Promotion): Promise<void> => {
  const path = kustomizationPath(app, environment);
  await writeFile(join(folder, path), withTag(await readFile(join(folder, path), 'utf8'), tag));
  await git(folder, ['commit', '--quiet', '--message', `Promote to ${environment}`, '--', path]);
  await git(folder, ['push', '--quiet', 'origin', `HEAD:refs/heads/${BRANCH}`]);
};

const rival =
  (clone: Clone): Prepare =>
  async (remote, folder): Promise<Contender> => ({
    promote: async (promotion) => {
      const total = await timed(async () => {
        await clone(remote, folder, promotion);
        await editCommitPush(folder, promotion);
      });
      await rm(folder, { recursive: true, force: true });
      return { total };
    },
    close: async () => undefined,
  });

/** A blobless clone with only the environment's folder checked out. */
export const prepareSparse: Prepare = rival(sparse);
/** A clone of depth 1 with everything checked out. */
export const prepareShallow: Prepare = rival(shallow);
