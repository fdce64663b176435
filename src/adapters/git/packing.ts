/**
 * Housekeeping of a mirror, on our own schedule: loose objects and small packs are joined into one pack. Nothing is walked and nothing is dropped, so
 * it costs what was written since the last time, whatever the size of the repository. Nobody else may use the mirror meanwhile.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRunner } from './process.ts';

/** Larger packs are left as they are. */
const smallPackBytes = 32 * 1024 * 1024;

/** What there is to be joined. */
export interface Clutter {
  readonly loose: number;
  readonly packs: number;
}

/** Counts loose objects (extrapolated from one folder of 256) and small packs. */
export function countClutter(gitDirectory: string): Clutter {
  return { loose: list(join(gitDirectory, 'objects', '17')).length * 256, packs: smallPacks(gitDirectory).length };
}

/** Joins what is there; the number of objects in the new pack, 0 when nothing was done. */
export async function packMirror(gitDirectory: string, runner: GitRunner, timeoutMs: number): Promise<number> {
  const loose = looseObjects(gitDirectory);
  const packs = smallPacks(gitDirectory);
  const oids = new Set(loose);
  for (const pack of packs) for (const oid of packedObjects(`${pack}.idx`)) oids.add(oid);
  if (oids.size === 0) return 0;
  const base = join(gitDirectory, 'objects', 'pack', 'pack');
  const input = `${[...oids].join('\n')}\n`;
  const exit = await runner.run({ gitDirectory, args: ['pack-objects', '--quiet', '--delta-base-offset', base], input, timeoutMs });
  const name = exit.stdout.trim();
  if (exit.code !== 0 || !/^[0-9a-f]{40,64}$/.test(name)) return 0;
  // The mark tells git that what the pack's trees name may be missing here.
  writeFileSync(`${base}-${name}.promisor`, '');
  for (const pack of packs) {
    if (pack === `${base}-${name}`) continue;
    for (const end of ['.idx', '.promisor', '.rev', '.pack']) rmSync(`${pack}${end}`, { force: true });
  }
  for (const oid of loose) rmSync(join(gitDirectory, 'objects', oid.slice(0, 2), oid.slice(2)), { force: true });
  return oids.size;
}

function looseObjects(gitDirectory: string): readonly string[] {
  const folders = list(join(gitDirectory, 'objects')).filter((name) => /^[0-9a-f]{2}$/.test(name));
  return folders.flatMap((folder) =>
    list(join(gitDirectory, 'objects', folder))
      .filter((name) => /^[0-9a-f]{38,62}$/.test(name))
      .map((name) => folder + name),
  );
}

/** Paths without their endings. */
function smallPacks(gitDirectory: string): readonly string[] {
  const folder = join(gitDirectory, 'objects', 'pack');
  return list(folder)
    .filter((name) => /^pack-[0-9a-f]+\.idx$/.test(name))
    .map((name) => join(folder, name.slice(0, -'.idx'.length)))
    .filter((pack) => (statSync(`${pack}.pack`, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY) < smallPackBytes);
}

/** Ids in an index of version 2: a table of 256 counts, then the sorted ids. */
function packedObjects(index: string): readonly string[] {
  const data = readFileSync(index);
  if (data.length < 8 + 1024 || data.readUInt32BE(0) !== 0xff744f63 || data.readUInt32BE(4) !== 2) return [];
  const count = data.readUInt32BE(8 + 255 * 4);
  return Array.from({ length: count }, (_, position) => {
    const at = 8 + 1024 + position * 20;
    return data.toString('hex', at, at + 20);
  });
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
