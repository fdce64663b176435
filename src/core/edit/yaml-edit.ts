/** Splices that set values in a YAML file and touch nothing else. */
import { type CST, isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar, type YAMLMap } from 'yaml';
import { lineEnd, nextLine } from './lines.ts';
import { type Attempt, got, refuse } from './refusal.ts';
import { isPlainString, type ScalarStyle, scalarText } from './scalar-text.ts';
import type { Splice } from './splice.ts';
import type { SourcePair, YamlSource } from './yaml-source.ts';

/** A place that holds a value: of a key in a map, or an item of a list. */
export interface Slot {
  /** Null where a key has no value and no colon either. */
  readonly node: ParsedNode | null;
  readonly key?: ParsedNode;
  readonly item?: CST.CollectionItem;
  /** How refusals call it. */
  readonly label: string;
}

/** The text of a scalar, through an alias; undefined for lists, maps and values that are not there. */
export const scalarOf = (source: YamlSource, node: ParsedNode | null | undefined): string | undefined => {
  const target = node ? source.resolve(node) : undefined;
  return isScalar(target) && typeof target.value === 'string' ? target.value : undefined;
};

/** The pair of a map with that key. */
export const pairOf = (map: YAMLMap.Parsed, key: string): SourcePair | undefined =>
  map.items.find((pair) => isScalar(pair.key) && pair.key.value === key);

/** The slot of a pair's value. */
export const slotOf = (pair: SourcePair, label: string): Slot => ({
  node: pair.value,
  key: pair.key,
  label,
  ...(pair.srcToken ? { item: pair.srcToken } : {}),
});

const STRING_TAGS: readonly (string | undefined)[] = [undefined, '!', 'tag:yaml.org,2002:str'];
const NULL = /^(?:|~|null|Null|NULL)$/;

/** Whether a place holds no value or a null. */
export const isNull = (source: YamlSource, node: ParsedNode | null | undefined): boolean => {
  const target = node ? source.resolve(node) : node;
  return !target || (isScalar(target) && target.type === 'PLAIN' && NULL.test(String(target.value)));
};

/** Whether a place holds nothing: no value, a null, or an empty string. */
export const isUnset = (source: YamlSource, node: ParsedNode | null | undefined): boolean =>
  isNull(source, node) || scalarOf(source, node) === '';

const holds = (source: YamlSource, node: ParsedNode, value: string): boolean => {
  const target = source.resolve(node);
  if (!isScalar(target) || target.value !== value || !STRING_TAGS.includes(target.tag)) return false;
  // What reads as a number or a boolean is not yet the string that is wanted.
  return target.type !== 'PLAIN' || target.tag !== undefined || isPlainString(value);
};

const STYLES: Readonly<Record<string, ScalarStyle>> = { PLAIN: 'plain', QUOTE_SINGLE: 'single', QUOTE_DOUBLE: 'double' };

/** Where a value would begin that is not there: behind the last thing that is, before any comment. */
const emptyAt = (item: CST.CollectionItem, fallback: number): number => {
  const tokens = [...item.start, ...(item.sep ?? [])];
  const last = tokens.findLast((token) => !['space', 'newline', 'comment'].includes(token.type));
  return Math.max(last ? last.offset + last.source.length : fallback, fallback);
};

/** A block scalar becomes a flow scalar on the line of its header; the header's comment and the empty lines behind the block stay. */
const replaceBlock = (source: YamlSource, token: CST.BlockScalar, written: string): readonly Splice[] => {
  const header = token.props.find((prop) => prop.type === 'block-scalar-header');
  const newline = token.props.find((prop) => prop.type === 'newline');
  if (!header || !('source' in header)) return [{ start: token.offset, end: token.offset, text: written }];
  const head: Splice = { start: header.offset, end: header.offset + header.source.length, text: written };
  if (!newline || !('source' in newline)) return [head];
  const bodyStart = newline.offset + newline.source.length;
  const body = source.text.slice(bodyStart, bodyStart + token.source.length);
  const last = body.trimEnd().length;
  if (last === 0) return [head];
  const bodyEnd = bodyStart + nextLine(body, last);
  const cut = body.endsWith('\n') ? bodyStart : lineEnd(source.text, head.end);
  return [head, { start: cut, end: bodyEnd, text: '' }];
};

const shared = (source: YamlSource, label: string, offset: number) =>
  refuse({
    code: 'YAMLAliased',
    message: `${label} is repeated elsewhere by an alias, which would change too; write the value out there`,
    file: source.file,
    line: source.lineAt(offset),
  });

/** Refuses a place that aliases elsewhere repeat. */
export const refuseShared = (source: YamlSource, label: string, offset: number): ReturnType<typeof refuse> | undefined =>
  source.isShared(offset) ? shared(source, label, offset) : undefined;

const insertValue = (source: YamlSource, slot: Slot, value: string): Attempt<readonly Splice[]> => {
  const { key, item } = slot;
  const fallback = key?.range[1] ?? slot.node?.range[0] ?? 0;
  if (!item) return got([{ start: fallback, end: fallback, text: ` ${scalarText(value, 'plain')}` }]);
  const explicit = item.start.some((token) => token.type === 'explicit-key-ind');
  if (slot.node === null && explicit) {
    return refuse({ code: 'ValueNotScalar', message: `${slot.label} has no value`, file: source.file, line: source.lineAt(fallback) });
  }
  const at = emptyAt(item, fallback);
  return got([{ start: at, end: at, text: `${slot.node === null ? ':' : ''} ${scalarText(value, 'plain')}` }]);
};

const replaceScalar = (source: YamlSource, node: Scalar.Parsed, value: string): readonly Splice[] => {
  const style = STYLES[node.type ?? 'PLAIN'] ?? 'plain';
  const token = node.srcToken;
  if (token?.type === 'block-scalar') return replaceBlock(source, token, scalarText(value, style));
  return [{ start: node.range[0], end: node.range[1], text: scalarText(value, style) }];
};

/** Sets a value, in the style it is written in where that style can hold it. No splices when the value is there already. */
export const setValue = (source: YamlSource, slot: Slot, value: string): Attempt<readonly Splice[]> => {
  const { node } = slot;
  if (node && holds(source, node, value)) return got([]);
  const offset = node?.range[0] ?? slot.key?.range[0] ?? 0;
  const line = source.lineAt(offset);
  if (source.isShared(offset)) return shared(source, slot.label, offset);
  if (isMap(node) || isSeq(node)) {
    return refuse({
      code: 'ValueNotScalar',
      message: `${slot.label} is a ${isMap(node) ? 'map' : 'list'}, not a single value`,
      file: source.file,
      line,
    });
  }
  if (isAlias(node)) return got([{ start: node.range[0], end: node.range[1], text: scalarText(value, 'plain') }]);
  if (node && !STRING_TAGS.includes(node.tag)) {
    return refuse({
      code: 'ValueTagged',
      message: `${slot.label} has the tag ${node.tag}, which no image tag fits`,
      file: source.file,
      line,
    });
  }
  if (node === null || node.range[0] === node.range[1]) return insertValue(source, slot, value);
  return got(replaceScalar(source, node, value));
};
