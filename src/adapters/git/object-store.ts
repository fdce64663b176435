/** Commits, trees and files of one mirror, with what is asked again and again kept in memory. */
import type { Outcome } from '../../api/outcome.ts';
import { done, transient } from '../../api/outcome.ts';
import type { ObjectReader, ReadAnswer } from './object-reader.ts';
import type { CommitInfo, NewObject, TreeEntry } from './objects.ts';
import { parseCommit, parseTree } from './objects.ts';
import { bounded, clean } from './transport-failure.ts';

const commitsKept = 20_000;
const treeEntriesKept = 200_000;
const fileBytesKept = 8 * 1024 * 1024;

/** Reads what a mirror holds. Objects never change, so nothing that is kept can be stale. */
export class ObjectStore {
  readonly reader: ObjectReader;
  readonly #commits = new Kept<CommitInfo>(commitsKept);
  readonly #trees = new Kept<readonly TreeEntry[]>(treeEntriesKept);
  readonly #files = new Kept<Buffer>(fileBytesKept);

  constructor(reader: ObjectReader) {
    this.reader = reader;
  }

  /** A commit that must be there. */
  async commit(oid: string): Promise<Outcome<CommitInfo>> {
    const kept = this.#commits.get(oid);
    if (kept !== undefined) return done(kept);
    const answer = await this.reader.contents(oid);
    if (answer.answer !== 'object') return damaged(oid, answer);
    const info = answer.type === 'commit' ? parseCommit(answer.body) : undefined;
    if (info === undefined) return damaged(oid, answer);
    this.#commits.set(oid, info, 1);
    return done(info);
  }

  /** Keeps a commit that has just been made. */
  keepCommit(commit: NewObject): void {
    const info = parseCommit(commit.framed.subarray(commit.framed.indexOf(0) + 1));
    if (info !== undefined) this.#commits.set(commit.oid, info, 1);
  }

  /** A folder that must be there. */
  async tree(oid: string): Promise<Outcome<readonly TreeEntry[]>> {
    const kept = this.#trees.get(oid);
    if (kept !== undefined) return done(kept);
    const answer = await this.reader.contents(oid);
    if (answer.answer !== 'object') return damaged(oid, answer);
    const entries = answer.type === 'tree' ? parseTree(answer.body, oid.length) : undefined;
    if (entries === undefined) return damaged(oid, answer);
    this.keepTree(oid, entries);
    return done(entries);
  }

  /** Keeps a folder that has just been made, so that the next commit of a chain need not read it back. */
  keepTree(oid: string, entries: readonly TreeEntry[]): void {
    this.#trees.set(oid, entries, entries.length + 1);
  }

  /** Size of a file's contents in bytes; undefined when the mirror does not have them yet. */
  async fileSize(oid: string): Promise<Outcome<number | undefined>> {
    const kept = this.#files.get(oid);
    if (kept !== undefined) return done(kept.length);
    const answer = await this.reader.info(oid);
    if (answer.answer === 'missing') return done(undefined);
    return answer.answer === 'object' ? done(answer.size) : damaged(oid, answer);
  }

  /** Contents of a file that is there. */
  async file(oid: string): Promise<Outcome<Buffer>> {
    const kept = this.#files.get(oid);
    if (kept !== undefined) return done(kept);
    const answer = await this.reader.contents(oid);
    if (answer.answer !== 'object' || answer.type !== 'blob') return damaged(oid, answer);
    this.keepFile(oid, Buffer.from(answer.body));
    return done(answer.body);
  }

  /** Keeps contents that have just been made. */
  keepFile(oid: string, body: Buffer): void {
    if (body.length < fileBytesKept / 8) this.#files.set(oid, body, body.length + 1);
  }

  /** Whether the commit is in the mirror. */
  async has(oid: string): Promise<Outcome<boolean>> {
    if (this.#commits.get(oid) !== undefined) return done(true);
    const answer = await this.reader.info(oid);
    return answer.answer === 'damaged' || answer.answer === 'unavailable'
      ? damaged(oid, answer)
      : done(answer.answer === 'object' && answer.type === 'commit');
  }

  /** The commit that a ref of the mirror names; undefined when there is no such ref. */
  async ref(name: string): Promise<Outcome<string | undefined>> {
    const answer = await this.reader.info(name);
    if (answer.answer === 'damaged' || answer.answer === 'unavailable') return damaged(name, answer);
    return done(answer.answer === 'object' && answer.type === 'commit' ? answer.oid : undefined);
  }
}

function damaged(name: string, answer: ReadAnswer): Outcome<never> {
  if (answer.answer === 'unavailable') return transient('GitUnavailable', `the local mirror cannot be read: ${answer.words}`);
  const words = answer.answer === 'damaged' ? bounded(clean(answer.words)) : undefined;
  const why = words ?? (answer.answer === 'missing' ? 'it is missing' : 'it is something else');
  return transient('GitMirrorCorrupt', `the local mirror cannot give ${name}: ${why}`);
}

/** The most recently used values up to a total weight. */
class Kept<T> {
  readonly #limit: number;
  readonly #values = new Map<string, { readonly value: T; readonly weight: number }>();
  #weight = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): T | undefined {
    const entry = this.#values.get(key);
    if (entry === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, entry);
    return entry.value;
  }

  set(key: string, value: T, weight: number): void {
    this.#weight += weight - (this.#values.get(key)?.weight ?? 0);
    this.#values.delete(key);
    this.#values.set(key, { value, weight });
    for (const [oldest, entry] of this.#values) {
      if (this.#weight <= this.#limit) break;
      this.#values.delete(oldest);
      this.#weight -= entry.weight;
    }
  }
}
