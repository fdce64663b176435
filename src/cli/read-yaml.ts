/** YAML and JSON as plain values, within bounds: aliases can multiply, nest without end or go round in circles, and none of it may get far. */
import { type Document, isAlias, isCollection, isPair, isScalar, LineCounter, type Node, parseAllDocuments } from 'yaml';

/** One document of a text. */
export interface PlainDocument {
  /** Line on which it begins, from 1. */
  readonly line: number;
  readonly value: unknown;
}

/** What is wrong with a text, and where. */
export interface YamlProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** What was read, and every document that could not be; a text whose syntax is broken gives one problem and nothing else. */
export interface PlainDocuments {
  readonly documents: readonly PlainDocument[];
  readonly problems: readonly YamlProblem[];
}

/** Documents of one text, items of a List included. */
export const MAX_DOCUMENTS = 10_000;
/** Characters of one document with all aliases written out; a server takes no larger body. */
const MAX_SIZE = 3 * 1024 * 1024;
const MAX_DEPTH = 100;

interface Weight {
  readonly size: number;
  readonly depth: number;
}

/** One document while it is weighed: the anchors so far, without a weight while they are open. */
interface Scale {
  readonly anchors: Map<string, { weight?: Weight }>;
  problem?: { readonly offset: number; readonly message: string };
}

const NOTHING: Weight = { size: 0, depth: 0 };
const TOO_DEEP = `nested deeper than ${MAX_DEPTH} levels`;
const TOO_LARGE = `the document has over ${MAX_SIZE / 1024 / 1024} MiB once its aliases are written out; split it`;

const refuse = (scale: Scale, node: Node, message: string): Weight => {
  scale.problem ??= { offset: node.range?.[0] ?? 0, message };
  return NOTHING;
};

const weighAlias = (node: Node & { readonly source: string }, scale: Scale): Weight => {
  const anchor = scale.anchors.get(node.source);
  if (anchor === undefined) return refuse(scale, node, `there is no anchor &${node.source} before the alias *${node.source}`);
  return anchor.weight ?? refuse(scale, node, `the alias *${node.source} stands inside of what it names`);
};

const weighBare = (node: Node, scale: Scale, level: number): Weight => {
  if (isScalar(node)) return { size: typeof node.value === 'string' ? node.value.length + 2 : 8, depth: 0 };
  if (!isCollection(node)) return NOTHING;
  if (level >= MAX_DEPTH) return refuse(scale, node, TOO_DEEP);
  let size = 2;
  let depth = 0;
  for (const item of node.items) {
    for (const part of isPair(item) ? [item.key, item.value] : [item]) {
      const weight = weigh(part, scale, level + 1);
      size += weight.size + 1;
      depth = Math.max(depth, weight.depth);
      if (scale.problem) return NOTHING;
    }
  }
  if (level + depth + 1 > MAX_DEPTH) return refuse(scale, node, TOO_DEEP);
  return size > MAX_SIZE ? refuse(scale, node, TOO_LARGE) : { size, depth: depth + 1 };
};

/** Size and depth with aliases written out, without writing them out: one look at each node. */
const weigh = (node: unknown, scale: Scale, level: number): Weight => {
  if (isAlias(node)) return weighAlias(node, scale);
  if (!isCollection(node) && !isScalar(node)) return NOTHING;
  if (node.anchor === undefined) return weighBare(node, scale, level);
  const anchor: { weight?: Weight } = {};
  scale.anchors.set(node.anchor, anchor);
  const weight = weighBare(node, scale, level);
  anchor.weight = weight;
  return weight;
};

/** The value of a document that was weighed; what the parser finds only now, such as a merge key over a number, is a problem too. */
const plain = (document: Document.Parsed): { readonly value: unknown } | { readonly message: string } => {
  try {
    return { value: document.toJS({ maxAliasCount: -1 }) };
  } catch (error) {
    return { message: `the document cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
};

const brokenSyntax = (documents: readonly Document.Parsed[]): YamlProblem | undefined => {
  const error = documents.flatMap((document) => document.errors)[0];
  if (error === undefined) return undefined;
  const message = error.code === 'RESOURCE_EXHAUSTION' ? TOO_DEEP : (error.message.split('\n')[0] ?? '').replace(/ at line.*$/, '');
  return { line: error.linePos?.[0].line ?? 1, message };
};

/** Reads every document of a text that is YAML or JSON; empty ones are left out. */
export const readYaml = (text: string): PlainDocuments => {
  const counter = new LineCounter();
  // Whoever uses merge keys expects of this what kubectl does.
  const parsed = parseAllDocuments(text, { lineCounter: counter, merge: true });
  const all: readonly Document.Parsed[] = Array.isArray(parsed) ? parsed : [];
  const broken = brokenSyntax(all);
  if (broken) return { documents: [], problems: [broken] };
  const documents: PlainDocument[] = [];
  const problems: YamlProblem[] = [];
  for (const document of all) {
    const line = counter.linePos(document.contents?.range?.[0] ?? 0).line;
    if (documents.length + problems.length >= MAX_DOCUMENTS) {
      return { documents: [], problems: [{ line, message: `more than ${MAX_DOCUMENTS} documents; split the file` }] };
    }
    const scale: Scale = { anchors: new Map() };
    weigh(document.contents, scale, 0);
    if (scale.problem) {
      problems.push({ line: counter.linePos(scale.problem.offset).line, message: scale.problem.message });
      continue;
    }
    const read = plain(document);
    if ('message' in read) problems.push({ line, message: read.message });
    // Between two `---` there may be nothing but a comment.
    else if (read.value !== null && read.value !== undefined) documents.push({ line, value: read.value });
  }
  return { documents, problems };
};
