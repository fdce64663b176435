/** The least code that reads and writes a Git object database: one long-lived `git cat-file --batch`, and loose objects written directly. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, deflateSync } from 'node:zlib';
import { gitEnvironment } from './run-git.ts';

/** The objects of one repository. */
export interface ObjectDatabase {
  /** Contents of an object, by id or by the name of a ref; throws when it is missing. */
  read(name: string): Promise<{ readonly oid: string; readonly body: Buffer }>;
  /** Writes a loose object and gives its id. */
  write(type: 'blob' | 'tree' | 'commit', body: Buffer): string;
  /** Ends the reading process. */
  close(): void;
}

type Answer = { readonly oid: string; readonly body: Buffer } | undefined;

/** Questions are answered in their order. */
const createReader = (child: ChildProcessWithoutNullStreams): ((name: string) => Promise<Answer>) => {
  const waiting: { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void }[] = [];
  let buffer: Buffer = Buffer.alloc(0);
  const next = (): boolean => {
    const end = buffer.indexOf(0x0a);
    if (end < 0) return false;
    const [oid = '', type, size] = buffer.toString('latin1', 0, end).split(' ');
    const known = type !== 'missing' && size !== undefined;
    const total = known ? end + 1 + Number(size) + 1 : end + 1;
    if (buffer.length < total) return false;
    const body = Buffer.from(buffer.subarray(end + 1, Math.max(end + 1, total - 1)));
    buffer = buffer.subarray(total);
    waiting.shift()?.resolve(known ? { oid, body } : undefined);
    return true;
  };
  child.stdout.on('data', (data: Buffer) => {
    buffer = buffer.length === 0 ? data : Buffer.concat([buffer, data]);
    while (next());
  });
  child.stdin.on('error', () => undefined);
  child.once('close', () => {
    for (const { reject } of waiting.splice(0)) reject(new Error('git cat-file ended before it answered'));
  });
  return (name) =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      child.stdin.write(`${name}\n`);
    });
};

const writeLoose = (gitDirectory: string, type: string, body: Buffer): string => {
  const framed = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
  const oid = createHash('sha1').update(framed).digest('hex');
  const folder = join(gitDirectory, 'objects', oid.slice(0, 2));
  const path = join(folder, oid.slice(2));
  if (existsSync(path)) return oid;
  const temporary = join(gitDirectory, 'objects', `tmp_obj_${oid}`);
  writeFileSync(temporary, deflateSync(framed, { level: constants.Z_BEST_SPEED }), { mode: 0o444 });
  mkdirSync(folder, { recursive: true });
  renameSync(temporary, path);
  return oid;
};

/** Opens the objects of the repository in that folder (a bare one, or the `.git` of a clone). */
export const openObjects = (gitDirectory: string): ObjectDatabase => {
  const child = spawn('git', ['cat-file', '--batch'], { cwd: gitDirectory, env: gitEnvironment() });
  child.stderr.resume();
  const ask = createReader(child);
  return {
    read: async (name) => {
      const answer = await ask(name);
      if (answer === undefined) throw new Error(`${gitDirectory} has no object ${name}`);
      return answer;
    },
    write: (type, body) => writeLoose(gitDirectory, type, body),
    close: () => child.kill(),
  };
};
