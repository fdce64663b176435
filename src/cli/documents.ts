/** Reads resources from YAML or JSON files, folders and standard input. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LineCounter, parseAllDocuments } from 'yaml';
import type { Resource } from '../api/meta.ts';
import { apiVersionOf, KINDS, type KindInfo } from '../api/registry.ts';
import { type Either, ends, failed, misused, value } from './end.ts';
import { didYouMean } from './suggest.ts';

/** One resource and where it stood. */
export interface ResourceDocument {
  /** Such as `pipeline.yaml:12`. */
  readonly source: string;
  readonly info: KindInfo;
  readonly object: Resource;
}

/** One text and its name. */
interface Text {
  readonly source: string;
  readonly text: string;
}

const MANIFEST = /\.(?:ya?ml|json)$/;

const filesOf = async (path: string): Promise<Either<readonly string[]>> => {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return ends(failed(`${path} does not exist.`));
  if (!found.isDirectory()) return value([path]);
  const names = (await readdir(path)).filter((name) => MANIFEST.test(name)).toSorted();
  if (names.length === 0) return ends(failed(`${path} holds no .yaml, .yml or .json file.`));
  return value(names.map((name) => join(path, name)));
};

const textsOf = async (path: string, readInput: () => Promise<string>): Promise<Either<readonly Text[]>> => {
  if (path === '-') return value([{ source: 'standard input', text: await readInput() }]);
  const files = await filesOf(path);
  if (!files.ok) return files;
  const texts: Text[] = [];
  for (const file of files.value) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) return ends(failed(`${file} cannot be read.`));
    texts.push({ source: file, text });
  }
  return value(texts);
};

const isObject = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given);

/** Checks what every resource needs before a server can be asked. */
const checked = (source: string, given: unknown): Either<ResourceDocument> => {
  if (!isObject(given)) return ends(failed(`${source}: expected a resource with apiVersion, kind and metadata.`));
  const { apiVersion, kind, metadata } = given;
  if (typeof kind !== 'string' || kind === '') return ends(failed(`${source}: kind is missing.`));
  const info = Object.values(KINDS).find((candidate) => candidate.kind === kind);
  if (info === undefined) {
    return ends(failed(`${source}: there is no kind "${kind}".${didYouMean(kind, Object.keys(KINDS))}`));
  }
  if (apiVersion !== apiVersionOf(info)) {
    return ends(failed(`${source}: apiVersion of ${kind} is ${JSON.stringify(apiVersion ?? '')}; accepted is ${apiVersionOf(info)}.`));
  }
  if (!isObject(metadata) || typeof metadata['name'] !== 'string' || metadata['name'] === '') {
    return ends(failed(`${source}: metadata.name of ${kind} is missing.`));
  }
  return value({ source, info, object: given as unknown as Resource });
};

const documentsOf = ({ source, text }: Text): Either<readonly ResourceDocument[]> => {
  const counter = new LineCounter();
  const found: ResourceDocument[] = [];
  for (const document of parseAllDocuments(text, { lineCounter: counter })) {
    const problem = document.errors[0];
    if (problem !== undefined) {
      return ends(failed(`${source}:${problem.linePos?.[0].line ?? 1}: ${problem.message.split('\n')[0]?.replace(/ at line.*$/, '')}`));
    }
    const given: unknown = document.toJS();
    // Between two `---` there may be nothing but a comment.
    if (given === null || given === undefined) continue;
    const place = `${source}:${counter.linePos(document.contents?.range?.[0] ?? 0).line}`;
    const items = isObject(given) && given['kind'] === 'List' && Array.isArray(given['items']) ? given['items'] : [given];
    for (const item of items) {
      const resource = checked(place, item);
      if (!resource.ok) return resource;
      found.push(resource.value);
    }
  }
  return value(found);
};

/** All resources of the paths (`-` is standard input), in their order; nothing is given when one of them is unreadable. */
export const readDocuments = async (
  paths: readonly string[],
  readInput: () => Promise<string>,
): Promise<Either<readonly ResourceDocument[]>> => {
  const all: ResourceDocument[] = [];
  for (const path of paths) {
    const texts = await textsOf(path, readInput);
    if (!texts.ok) return texts;
    for (const text of texts.value) {
      const documents = documentsOf(text);
      if (!documents.ok) return documents;
      all.push(...documents.value);
    }
  }
  return all.length === 0 ? ends(misused(`There is no resource in ${paths.join(', ')}.`)) : value(all);
};
