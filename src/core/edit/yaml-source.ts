/** A YAML file read for editing: its nodes with their positions, and who shares them through anchors. Hostile input is refused here. */
import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  type ParsedNode,
  Parser,
} from 'yaml';
import { type Attempt, got, refuse } from './refusal.ts';

/** Larger files are refused, in bytes of UTF-8. */
export const MAX_BYTES = 4 * 1024 * 1024;
/** Files with more tokens (keys, values, marks, line endings) are refused: reading them would hold up everything else for seconds. */
export const MAX_TOKENS = 200_000;
/** Deeper nesting is refused. */
export const MAX_DEPTH = 200;

/** A pair as the parser leaves it. */
export type SourcePair = Pair<ParsedNode, ParsedNode | null>;

/** One file with at most one document that has content. */
export interface YamlSource {
  readonly file: string;
  readonly text: string;
  /** Undefined when the file has no content but comments. */
  readonly root: ParsedNode | undefined;
  /** The line of an offset, from 1. */
  readonly lineAt: (offset: number) => number;
  /** The node that an alias stands for; any other node is itself. */
  readonly resolve: (node: ParsedNode) => ParsedNode;
  /** Whether aliases elsewhere repeat what stands at that offset. */
  readonly isShared: (offset: number) => boolean;
}

const invalid = (file: string, message: string, line?: number) =>
  refuse({ code: 'YAMLInvalid', message, file, ...(line === undefined ? {} : { line }) });

const tooLarge = (text: string): boolean =>
  text.length > MAX_BYTES || (text.length * 3 > MAX_BYTES && new TextEncoder().encode(text).length > MAX_BYTES);

/** The offset of the first token that is nested too deep. Iterative, because the composer's recursion is what has to be guarded. */
const tooDeepAt = (tokens: readonly CST.Token[]): number | undefined => {
  const open: { token: CST.Token | null | undefined; depth: number }[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (!token) continue;
    if (depth > MAX_DEPTH) return token.offset;
    if (token.type === 'document') open.push({ token: token.value, depth });
    else if ('items' in token) {
      for (const item of token.items) open.push({ token: item.key, depth: depth + 1 }, { token: item.value, depth: depth + 1 });
    }
  }
  return undefined;
};

const tokensOf = (text: string, lines: LineCounter): readonly CST.Token[] | undefined => {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let count = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (count > MAX_TOKENS) return undefined;
    for (const token of parser.next(lexeme)) tokens.push(token);
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
};

const documentsOf = (file: string, text: string, lines: LineCounter): Attempt<readonly Document.Parsed[]> => {
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  const tokens = tokensOf(text, lines);
  if (tokens === undefined) return invalid(file, `the file has more than ${MAX_TOKENS} tokens`);
  const deep = tooDeepAt(tokens);
  if (deep !== undefined) return invalid(file, `nested deeper than ${MAX_DEPTH} levels`, lineAt(deep));
  // Nothing is resolved into values here: no numbers, no merges, no tags, and repeated keys are looked for in linear time below.
  const composer = new Composer({
    schema: 'failsafe',
    resolveKnownTags: false,
    uniqueKeys: false,
    keepSourceTokens: true,
    logLevel: 'silent',
  });
  const documents = [...composer.compose(tokens, true, text.length)];
  for (const document of documents) {
    const error = document.errors[0];
    if (error) return invalid(file, `broken YAML: ${error.message}`, lineAt(error.pos[0]));
  }
  return got(documents);
};

interface Sharing {
  readonly targets: ReadonlyMap<Alias.Parsed, ParsedNode>;
  readonly repeatedKey?: ParsedNode;
  readonly unknownAlias?: ParsedNode;
}

const keyText = (key: unknown): string | undefined => (isScalar(key) && typeof key.value === 'string' ? key.value : undefined);

const repeatedKeyOf = (pairs: readonly unknown[]): ParsedNode | undefined => {
  const seen = new Set<string>();
  for (const pair of pairs) {
    const key = isPair<ParsedNode>(pair) ? pair.key : undefined;
    const text = keyText(key);
    if (text === undefined) continue;
    if (seen.has(text)) return key;
    seen.add(text);
  }
  return undefined;
};

/** Walks the document in its own order, because an alias stands for the last anchor of its name before it. */
const sharingOf = (root: ParsedNode): Sharing => {
  const anchors = new Map<string, ParsedNode>();
  const targets = new Map<Alias.Parsed, ParsedNode>();
  const open: unknown[] = [root];
  while (open.length > 0) {
    const node = open.pop();
    if (isPair<ParsedNode, ParsedNode>(node)) {
      open.push(node.value, node.key);
    } else if (isAlias(node)) {
      const alias = node as Alias.Parsed;
      const target = anchors.get(alias.source);
      if (target === undefined) return { targets, unknownAlias: alias };
      targets.set(alias, target);
    } else if (isMap(node) || isSeq(node) || isScalar(node)) {
      if (node.anchor) anchors.set(node.anchor, node as ParsedNode);
      if (isScalar(node)) continue;
      const repeated = isMap(node) ? repeatedKeyOf(node.items) : undefined;
      if (repeated) return { targets, repeatedKey: repeated };
      for (const item of node.items.toReversed()) open.push(item);
    }
  }
  return { targets };
};

/** Ranges of the nodes that aliases repeat, merged, ascending. */
const sharedRanges = (targets: Iterable<ParsedNode>): readonly (readonly [number, number])[] => {
  const merged: [number, number][] = [];
  for (const { range } of [...new Set(targets)].sort((a, b) => a.range[0] - b.range[0])) {
    const last = merged.at(-1);
    if (last && range[0] <= last[1]) last[1] = Math.max(last[1], range[1]);
    else merged.push([range[0], range[1]]);
  }
  return merged;
};

/** Whether one of the ranges, ascending and apart, holds an offset; the ends count too, because an empty value has no inside. */
const covers = (ranges: readonly (readonly [number, number])[], offset: number): boolean => {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.[1] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low];
  return range !== undefined && range[0] <= offset;
};

const isBlank = (document: Document.Parsed): boolean =>
  isScalar(document.contents) && document.contents.range[0] === document.contents.range[1];

/** Parses a file for editing, or says where it cannot be: broken, repeated keys, too large, too deep, several documents. */
export const parseYaml = (file: string, text: string): Attempt<YamlSource> => {
  if (tooLarge(text)) return invalid(file, `the file is larger than ${MAX_BYTES / 1024 / 1024} MiB`);
  const lines = new LineCounter();
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  // Some readers end a line at a lone carriage return and others do not: such a file means different things to them.
  const lone = /\r(?!\n)/.exec(text);
  if (lone) return invalid(file, 'a carriage return without a line feed', text.slice(0, lone.index).split('\n').length);
  const documents = documentsOf(file, text, lines);
  if (!documents.ok) return documents;
  const [first, second] = documents.value.filter((document) => document.contents !== null && !isBlank(document));
  if (second) {
    return refuse({
      code: 'YAMLMultipleDocuments',
      message: 'the file holds several documents',
      file,
      line: lineAt(second.contents?.range[0] ?? second.range[0]),
    });
  }
  const root = first?.contents ?? undefined;
  const sharing = root ? sharingOf(root) : { targets: new Map<Alias.Parsed, ParsedNode>() };
  if (sharing.repeatedKey)
    return invalid(file, `the key "${keyText(sharing.repeatedKey)}" is there twice`, lineAt(sharing.repeatedKey.range[0]));
  if (sharing.unknownAlias) return invalid(file, 'an alias to an anchor that does not exist', lineAt(sharing.unknownAlias.range[0]));
  const shared = sharedRanges(sharing.targets.values());
  return got({
    file,
    text,
    root,
    lineAt,
    resolve: (node) => (isAlias(node) ? (sharing.targets.get(node) ?? node) : node),
    isShared: (offset) => covers(shared, offset),
  });
};
