/** A bare repository of that many apps, with some history, made by `git fast-import`. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { commitEdit } from '../plain-git/edit-commit.ts';
import { type ObjectDatabase, openObjects } from '../plain-git/object-database.ts';
import { git, gitEnvironment } from '../plain-git/run-git.ts';
import { deploymentPath, filesOf, withRevision } from './manifests.ts';

/** The branch that everybody works on. */
export const BRANCH = 'main';

/** A repository that contenders push to. */
export interface Remote {
  readonly apps: number;
  readonly folder: string;
  /** Its `file://` URL. */
  readonly url: string;
  /** The commit that the branch is at. */
  tip(): Promise<string>;
  /** Somebody else changes a file that no promotion touches, behind everybody's back. */
  disturb(): Promise<void>;
  /** Ends what reads it; the folder stays. */
  close(): void;
}

/** Commits in the history, besides the first. */
const HISTORY = 100;
const EPOCH = 1_750_000_000;

function* commits(apps: number): Generator<string> {
  const head = (mark: number): string =>
    `commit refs/heads/${BRANCH}\ncommitter bench <bench@example.com> ${EPOCH + mark * 60} +0000\ndata 8\nhistory\n\n`;
  const file = (path: string, text: string): string => `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
  yield head(0);
  for (let app = 0; app < apps; app += 1) for (const [path, text] of filesOf(app)) yield file(path, text);
  for (let index = 1; index <= HISTORY; index += 1) {
    const path = deploymentPath((index * 7919) % apps);
    const text = [...filesOf((index * 7919) % apps)].find(([name]) => name === path)?.[1] ?? '';
    yield head(index) + file(path, withRevision(text, String(index)));
  }
  yield 'done\n';
}

const importAll = (folder: string, apps: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const args = ['-c', 'core.compression=1', 'fast-import', '--quiet', '--done', '--depth=0'];
    const child = spawn('git', args, { cwd: folder, env: gitEnvironment(), stdio: ['pipe', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`git fast-import ended with ${code}`))));
    const feed = async (): Promise<void> => {
      let waiting: string[] = [];
      let size = 0;
      const flush = async (): Promise<void> => {
        if (!child.stdin.write(waiting.join(''))) await new Promise((drained) => child.stdin.once('drain', drained));
        waiting = [];
        size = 0;
      };
      for (const text of commits(apps)) {
        waiting.push(text);
        size += text.length;
        if (size > 1_000_000) await flush();
      }
      await flush();
      child.stdin.end();
    };
    feed().catch(reject);
  });

const disturbance = (remote: { readonly folder: string; readonly apps: number }, objects: ObjectDatabase): (() => Promise<void>) => {
  let count = 0;
  return async () => {
    count += 1;
    const { oid } = await objects.read(`refs/heads/${BRANCH}`);
    const path = deploymentPath((count * 104_729) % remote.apps);
    const text = `${count}-${Date.now()}`;
    const commit = await commitEdit(objects, oid, { path, edit: (before) => withRevision(before, text), message: 'Change by somebody' });
    writeFileSync(join(remote.folder, 'refs/heads', BRANCH), `${commit}\n`);
  };
};

/** Makes the repository in a new folder. */
export const createRemote = async (folder: string, apps: number): Promise<Remote> => {
  await git('/', ['init', '--quiet', '--bare', `--initial-branch=${BRANCH}`, folder]);
  await importAll(folder, apps);
  const objects = openObjects(folder);
  return {
    apps,
    folder,
    url: pathToFileURL(folder).href,
    tip: async () => (await objects.read(`refs/heads/${BRANCH}`)).oid,
    disturb: disturbance({ folder, apps }, objects),
    close: () => objects.close(),
  };
};
