/** Reads resources from YAML or JSON files, folders and standard input. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Resource } from '../api/meta.ts';
import { apiVersionOf, KINDS, type KindInfo } from '../api/registry.ts';
import { type Either, ends, failed, misused, value } from './end.ts';
import { MAX_DOCUMENTS, readYaml } from './read-yaml.ts';
import { didYouMean } from './suggest.ts';

/** One resource and where it stood. */
export interface ResourceDocument {
  /** Such as `pipeline.yaml:12`. */
  readonly source: string;
  readonly info: KindInfo;
  readonly object: Resource;
}

/** What was read; a fault in one document or file keeps no other from being read. */
export interface Documents {
  readonly documents: readonly ResourceDocument[];
  /** What could not be read: a sentence each, with file and line. */
  readonly problems: readonly string[];
  /** What was left alone and might have been meant. */
  readonly notes: readonly string[];
}

/** One text and its name, or why there is none. */
type Text = { readonly source: string } & ({ readonly text: string } | { readonly problem: string });

interface Files {
  readonly paths: readonly string[];
  readonly notes: readonly string[];
}

const MANIFEST = /\.(?:ya?ml|json)$/;
/** Bytes of one file or of standard input. */
const MAX_BYTES = 4 * 1024 * 1024;

const filesOf = async (path: string): Promise<Either<Files>> => {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return ends(failed(`${path} does not exist.`));
  if (!found.isDirectory()) return value({ paths: [path], notes: [] });
  const files: string[] = [];
  const folders: string[] = [];
  const others: string[] = [];
  const names = await readdir(path).catch(() => undefined);
  if (names === undefined) return ends(failed(`${path} cannot be read.`));
  for (const name of names.toSorted()) {
    const inside = await stat(join(path, name)).catch(() => undefined);
    if (inside?.isDirectory()) folders.push(name);
    else if (MANIFEST.test(name)) (inside?.isFile() ? files : others).push(join(path, name));
  }
  const seen = folders.filter((name) => !name.startsWith('.'));
  const notes = [
    ...(seen.length === 0 ? [] : [`folders inside ${path} are not gone into: ${seen.join(', ')}; name them with -f`]),
    ...(others.length === 0 ? [] : [`left out, as they are no files: ${others.join(', ')}`]),
  ];
  if (files.length === 0) return ends(failed([`${path} holds no .yaml, .yml or .json file`, ...notes].join('; ')));
  return value({ paths: files, notes });
};

const tooLarge = (source: string): string => `${source} holds more than ${MAX_BYTES / 1024 / 1024} MiB; split it.`;

const textOf = async (file: string): Promise<Text> => {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of createReadStream(file, { end: MAX_BYTES })) {
      parts.push(part);
      size += part.length;
    }
  } catch {
    return { source: file, problem: `${file} cannot be read.` };
  }
  if (size > MAX_BYTES) return { source: file, problem: tooLarge(file) };
  return { source: file, text: Buffer.concat(parts).toString('utf8') };
};

const inputText = async (readInput: (most: number) => Promise<string>): Promise<Text> => {
  const source = 'standard input';
  const text = await readInput(MAX_BYTES);
  return Buffer.byteLength(text) > MAX_BYTES ? { source, problem: tooLarge(source) } : { source, text };
};

const isObject = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given);

/** Why the name of a resource cannot be taken, if so. */
const nameProblem = (kind: string, name: unknown): string | undefined => {
  if (typeof name === 'string' && name !== '') return undefined;
  if (typeof name !== 'number' && typeof name !== 'boolean') return `metadata.name of ${kind} is missing`;
  return `metadata.name of ${kind} is the ${typeof name} ${name}; write it in quotes: "${name}"`;
};

/** Checks what every resource needs before a server can be asked: the resource, or what is wrong with it. */
const checked = (source: string, given: unknown): ResourceDocument | string => {
  if (!isObject(given)) return `${source}: expected a resource with apiVersion, kind and metadata.`;
  const { apiVersion, kind, metadata } = given;
  if (typeof kind !== 'string' || kind === '') return `${source}: kind is missing.`;
  const info = Object.values(KINDS).find((candidate) => candidate.kind === kind);
  if (info === undefined) return `${source}: there is no kind "${kind}".${didYouMean(kind, Object.keys(KINDS))}`;
  if (apiVersion !== apiVersionOf(info)) {
    return `${source}: apiVersion of ${kind} is ${JSON.stringify(apiVersion ?? '')}; accepted is ${apiVersionOf(info)}.`;
  }
  const problem = nameProblem(kind, isObject(metadata) ? metadata['name'] : undefined);
  return problem === undefined ? { source, info, object: given as unknown as Resource } : `${source}: ${problem}.`;
};

const itemsOf = (given: unknown): readonly unknown[] =>
  isObject(given) && given['kind'] === 'List' && Array.isArray(given['items']) ? given['items'] : [given];

const documentsOf = ({ source, ...read }: Text): Omit<Documents, 'notes'> => {
  if ('problem' in read) return { documents: [], problems: [read.problem] };
  const { documents, problems } = readYaml(read.text);
  const found = problems.map(({ line, message }) => ({ line, result: `${source}:${line}: ${message}.` as ResourceDocument | string }));
  for (const { line, value: given } of documents) {
    const items = itemsOf(given);
    if (found.length + items.length > MAX_DOCUMENTS) {
      return { documents: [], problems: [`${source}:${line}: more than ${MAX_DOCUMENTS} documents; split the file.`] };
    }
    for (const item of items) found.push({ line, result: checked(`${source}:${line}`, item) });
  }
  const results = found.toSorted((a, b) => a.line - b.line).map(({ result }) => result);
  return {
    documents: results.filter((result) => typeof result !== 'string'),
    problems: results.filter((result) => typeof result === 'string'),
  };
};

/**
 * All resources of the paths (`-` is standard input; at most as many bytes as it is given are asked for, and one more), in their order. Ends when a
 * path does not exist or nothing at all stands there.
 */
export const readDocuments = async (paths: readonly string[], readInput: (most: number) => Promise<string>): Promise<Either<Documents>> => {
  const given: { readonly path: string; readonly files: Files }[] = [];
  for (const path of paths) {
    const files = path === '-' ? value({ paths: ['-'], notes: [] }) : await filesOf(path);
    if (!files.ok) return files;
    given.push({ path, files: files.value });
  }
  const documents: ResourceDocument[] = [];
  const problems: string[] = [];
  for (const file of given.flatMap(({ files }) => files.paths)) {
    const read = documentsOf(file === '-' ? await inputText(readInput) : await textOf(file));
    for (const document of read.documents) documents.push(document);
    for (const problem of read.problems) problems.push(problem);
  }
  if (documents.length + problems.length === 0) return ends(misused(`There is no resource in ${paths.join(', ')}.`));
  return value({ documents, problems, notes: given.flatMap(({ files }) => files.notes) });
};
