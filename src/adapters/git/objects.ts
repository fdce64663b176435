/** Git's objects as bytes: hashing, trees and commits. Pure. */
import { createHash } from 'node:crypto';

/** One line of a tree. */
export interface TreeEntry {
  /** Octal digits as they stand in the tree, such as `100644`. */
  readonly mode: string;
  /** The name's bytes, one character a byte. */
  readonly name: string;
  readonly oid: string;
}

/** What we need to know of a commit. */
export interface CommitInfo {
  readonly tree: string;
  readonly parents: readonly string[];
  /** Committer time in seconds. */
  readonly time: number;
  /** Values of the trailer `Promoter-Run`. */
  readonly runs: readonly string[];
}

/** A new object: its id and what is deflated into the database. */
export interface NewObject {
  readonly oid: string;
  readonly framed: Buffer;
}

/** Everything a commit says. */
export interface CommitText {
  readonly tree: string;
  readonly parent: string;
  readonly identity: string;
  /** Seconds. */
  readonly authored: number;
  /** Seconds. */
  readonly committed: number;
  readonly message: string;
}

/** Mode of a folder in a tree. */
export const folderMode = '40000';
/** Mode of a new plain file. */
export const fileMode = '100644';

/** Whether the mode is that of a plain file, executable or not. */
export const isFile = (mode: string): boolean => mode === '100644' || mode === '100755' || mode === '100664';
/** Whether the mode is that of a folder; old writers padded it with a zero. */
export const isFolder = (mode: string): boolean => mode === '40000' || mode === '040000';

/** Frames and hashes an object; the algorithm follows from the length of the repository's ids. */
export function makeObject(type: 'blob' | 'tree' | 'commit', body: Buffer, idLength: number): NewObject {
  const framed = Buffer.concat([Buffer.from(`${type} ${body.length}\0`, 'latin1'), body]);
  const oid = createHash(idLength === 64 ? 'sha256' : 'sha1')
    .update(framed)
    .digest('hex');
  return { oid, framed };
}

/** Reads a tree; undefined when the bytes are not one. */
export function parseTree(body: Buffer, idLength: number): readonly TreeEntry[] | undefined {
  const entries: TreeEntry[] = [];
  const idBytes = idLength / 2;
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(0x20, at);
    const end = body.indexOf(0, space);
    if (space < 0 || end < 0 || end + 1 + idBytes > body.length) return undefined;
    const next = end + 1 + idBytes;
    entries.push({
      mode: body.toString('latin1', at, space),
      name: body.toString('latin1', space + 1, end),
      oid: body.toString('hex', end + 1, next),
    });
    at = next;
  }
  return entries;
}

/** Writes a tree from entries that are already in order. */
export function encodeTree(entries: readonly TreeEntry[]): Buffer {
  return Buffer.concat(entries.flatMap((entry) => [Buffer.from(`${entry.mode} ${entry.name}\0`, 'latin1'), Buffer.from(entry.oid, 'hex')]));
}

/** Replaces the entry of that name or puts it where git's order wants it: by bytes, folders as if their name ended in a slash. */
export function withEntry(entries: readonly TreeEntry[], entry: TreeEntry): readonly TreeEntry[] {
  const at = entries.findIndex((other) => other.name === entry.name);
  const rest = at < 0 ? entries : entries.toSpliced(at, 1);
  const key = sortKey(entry);
  const before = rest.findIndex((other) => sortKey(other) > key);
  return rest.toSpliced(before < 0 ? rest.length : before, 0, entry);
}

const sortKey = (entry: TreeEntry): string => (isFolder(entry.mode) ? `${entry.name}/` : entry.name);

/** Writes a commit with one parent; the message ends with one newline and holds no NUL, which git cannot store. */
export function encodeCommit(commit: CommitText): Buffer {
  const message = `${commit.message.replaceAll('\0', '').trimEnd()}\n`;
  const lines = [
    `tree ${commit.tree}`,
    `parent ${commit.parent}`,
    `author ${commit.identity} ${commit.authored} +0000`,
    `committer ${commit.identity} ${commit.committed} +0000`,
  ];
  return Buffer.from(`${lines.join('\n')}\n\n${message}`, 'utf8');
}

/** Reads a commit; undefined when the bytes are not one. */
export function parseCommit(body: Buffer): CommitInfo | undefined {
  const text = body.toString('utf8');
  const split = text.indexOf('\n\n');
  const header = split < 0 ? text : text.slice(0, split);
  const tree = /^tree ([0-9a-f]+)$/m.exec(header)?.[1];
  const time = /^committer .* (\d+) [+-]\d+$/m.exec(header)?.[1];
  if (tree === undefined || time === undefined) return undefined;
  const parents = Array.from(header.matchAll(/^parent ([0-9a-f]+)$/gm), (match) => match[1] ?? '');
  return { tree, parents, time: Number(time), runs: split < 0 ? [] : trailerRuns(text.slice(split + 2)) };
}

/** Trailers stand in the last paragraph; a sentence elsewhere that looks like one is none. */
function trailerRuns(message: string): readonly string[] {
  const last =
    message
      .trimEnd()
      .split(/\n\s*\n/)
      .at(-1) ?? '';
  return Array.from(last.matchAll(/^Promoter-Run: *(\S.*?)\s*$/gm), (match) => match[1] ?? '');
}
