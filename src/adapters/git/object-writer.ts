/** Writes loose objects: deflated into a file beside their place and renamed into it, so that half an object never has a name. */
import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, deflate } from 'node:zlib';
import type { Outcome } from '../../api/outcome.ts';
import { done, transient } from '../../api/outcome.ts';
import type { NewObject } from './objects.ts';

const deflateAsync = promisify(deflate);

/** Writes objects that are not there yet; the number written. A power failure may lose them, which a mirror survives: they are made again. */
export async function writeObjects(gitDirectory: string, objects: Iterable<NewObject>): Promise<Outcome<number>> {
  const waiting = [...new Map(Array.from(objects, (object) => [object.oid, object])).values()];
  let written = 0;
  const worker = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) if (await writeOne(gitDirectory, next)) written += 1;
  };
  try {
    await Promise.all(Array.from({ length: Math.min(8, waiting.length) }, worker));
    return done(written);
  } catch (error) {
    return storageFailure(error);
  }
}

/** What a failed file operation in the mirror means. */
export function storageFailure(error: unknown): Outcome<never> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (code === 'ENOSPC' || code === 'EDQUOT') return transient('GitDiskFull', 'the disk of the Git mirrors is full');
  if (code === 'ENOENT' || code === 'ENOTDIR') return transient('GitMirrorCorrupt', 'the folder of a Git mirror has disappeared');
  return transient('GitUnavailable', `the folder of the Git mirrors cannot be written (${code})`);
}

async function writeOne(gitDirectory: string, object: NewObject): Promise<boolean> {
  const folder = join(gitDirectory, 'objects', object.oid.slice(0, 2));
  const path = join(folder, object.oid.slice(2));
  if (await exists(path)) return false;
  const deflated = await deflateAsync(object.framed, { level: constants.Z_BEST_SPEED });
  const temporary = join(gitDirectory, 'objects', `tmp_obj_${randomUUID()}`);
  try {
    await writeFile(temporary, deflated, { mode: 0o444, flag: 'wx' });
    await rename(temporary, path).catch(async (error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
      await mkdir(folder).catch(() => undefined);
      await rename(temporary, path);
    });
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  return true;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
