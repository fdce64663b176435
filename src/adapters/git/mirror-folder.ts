/** A mirror's folder: what lies in it before the first fetch, and what its refs are called. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes an empty bare repository that knows its remote; whatever was there is removed. Throws what the file system throws. */
export function createMirrorFolder(path: string, address: string): void {
  rmSync(path, { recursive: true, force: true });
  for (const folder of ['objects/info', 'objects/pack', 'refs']) mkdirSync(join(path, folder), { recursive: true });
  writeFileSync(join(path, 'HEAD'), 'ref: refs/heads/none\n');
  const url = address.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  // The configuration comes last: a folder without one is made anew.
  writeFileSync(join(path, 'config'), `[core]\n\trepositoryformatversion = 0\n\tbare = true\n[remote "origin"]\n\turl = "${url}"\n`);
}

/** Keeps a damaged mirror for a look; only the last one of each repository. Throws what the file system throws. */
export function moveAway(path: string, target: string): void {
  rmSync(target, { recursive: true, force: true });
  if (existsSync(path)) renameSync(path, target);
}

/** Where the mirror keeps a branch: flat, so that a branch can never stand in the way of another one below its name. */
export function trackingRef(branch: string): string {
  const name = branch.replaceAll('%', '%25').replaceAll('/', '%2F');
  return `refs/promoter/${Buffer.byteLength(name) <= 200 ? name : createHash('sha256').update(branch).digest('hex')}`;
}
