/** Finding places in a values file: by path, or by the repository that stands beside them. */
import { isAlias, isMap, isPair, isSeq, type ParsedNode, type YAMLMap } from 'yaml';
import { type Attempt, got, refuse } from './refusal.ts';
import { formatValuePath, type PathSegment } from './value-path.ts';
import { pairOf, type Slot, scalarOf, slotOf } from './yaml-edit.ts';
import type { YamlSource } from './yaml-source.ts';

/** A value and the map that it stands in, if it stands in one. */
export interface Place {
  readonly slot: Slot;
  readonly map?: YAMLMap.Parsed;
}

const describe = (node: ParsedNode | null): string =>
  isMap(node)
    ? 'a map'
    : isSeq(node)
      ? `a list of ${node.items.length}`
      : node === null || node.range[0] === node.range[1]
        ? 'empty'
        : 'a single value';

const child = (node: ParsedNode | null, segment: PathSegment, label: string): Place | undefined => {
  if (typeof segment === 'string') {
    const pair = isMap(node) ? pairOf(node, segment) : undefined;
    return pair && isMap(node) ? { slot: slotOf(pair, label), map: node } : undefined;
  }
  if (!isSeq(node)) return undefined;
  const item = node.items[segment] as ParsedNode | undefined;
  if (!item) return undefined;
  const token = node.srcToken && 'items' in node.srcToken ? node.srcToken.items[segment] : undefined;
  return { slot: { node: item, label, ...(token ? { item: token } : {}) } };
};

/** The place at a path; refused where it is not there (naming the deepest part that is) or reached through an alias or a merge. */
export const placeAt = (source: YamlSource, segments: readonly PathSegment[]): Attempt<Place> => {
  const { file } = source;
  const whole = formatValuePath(segments);
  let place: Place = { slot: { node: source.root ?? null, label: whole } };
  for (const [depth, segment] of segments.entries()) {
    const { node, key } = place.slot;
    const offset = key?.range[0] ?? node?.range[0] ?? 0;
    const line = source.lineAt(offset);
    const here = depth === 0 ? 'the top of the file' : formatValuePath(segments.slice(0, depth));
    if (isAlias(node)) {
      return refuse({
        code: 'YAMLAliased',
        message: `${whole}: ${here} is an alias, so that other values would change too; write it out there`,
        file,
        line,
      });
    }
    const next = child(node, segment, whole);
    if (next) {
      place = next;
      continue;
    }
    const merge = isMap(node) && typeof segment === 'string' ? pairOf(node, '<<') : undefined;
    if (merge) {
      return refuse({
        code: 'YAMLAliased',
        message: `${whole}: ${here} takes its keys from elsewhere with <<; write ${formatValuePath([segment])} out there`,
        file,
        line,
      });
    }
    const missing = formatValuePath([segment]);
    return refuse({
      code: 'ValuePathMissing',
      message: `the values path ${whole} is not there: ${here} is ${describe(node)} and has no ${missing}`,
      file,
      line,
    });
  }
  return got(place);
};

const namesRepository = (source: YamlSource, map: YAMLMap.Parsed, repository: string): boolean => {
  const own = scalarOf(source, pairOf(map, 'repository')?.value);
  if (own === undefined) return false;
  const registry = scalarOf(source, pairOf(map, 'registry')?.value);
  return own === repository || (registry !== undefined && registry !== '' && `${registry}/${own}` === repository);
};

/** All maps that hold `repository` (or `registry` and `repository`) with that value, in the order of the file. */
export const mapsOfRepository = (source: YamlSource, repository: string): readonly YAMLMap.Parsed[] => {
  const found: YAMLMap.Parsed[] = [];
  const open: unknown[] = [source.root];
  while (open.length > 0) {
    const node = open.pop();
    if (isPair(node)) {
      open.push(node.value);
    } else if (isMap(node) || isSeq(node)) {
      const map = node as ParsedNode;
      if (isMap(map) && namesRepository(source, map, repository)) found.push(map);
      for (const item of node.items.toReversed()) open.push(item);
    }
  }
  return found;
};
