/** Applies a pure edit to a tree of the object database: finds the wanted files, and makes the objects of the result. */
import type { FileEdit } from '../../api/file-edit.ts';
import type { Outcome } from '../../api/outcome.ts';
import { done, terminal } from '../../api/outcome.ts';
import type { ObjectStore } from './object-store.ts';
import type { NewObject, TreeEntry } from './objects.ts';
import { encodeTree, fileMode, folderMode, isFile, isFolder, makeObject, withEntry } from './objects.ts';

/** A file of the tree. */
export interface FileEntry {
  readonly oid: string;
  readonly mode: string;
}

/** The wanted files, by path; paths that are not in the tree are absent. */
export type Selection = ReadonlyMap<string, FileEntry>;

const PLAIN = 'only plain files in plain folders are read and written';

/** Finds files by path; terminal when a path is unusable or leads to something that is not a file. */
export async function selectFiles(store: ObjectStore, tree: string, paths: Iterable<string>): Promise<Outcome<Selection>> {
  const selection = new Map<string, FileEntry>();
  for (const path of paths) {
    const found = await findFile(store, tree, path);
    if (found.outcome !== 'done') return found;
    if (found.value !== undefined) selection.set(path, found.value);
  }
  return done(selection);
}

async function findFile(store: ObjectStore, root: string, path: string): Promise<Outcome<FileEntry | undefined>> {
  const parts = splitPath(path);
  if (parts.outcome !== 'done') return parts;
  let folder = root;
  for (const [index, part] of parts.value.entries()) {
    const entries = await store.tree(folder);
    if (entries.outcome !== 'done') return entries;
    const entry = entries.value.find((one) => one.name === part);
    if (entry === undefined) return done(undefined);
    const last = index === parts.value.length - 1;
    if (last && isFile(entry.mode)) return done({ oid: entry.oid, mode: entry.mode });
    if (last || !isFolder(entry.mode)) {
      const shown = path
        .split('/')
        .slice(0, index + 1)
        .join('/');
      return terminal('NotAFile', `${path}: ${shown} is ${describe(entry.mode)}${last ? '' : ', not a folder'}; ${PLAIN}`);
    }
    folder = entry.oid;
  }
  return done(undefined);
}

function describe(mode: string): string {
  if (isFolder(mode)) return 'a folder';
  if (mode === '120000') return 'a symbolic link';
  if (mode === '160000') return 'a submodule';
  return isFile(mode) ? 'a file' : 'no file';
}

/** Contents as text; ids that the mirror does not have yet are reported instead. */
export async function readTexts(
  store: ObjectStore,
  selection: Selection,
  byteLimit: number,
): Promise<Outcome<{ readonly texts: ReadonlyMap<string, string>; readonly missing: readonly string[] }>> {
  const texts = new Map<string, string>();
  const missing: string[] = [];
  for (const [path, entry] of selection) {
    const size = await store.fileSize(entry.oid);
    if (size.outcome !== 'done') return size;
    if (size.value === undefined) {
      missing.push(entry.oid);
      continue;
    }
    if (size.value > byteLimit)
      return terminal('FileTooLarge', `${path}: ${size.value} bytes; files of up to ${byteLimit} bytes are edited`);
    const body = await store.file(entry.oid);
    if (body.outcome !== 'done') return body;
    const text = decodeText(body.value);
    if (text === undefined) return terminal('NotUTF8', `${path}: the file is not UTF-8 text`);
    texts.set(path, text);
  }
  return done({ texts, missing });
}

/** Undefined when the bytes are not UTF-8; a byte order mark is kept. */
function decodeText(body: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Runs the edit; files that come out as they were are not written. */
export function applyEdit(edit: FileEdit, texts: ReadonlyMap<string, string>): Outcome<ReadonlyMap<string, string>> {
  const result = edit.apply(texts);
  if (!result.ok) {
    const { code, message, file, line } = result.refusal;
    const place = line === undefined ? file : `${file}:${line}`;
    return terminal(code, message.includes(file) ? message : `${place}: ${message}`);
  }
  const writes = new Map<string, string>();
  for (const [path, text] of result.writes) {
    const parts = splitPath(path);
    if (parts.outcome !== 'done') return parts;
    if (texts.get(path) !== text) writes.set(path, text);
  }
  return done(writes);
}

/** Objects of a tree in which the files have new contents; modes are kept, new files are plain. The tree is the old one when nothing differs. */
export async function writeFiles(
  store: ObjectStore,
  root: string,
  writes: ReadonlyMap<string, string>,
): Promise<Outcome<{ readonly tree: string; readonly objects: readonly NewObject[] }>> {
  const objects: NewObject[] = [];
  const files: { readonly parts: readonly string[]; readonly path: string; readonly oid: string }[] = [];
  for (const [path, text] of writes) {
    const parts = splitPath(path);
    if (parts.outcome !== 'done') return parts;
    const body = Buffer.from(text, 'utf8');
    const blob = makeObject('blob', body, root.length);
    store.keepFile(blob.oid, body);
    objects.push(blob);
    files.push({ parts: parts.value, path, oid: blob.oid });
  }
  const tree = await rewrite(store, root, { depth: 0, files, objects });
  return tree.outcome === 'done' ? done({ tree: tree.value, objects: tree.value === root ? [] : objects }) : tree;
}

interface Rewriting {
  readonly depth: number;
  readonly files: readonly { readonly parts: readonly string[]; readonly path: string; readonly oid: string }[];
  readonly objects: NewObject[];
}

async function rewrite(store: ObjectStore, folder: string | undefined, work: Rewriting): Promise<Outcome<string>> {
  const { depth, objects } = work;
  const old = folder === undefined ? done([]) : await store.tree(folder);
  if (old.outcome !== 'done') return old;
  let entries: readonly TreeEntry[] = old.value;
  for (const [name, files] of Map.groupBy(work.files, (file) => file.parts[depth] ?? '')) {
    const present = entries.find((entry) => entry.name === name);
    const [first] = files;
    const isLeaf = first !== undefined && first.parts.length === depth + 1;
    if (present !== undefined && !(isLeaf ? isFile(present.mode) : isFolder(present.mode)))
      return terminal('NotAFile', `${first?.path ?? name}: ${describe(present.mode)} is in the way; ${PLAIN}`);
    if (isLeaf) {
      entries = withEntry(entries, { mode: present?.mode ?? fileMode, name, oid: first.oid });
      continue;
    }
    const inner = await rewrite(store, present?.oid, { depth: depth + 1, files, objects });
    if (inner.outcome !== 'done') return inner;
    entries = withEntry(entries, { mode: present?.mode ?? folderMode, name, oid: inner.value });
  }
  const tree = makeObject('tree', encodeTree(entries), (folder ?? work.files[0]?.oid ?? '').length);
  if (tree.oid !== folder) {
    objects.push(tree);
    store.keepTree(tree.oid, entries);
  }
  return done(tree.oid);
}

/** Parts of a path as git stores them, one character a byte. */
function splitPath(path: string): Outcome<readonly string[]> {
  const parts = path.split('/');
  const bad = parts.some((part) => part === '' || part === '.' || part === '..' || part.toLowerCase() === '.git' || part.includes('\0'));
  if (bad || path.length > 4096)
    return terminal(
      'PathRefused',
      `"${path.slice(0, 200)}" is not a path inside the repository; accepted are relative paths without "." or ".."`,
    );
  return done(parts.map((part) => Buffer.from(part, 'utf8').toString('latin1')));
}
