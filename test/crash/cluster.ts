/** The cluster of the crash test: brings Deployments to what the branch says, and survives a controller that is not there. */
import { execFileSync, spawnSync } from 'node:child_process';
import type { Deployment } from '../../src/api/kinds/native.ts';
import type { Store } from '../../src/ports/store.ts';

/** An application's folder on the branch, and the Deployment that follows it. */
export interface Place {
  readonly application: string;
  readonly environment: string;
  readonly file: string;
}

const POLL_MS = 100;

/** The tag that each file names, at the tip of the branch. */
export const tagsAt = (repository: string, branch: string, files: readonly string[]): ReadonlyMap<string, string> => {
  const input = files.map((file) => `${branch}:${file}\n`).join('');
  const { stdout } = spawnSync('git', ['--git-dir', repository, 'cat-file', '--batch'], { input, encoding: 'utf8' });
  const tags = [...stdout.matchAll(/newTag: "?([^"\s]+)"?/g)].map((match) => match[1] ?? '');
  if (tags.length !== files.length) throw new Error(`${tags.length} tags in ${files.length} files:\n${stdout}`);
  return new Map(files.map((file, index) => [file, tags[index] ?? '']));
};

const deployment = (place: Place, tag: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: place.application, namespace: place.environment },
  spec: { replicas: 1, template: { spec: { containers: [{ name: 'main', image: `registry.example/${place.application}:${tag}` }] } } },
});

/** Writes one Deployment and its status; false when the server was not there. */
const bring = async (store: Store, place: Place, tag: string): Promise<boolean> => {
  const wanted = deployment(place, tag);
  const created = await store.create(wanted);
  if (!created.ok && created.error.code !== 'AlreadyExists') return false;
  const updated = await store.update(wanted);
  if (!updated.ok) return false;
  const { generation = 1 } = updated.object.metadata;
  const status = { observedGeneration: generation, conditions: [{ type: 'Available', status: 'True' }] };
  return (await store.updateStatus({ ...updated.object, status })).ok;
};

/** Follows the branch until it is stopped. */
export const followBranch = (store: Store, repository: string, places: readonly Place[]): { stop(): Promise<void> } => {
  const live = new Map<string, string>();
  let stopped = false;
  let seen = '';
  const run = async (): Promise<void> => {
    while (!stopped) {
      const tip = execFileSync('git', ['--git-dir', repository, 'rev-parse', 'main'], { encoding: 'utf8' }).trim();
      let complete = true;
      if (tip !== seen) {
        const tags = tagsAt(
          repository,
          tip,
          places.map((place) => place.file),
        );
        for (const place of places) {
          const tag = tags.get(place.file) ?? '';
          if (live.get(place.file) === tag) continue;
          if (await bring(store, place, tag)) live.set(place.file, tag);
          else complete = false;
        }
        if (complete) seen = tip;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopped = true;
      await running;
    },
  };
};
