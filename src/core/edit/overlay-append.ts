/** Adds entries to the `images` list of a kustomization, or the list itself, in the style of the file. */
import { isMap, isSeq, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml';
import { lineEnd } from './lines.ts';
import { type Attempt, got } from './refusal.ts';
import type { Splice } from './splice.ts';
import { pairOf, refuseShared } from './yaml-edit.ts';
import type { SourcePair, YamlSource } from './yaml-source.ts';
import { blockPair, contentEnd, flowMap, indentAt, insertLines, isFlow, type KeyValue, pairEnd } from './yaml-structure.ts';

type NewEntry = readonly KeyValue[];

/** What stands before the first key of an item and before the others. */
interface ItemStyle {
  readonly first: string;
  readonly rest: string;
}

const dashesOf = (list: YAMLSeq.Parsed): readonly number[] =>
  list.srcToken?.type === 'block-seq'
    ? list.srcToken.items.flatMap((item) => item.start.filter((token) => token.type === 'seq-item-ind').map((token) => token.offset))
    : [];

/** The style of the last item that is a map on the line of its dash; a dash and a space where there is none. */
const styleOf = (source: YamlSource, list: YAMLSeq.Parsed): ItemStyle => {
  const dashes = dashesOf(list);
  const indent = indentAt(source.text, dashes[0] ?? list.range[0]);
  const gaps = list.items.flatMap((item, index) => {
    const dash = dashes[index];
    if (!isMap(item) || isFlow(item as ParsedNode) || dash === undefined || !item.range) return [];
    const gap = source.text.slice(dash + 1, item.range[0]);
    return /^ +$/.test(gap) ? [gap] : [];
  });
  const gap = gaps.at(-1) ?? ' ';
  return { first: `${indent}-${gap}`, rest: `${indent} ${gap}` };
};

const linesOf = (entries: readonly NewEntry[], { first, rest }: ItemStyle): readonly string[] =>
  entries.flatMap((entry) => entry.map((pair, index) => (index === 0 ? first : rest) + blockPair(pair)));

const isJson = (map: YAMLMap.Parsed): boolean => map.items[0]?.key.srcToken?.type === 'double-quoted-scalar';

/** The style of another list under the root, or dashes in the column of their key. */
const rootStyle = (source: YamlSource, root: YAMLMap.Parsed): ItemStyle => {
  const indent = ' '.repeat(root.srcToken?.indent ?? 0);
  const list = root.items
    .map((pair) => pair.value)
    .find((value): value is YAMLSeq.Parsed => isSeq(value) && !isFlow(value) && value.items.length > 0);
  const dash = list ? dashesOf(list)[0] : undefined;
  const dashIndent = dash === undefined ? indent : indentAt(source.text, dash);
  return { first: `${dashIndent}- `, rest: `${dashIndent}  ` };
};

const intoFlow = (list: YAMLSeq.Parsed, entries: readonly NewEntry[], json: boolean): Splice => {
  const maps = entries.map((entry) => flowMap(entry, json));
  const last = list.items.at(-1) as ParsedNode | undefined;
  const at = last ? contentEnd(last) : list.range[0] + 1;
  return { start: at, end: at, text: last ? maps.map((map) => `, ${map}`).join('') : maps.join(', ') };
};

/** An empty list or a null gives way to a block list below its key; a comment on the line of the key stays there. */
const replaceEmpty = (source: YamlSource, pair: SourcePair, lines: readonly string[]): readonly Splice[] => {
  const { text } = source;
  const value = pair.value;
  const hasText = value !== null && value.range[0] < value.range[1];
  const added = insertLines(text, pairEnd(pair), lines);
  if (!hasText) return [added];
  const before = text.slice(pair.key.range[1], value.range[0]);
  const gap = before.length - before.trimEnd().length;
  return [{ start: value.range[0] - gap, end: value.range[1], text: '' }, added];
};

const intoList = (source: YamlSource, root: YAMLMap.Parsed, pair: SourcePair, entries: readonly NewEntry[]): readonly Splice[] => {
  const list = pair.value;
  const { text } = source;
  if (isSeq(list)) {
    const bare = isFlow(list) && list.items.length === 0 && text.slice(list.range[0] + 1, list.range[1] - 1).trim() === '';
    const replaceable = bare && !isFlow(root) && lineEnd(text, list.range[0]) >= list.range[1];
    if (!replaceable && isFlow(list)) return [intoFlow(list, entries, isJson(root))];
    if (!isFlow(list)) return [insertLines(text, contentEnd(list), linesOf(entries, styleOf(source, list)))];
  }
  if (isFlow(root)) {
    const maps = `[${entries.map((entry) => flowMap(entry, isJson(root))).join(', ')}]`;
    const at = list && list.range[0] < list.range[1] ? list.range : ([pairEnd(pair), pairEnd(pair)] as const);
    return [{ start: at[0], end: at[1], text: at[0] === at[1] ? ` ${maps}` : maps }];
  }
  return replaceEmpty(source, pair, linesOf(entries, rootStyle(source, root)));
};

/** Splices that add entries at the end of `images`, which is made when it is not there. */
export const appendEntries = (source: YamlSource, root: YAMLMap.Parsed, entries: readonly NewEntry[]): Attempt<readonly Splice[]> => {
  const pair = pairOf(root, 'images');
  if (pair) {
    const shared = refuseShared(source, 'images', pair.value?.range[0] ?? pair.key.range[0]);
    return shared ?? got(intoList(source, root, pair, entries));
  }
  if (isFlow(root)) {
    const json = isJson(root);
    const last = root.items.at(-1);
    const at = last ? pairEnd(last) : root.range[0] + 1;
    const list = `${json ? '"images"' : 'images'}: [${entries.map((entry) => flowMap(entry, json)).join(', ')}]`;
    return got([{ start: at, end: at, text: last ? `, ${list}` : list }]);
  }
  const indent = ' '.repeat(root.srcToken?.indent ?? 0);
  return got([insertLines(source.text, contentEnd(root), [`${indent}images:`, ...linesOf(entries, rootStyle(source, root))])]);
};
