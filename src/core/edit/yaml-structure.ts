/** Splices that add and remove keys and list items, in the style of what stands around them. Comments are never removed. */
import { type CST, isMap, isSeq, type ParsedNode, type YAMLMap } from 'yaml';
import { lineEnd, lineEnding, lineStart, nextLine } from './lines.ts';
import { isPlainString, scalarText } from './scalar-text.ts';
import type { Splice } from './splice.ts';
import type { SourcePair, YamlSource } from './yaml-source.ts';

/** A key and its value, to be written. */
export type KeyValue = readonly [key: string, value: string];

/** Whether a collection is written with brackets. */
export const isFlow = (node: ParsedNode): boolean => node.srcToken?.type === 'flow-collection';

const tokensEnd = (item: CST.CollectionItem, fallback: number): number => {
  const last = [...item.start, ...(item.sep ?? [])].findLast((token) => !['space', 'newline', 'comment'].includes(token.type));
  return Math.max(fallback, last ? last.offset + last.source.length : 0);
};

/** The offset behind a pair, before any comment that follows. */
export const pairEnd = (pair: SourcePair): number => {
  const value = pair.value;
  if (value && value.range[0] < value.range[1]) return contentEnd(value);
  return pair.srcToken ? tokensEnd(pair.srcToken, pair.key.range[1]) : pair.key.range[1];
};

/** The offset behind a node's last content, before any comment that follows. */
export const contentEnd = (node: ParsedNode): number => {
  if (isFlow(node)) return node.range[1];
  if (isMap(node)) {
    const last = node.items.at(-1);
    return last ? pairEnd(last) : node.range[1];
  }
  if (isSeq(node)) {
    const last = node.items.at(-1);
    if (last && 'range' in last && last.range && last.range[0] < last.range[1]) return contentEnd(last as ParsedNode);
    const token =
      node.srcToken?.type === 'block-seq'
        ? node.srcToken.items.findLast((item) => item.start.some((t) => t.type === 'seq-item-ind'))
        : undefined;
    return token ? tokensEnd(token, node.range[0]) : node.range[1];
  }
  return node.range[1];
};

/** The whitespace that a line at the column of that offset begins with. */
export const indentAt = (text: string, offset: number): string => text.slice(lineStart(text, offset), offset).replace(/\S/g, ' ');

/** New lines behind the line on which something ends. */
export const insertLines = (text: string, end: number, lines: readonly string[]): Splice => {
  // A block scalar ends behind its line.
  const atLineStart = end > 0 && text[end - 1] === '\n';
  const at = atLineStart ? end : lineEnd(text, end);
  const ending = lineEnding(text, at);
  return {
    start: at,
    end: at,
    text: atLineStart ? lines.map((line) => line + ending).join('') : lines.map((line) => ending + line).join(''),
  };
};

const isJson = (map: YAMLMap.Parsed): boolean => {
  const key = map.items[0]?.key;
  return key?.srcToken?.type === 'double-quoted-scalar';
};

/** A pair inside brackets; like JSON when its neighbours are. */
export const flowPair = ([key, value]: KeyValue, json: boolean): string =>
  // Some YAML 1.1 readers do not take a colon inside a plain scalar between brackets.
  json
    ? `${JSON.stringify(key)}: ${scalarText(value, 'double')}`
    : `${key}: ${scalarText(value, value.includes(':') ? 'double' : 'plain')}`;

/** A pair on a line of its own. */
export const blockPair = ([key, value]: KeyValue): string => `${key}: ${scalarText(value, 'plain')}`;

/** Adds pairs to a map, behind one that is there. */
export const insertPairs = (source: YamlSource, map: YAMLMap.Parsed, after: SourcePair, pairs: readonly KeyValue[]): Splice => {
  const end = pairEnd(after);
  if (isFlow(map)) return { start: end, end, text: pairs.map((pair) => `, ${flowPair(pair, isJson(map))}`).join('') };
  const indent = ' '.repeat(map.srcToken?.indent ?? 0);
  return insertLines(
    source.text,
    end,
    pairs.map((pair) => indent + blockPair(pair)),
  );
};

/** The item that opens brackets shall hold. */
export const flowMap = (pairs: readonly KeyValue[], json: boolean): string => `{${pairs.map((pair) => flowPair(pair, json)).join(', ')}}`;

const hasComment = (tokens: readonly CST.SourceToken[]): boolean => tokens.some((token) => token.type === 'comment');

/** Where a pair begins: with its question mark, tag or anchor, if it has one. */
const itemStart = (item: CST.CollectionItem | undefined, key: number): number =>
  item?.start.find((token) => ['explicit-key-ind', 'tag', 'anchor'].includes(token.type))?.offset ?? key;

const removeFromFlow = (text: string, items: readonly CST.CollectionItem[], pair: SourcePair): Splice => {
  const index = pair.srcToken ? items.indexOf(pair.srcToken) : -1;
  const start = itemStart(pair.srcToken, pair.key.range[0]);
  const end = pairEnd(pair);
  const comma = items[index + 1]?.start.find((token) => token.type === 'comma');
  if (comma) {
    const gap = /^[ \t]*(?=[^\s#])/.exec(text.slice(comma.offset + 1, comma.offset + 200))?.[0].length ?? 0;
    return { start, end: comma.offset + 1 + gap, text: '' };
  }
  const before = items[index]?.start ?? [];
  const own = hasComment(before) ? undefined : before.find((token) => token.type === 'comma');
  return { start: own?.offset ?? start, end, text: '' };
};

const removeFromBlock = (text: string, items: readonly CST.CollectionItem[], pair: SourcePair): Splice => {
  const item = pair.srcToken;
  const start = itemStart(item, pair.key.range[0]);
  const end = pairEnd(pair);
  const endsLine = end > 0 && text[end - 1] === '\n';
  const rest = endsLine ? '' : text.slice(end, lineEnd(text, end));
  const from = lineStart(text, start);
  const next = item ? items[items.indexOf(item) + 1] : undefined;
  if (text.slice(from, start).trim() !== '') {
    // It shares its line with the dash of the list: the next key moves up, unless a comment stands in between.
    const nextKey = next?.key && !hasComment(next.start) && rest.trim() === '' ? itemStart(next, next.key.offset) : undefined;
    return { start, end: nextKey ?? (endsLine ? end - 1 : end), text: '' };
  }
  if (rest.trim() !== '') return { start, end: end + (rest.length - rest.trimStart().length), text: '' };
  if (endsLine) return { start: from, end, text: '' };
  const after = nextLine(text, end);
  if (text[after - 1] === '\n') return { start: from, end: after, text: '' };
  // The last line has no ending: then the line before shall have none either.
  return { start: from === 0 ? 0 : lineEnd(text, lineStart(text, from - 1)), end: text.length, text: '' };
};

/** Removes a pair with its line, but never a comment. */
export const removePair = (source: YamlSource, map: YAMLMap.Parsed, pair: SourcePair): Splice => {
  const token = map.srcToken;
  return token?.type === 'flow-collection'
    ? removeFromFlow(source.text, token.items, pair)
    : removeFromBlock(source.text, token?.items ?? [], pair);
};

/** Renames a key, in its own quoting. */
export const renameKey = (pair: SourcePair, key: string): Splice => {
  const quoted = pair.key.srcToken?.type ?? 'scalar';
  const style = quoted === 'double-quoted-scalar' ? 'double' : quoted === 'single-quoted-scalar' ? 'single' : 'plain';
  return { start: pair.key.range[0], end: pair.key.range[1], text: isPlainString(key) ? scalarText(key, style) : JSON.stringify(key) };
};
