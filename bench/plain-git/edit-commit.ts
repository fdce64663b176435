/** A commit that changes one file that is already there: the new blob, a tree for each folder above it, and the commit. */
import type { ObjectDatabase } from './object-database.ts';

/** One change of one file. */
export interface FileCommit {
  readonly path: string;
  readonly edit: (before: string) => string;
  readonly message: string;
}

interface Slot {
  readonly oid: string;
  /** Where the 20 bytes of the id stand in the tree. */
  readonly at: number;
}

const slotOf = (tree: Buffer, name: string): Slot => {
  for (let at = 0; at < tree.length; ) {
    const end = tree.indexOf(0, at);
    const space = tree.indexOf(0x20, at);
    if (tree.toString('utf8', space + 1, end) === name) return { oid: tree.toString('hex', end + 1, end + 21), at: end + 1 };
    at = end + 21;
  }
  throw new Error(`a tree has no entry ${name}`);
};

const withOid = (tree: Buffer, at: number, oid: string): Buffer => {
  const copy = Buffer.from(tree);
  copy.write(oid, at, 'hex');
  return copy;
};

const rewrite = async (objects: ObjectDatabase, tree: string, path: readonly string[], edit: FileCommit['edit']): Promise<string> => {
  const [name, ...rest] = path;
  if (name === undefined) return objects.write('blob', Buffer.from(edit((await objects.read(tree)).body.toString('utf8'))));
  const { body } = await objects.read(tree);
  const { oid, at } = slotOf(body, name);
  return objects.write('tree', withOid(body, at, await rewrite(objects, oid, rest, edit)));
};

/** Writes the objects of the commit on that base and gives its id. */
export const commitEdit = async (objects: ObjectDatabase, base: string, change: FileCommit): Promise<string> => {
  const { body } = await objects.read(base);
  const tree = await rewrite(objects, body.toString('latin1', 5, 45), change.path.split('/'), change.edit);
  const who = `bench <bench@example.com> ${Math.floor(Date.now() / 1000)} +0000`;
  return objects.write('commit', Buffer.from(`tree ${tree}\nparent ${base}\nauthor ${who}\ncommitter ${who}\n\n${change.message}\n`));
};
