/** The floor: what one would write by hand for this one job, on a blobless bare mirror. Two git processes, objects written in between. */
import { commitEdit } from '../plain-git/edit-commit.ts';
import { openObjects } from '../plain-git/object-database.ts';
import { git } from '../plain-git/run-git.ts';
import { kustomizationPath, withTag } from '../sample/manifests.ts';
import { BRANCH } from '../sample/remote.ts';
import { type Prepare, timed } from './contender.ts';

const TRACKING = `refs/remotes/origin/${BRANCH}`;

/** Clones bare and without files; the files that are edited are asked for once. */
export const prepareFloor: Prepare = async (remote, folder) => {
  await git('/', ['clone', '--quiet', '--bare', '--filter=blob:none', remote.url, folder]);
  const fetch = ['fetch', '--quiet', '--no-tags', '--filter=blob:none', 'origin', `+refs/heads/${BRANCH}:${TRACKING}`];
  const objects = openObjects(folder);
  const known = new Set<string>();
  return {
    promote: async ({ app, environment, tag }) => {
      const path = kustomizationPath(app, environment);
      let processes = 0;
      const call = async (args: readonly string[]): Promise<void> => {
        processes += await timed(() => git(folder, args));
      };
      const total = await timed(async () => {
        await call(fetch);
        const { oid: base } = await objects.read(TRACKING);
        if (!known.has(path)) await git(folder, ['cat-file', '-e', `${base}:${path}`]);
        known.add(path);
        const change = { path, edit: (before: string) => withTag(before, tag), message: `Promote to ${environment}` };
        const commit = await commitEdit(objects, base, change);
        await call(['push', '--quiet', `--force-with-lease=refs/heads/${BRANCH}:${base}`, 'origin', `${commit}:refs/heads/${BRANCH}`]);
      });
      return { total, own: total - processes };
    },
    close: async () => objects.close(),
  };
};
