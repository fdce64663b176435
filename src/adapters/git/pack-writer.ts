/** Writes many new objects as one pack with its index: three files instead of hundreds. */
import { createHash, randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { constants, crc32, deflateSync } from 'node:zlib';
import type { NewObject } from './objects.ts';

const typeBits: Readonly<Record<string, number>> = { commit: 1, tree: 2, blob: 3 };

interface Packed {
  readonly oid: string;
  readonly crc: number;
  readonly offset: number;
}

/** Writes the pack; only repositories with SHA-1 ids. The index gets its name last, so that half a pack is never seen. Throws what the file system throws. */
export async function writePack(gitDirectory: string, objects: readonly NewObject[]): Promise<void> {
  const { pack, packed } = encodePack(objects);
  const index = encodeIndex(packed, pack.subarray(-20));
  const folder = join(gitDirectory, 'objects', 'pack');
  const name = join(folder, `pack-${pack.toString('hex', pack.length - 20)}`);
  // Without the endings that git looks for: it opens whatever is called .idx, finished or not.
  const unique = randomUUID();
  const [newPack, newIndex] = [join(folder, `tmp_pack_${unique}`), join(folder, `tmp_idx_${unique}`)];
  try {
    await writeFile(newPack, pack, { mode: 0o444 });
    await writeFile(newIndex, index, { mode: 0o444 });
    await rename(newPack, `${name}.pack`);
    // The mark tells git that what the pack's trees name may be missing here.
    await writeFile(`${name}.promisor`, '');
    await rename(newIndex, `${name}.idx`);
  } catch (error) {
    for (const path of [newPack, newIndex]) await rm(path, { force: true }).catch(() => undefined);
    throw error;
  }
}

function encodePack(objects: readonly NewObject[]): { readonly pack: Buffer; readonly packed: readonly Packed[] } {
  const head = Buffer.alloc(12);
  head.write('PACK', 'latin1');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.length, 8);
  const parts: Buffer[] = [head];
  const packed: Packed[] = [];
  let offset = head.length;
  for (const object of objects) {
    const entry = encodeEntry(object);
    packed.push({ oid: object.oid, crc: crc32(entry), offset });
    parts.push(entry);
    offset += entry.length;
  }
  const body = Buffer.concat(parts);
  return { pack: Buffer.concat([body, createHash('sha1').update(body).digest()]), packed };
}

/** Type and size in groups of seven bits (four in the first byte), then the deflated contents. */
function encodeEntry(object: NewObject): Buffer {
  const split = object.framed.indexOf(0);
  const type = typeBits[object.framed.toString('latin1', 0, split).split(' ')[0] ?? ''] ?? 3;
  const body = object.framed.subarray(split + 1);
  const bytes: number[] = [];
  let rest = Math.floor(body.length / 16);
  bytes.push((type << 4) | (body.length % 16) | (rest > 0 ? 0x80 : 0));
  while (rest > 0) {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(low | (rest > 0 ? 0x80 : 0));
  }
  return Buffer.concat([Buffer.from(bytes), deflateSync(body, { level: constants.Z_BEST_SPEED })]);
}

/** Version 2: a table of 256 running counts, then ids, checksums and offsets in the order of the ids. */
function encodeIndex(packed: readonly Packed[], packId: Buffer): Buffer {
  const sorted = packed.toSorted((a, b) => (a.oid < b.oid ? -1 : 1));
  const head = Buffer.alloc(8 + 1024);
  head.writeUInt32BE(0xff744f63, 0);
  head.writeUInt32BE(2, 4);
  let count = 0;
  for (let first = 0; first < 256; first += 1) {
    while (count < sorted.length && Number.parseInt(sorted[count]?.oid.slice(0, 2) ?? 'ff', 16) <= first) count += 1;
    head.writeUInt32BE(count, 8 + first * 4);
  }
  const numbers = Buffer.alloc(sorted.length * 8);
  sorted.forEach((entry, position) => {
    numbers.writeUInt32BE(entry.crc, position * 4);
    numbers.writeUInt32BE(entry.offset, (sorted.length + position) * 4);
  });
  const body = Buffer.concat([head, ...sorted.map((entry) => Buffer.from(entry.oid, 'hex')), numbers, packId]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}
