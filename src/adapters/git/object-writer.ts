/**
 * Writes new objects into a mirror: a few as loose files, many as one pack, always beside their place first and then renamed into it, so that half
 * an object never has a name. Making a file costs far more than its contents, so whoever comes while others are being written shares the next turn.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, deflateSync } from 'node:zlib';
import type { Outcome } from '../../api/outcome.ts';
import { done, transient } from '../../api/outcome.ts';
import type { NewObject } from './objects.ts';
import { writePack } from './pack-writer.ts';
import { Serial } from './serial.ts';

/** More objects than this become a pack. */
const looseLimit = 24;
/** So many bytes become a pack as well: loose objects are written by calls that block. */
const looseBytes = 256 * 1024;
/** A pack's index holds offsets of 31 bits; far below that, memory is the limit. */
const packBytes = 64 * 1024 * 1024;
const rememberedIds = 50_000;

/** The writing side of one mirror. A power failure may lose what was written, which a mirror survives: it is made again. */
export class ObjectWriter {
  readonly #gitDirectory: string;
  readonly #turns = new Serial();
  readonly #known = new Set<string>();
  #next: { readonly objects: Map<string, NewObject>; readonly result: Promise<Outcome<void>> } | undefined;

  constructor(gitDirectory: string) {
    this.#gitDirectory = gitDirectory;
  }

  /** Writes what has not been written before. */
  write(objects: Iterable<NewObject>): Promise<Outcome<void>> {
    const next = this.#next ?? this.#open();
    for (const object of objects) if (!this.#known.has(object.oid)) next.objects.set(object.oid, object);
    return next.result;
  }

  #open(): { readonly objects: Map<string, NewObject>; readonly result: Promise<Outcome<void>> } {
    const objects = new Map<string, NewObject>();
    const result = this.#turns.run(() => {
      this.#next = undefined;
      return this.#flush([...objects.values()]);
    });
    this.#next = { objects, result };
    return this.#next;
  }

  async #flush(objects: readonly NewObject[]): Promise<Outcome<void>> {
    const bytes = objects.reduce((sum, object) => sum + object.framed.length, 0);
    const packable = (objects.length > looseLimit || bytes > looseBytes) && bytes < packBytes && objects[0]?.oid.length === 40;
    try {
      if (packable) await writePack(this.#gitDirectory, objects);
      else for (const object of objects) writeLoose(this.#gitDirectory, object);
    } catch (error) {
      return storageFailure(error);
    }
    if (this.#known.size > rememberedIds) this.#known.clear();
    for (const object of objects) this.#known.add(object.oid);
    return done(undefined);
  }
}

/** What a failed file operation in the mirror means. */
export function storageFailure(error: unknown): Outcome<never> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (code === 'ENOSPC' || code === 'EDQUOT') return transient('GitDiskFull', 'the disk of the Git mirrors is full');
  if (code === 'ENOENT' || code === 'ENOTDIR') return transient('GitMirrorCorrupt', 'the folder of a Git mirror has disappeared');
  return transient('GitUnavailable', `the folder of the Git mirrors cannot be written (${code})`);
}

/**
 * Calls that block, on purpose: a loose object is a few hundred bytes to a few kilobytes, written in some tens of microseconds, and on a busy machine each
 * trip through a thread would wait for a processor far longer than that.
 */
function writeLoose(gitDirectory: string, object: NewObject): void {
  const folder = join(gitDirectory, 'objects', object.oid.slice(0, 2));
  const path = join(folder, object.oid.slice(2));
  if (existsSync(path)) return;
  const temporary = join(gitDirectory, 'objects', `tmp_obj_${randomUUID()}`);
  try {
    writeFileSync(temporary, deflateSync(object.framed, { level: constants.Z_BEST_SPEED }), { mode: 0o444, flag: 'wx' });
    if (!existsSync(folder)) mkdirSync(folder);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
