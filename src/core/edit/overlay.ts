/**
 * The overlay tool's set-image as an edit of bytes: entries of `images:` get the tag and the digest of a Bundle's image.
 *
 * The overlay tool renders `newTag` and `digest` together as `name:newTag@digest`, and a digest pins whatever the tag says. So after the edit an entry says
 * exactly what the Bundle says: with a tag only, an existing digest goes (it would win over the tag); with a digest only, an existing newTag goes
 * (it would name a version that is not deployed). An entry belongs to an image when its `name` is the repository; when no entry has that name,
 * when its `newName` is. All entries that match are set.
 */
import { isAlias, isMap, isSeq, type ParsedNode, type YAMLMap } from 'yaml';
import type { ImageChange } from '../effect.ts';
import { appendEntries } from './overlay-append.ts';
import { type Attempt, gather, got, refuse } from './refusal.ts';
import type { Splice } from './splice.ts';
import { isNull, isUnset, pairOf, refuseShared, scalarOf, setValue, slotOf } from './yaml-edit.ts';
import type { YamlSource } from './yaml-source.ts';
import { insertPairs, type KeyValue, removePair, renameKey } from './yaml-structure.ts';

interface Entry {
  readonly map: YAMLMap.Parsed;
  /** It is an alias: what it says stands elsewhere. */
  readonly aliased: boolean;
  readonly offset: number;
  readonly name: string | undefined;
  readonly newName: string | undefined;
}

const notAList = (source: YamlSource, message: string, offset: number) =>
  refuse({ code: 'KustomizationInvalid', message, file: source.file, line: source.lineAt(offset) });

const entryOf = (source: YamlSource, item: ParsedNode): Attempt<readonly Entry[]> => {
  const map = source.resolve(item);
  const offset = item.range[0];
  if (!isMap(map) || map.srcToken === undefined) return notAList(source, 'an entry of images is not a map', offset);
  const merge = pairOf(map, '<<');
  if (merge) {
    return refuse({
      code: 'YAMLAliased',
      message: 'an entry of images takes keys from elsewhere with <<; write them out there',
      file: source.file,
      line: source.lineAt(merge.key.range[0]),
    });
  }
  const text = (key: string): string | undefined => scalarOf(source, pairOf(map, key)?.value);
  return got([{ map, aliased: map !== item, offset, name: text('name'), newName: text('newName') }]);
};

const entriesOf = (source: YamlSource, images: ParsedNode | null | undefined): Attempt<readonly Entry[]> => {
  if (!images || isNull(source, images)) return got([]);
  if (isAlias(images)) {
    return refuse({
      code: 'YAMLAliased',
      message: 'images is an alias; write it out',
      file: source.file,
      line: source.lineAt(images.range[0]),
    });
  }
  if (!isSeq(images)) return notAList(source, 'images is not a list', images.range[0]);
  return gather(images.items as readonly ParsedNode[], (item) => entryOf(source, item));
};

const wanted = (image: ImageChange): readonly KeyValue[] => [
  ...(image.tag ? [['newTag', image.tag] as const] : []),
  ...(image.digest ? [['digest', image.digest] as const] : []),
];

const setEntry = (source: YamlSource, { map, aliased, offset }: Entry, image: ImageChange): Attempt<readonly Splice[]> => {
  const label = (key: string): string => `${key} of the images entry for ${image.repository}`;
  const want = wanted(image);
  const absent = want.filter(([key]) => pairOf(map, key) === undefined);
  const surplus = ['newTag', 'digest'].flatMap((key) => {
    const pair = want.some(([other]) => other === key) ? undefined : pairOf(map, key);
    return pair && !isUnset(source, pair.value) ? [pair] : [];
  });
  const present = gather(want, ([key, value]) => {
    const pair = pairOf(map, key);
    return pair ? setValue(source, slotOf(pair, label(key)), value) : got([]);
  });
  if (!present.ok) return present;
  if (present.value.length + absent.length + surplus.length === 0) return present;
  if (aliased) {
    return refuse({
      code: 'YAMLAliased',
      message: `the images entry for ${image.repository} is an alias; write it out`,
      file: source.file,
      line: source.lineAt(offset),
    });
  }
  const isSharedEntry = refuseShared(source, `the images entry for ${image.repository}`, map.range[0]);
  if (isSharedEntry) return isSharedEntry;
  const [old] = surplus;
  const [fresh] = absent;
  if (old && fresh) {
    // One takes the place of the other.
    const value = setValue(source, slotOf(old, label(fresh[0])), fresh[1]);
    return value.ok ? got([...present.value, renameKey(old, fresh[0]), ...value.value]) : value;
  }
  if (old) {
    const kept = refuseShared(source, label('digest'), old.value?.range[0] ?? old.key.range[0]);
    return kept ?? got([...present.value, removePair(source, map, old)]);
  }
  const after = pairOf(map, 'newTag') ?? pairOf(map, 'newName') ?? pairOf(map, 'name');
  return got(after && absent.length > 0 ? [...present.value, insertPairs(source, map, after, absent)] : present.value);
};

/** The entries of each image. A name that one image claims is not given to another by newName. */
const assign = (entries: readonly Entry[], images: readonly ImageChange[]): ReadonlyMap<ImageChange, readonly Entry[]> => {
  const named = new Map(images.map((image) => [image, entries.filter((entry) => entry.name === image.repository)]));
  const claimed = new Set([...named.values()].flat());
  return new Map(
    images.map((image) => {
      const own = named.get(image) ?? [];
      return [image, own.length > 0 ? own : entries.filter((entry) => entry.newName === image.repository && !claimed.has(entry))];
    }),
  );
};

/** The splices that make a kustomization say what the images say. */
export const setOverlayImages = (source: YamlSource, images: readonly ImageChange[]): Attempt<readonly Splice[]> => {
  const { root } = source;
  if (root === undefined) return refuse({ code: 'KustomizationEmpty', message: 'the kustomization is empty', file: source.file, line: 1 });
  if (!isMap(root)) return notAList(source, 'the kustomization is not a map', root.range[0]);
  const merge = pairOf(root, '<<');
  if (merge) return notAList(source, 'the kustomization takes keys from elsewhere with <<', merge.key.range[0]);
  const list = pairOf(root, 'images');
  const entries = entriesOf(source, list?.value);
  if (!entries.ok) return entries;
  const assigned = assign(entries.value, images);
  const set = gather(assigned, ([image, own]) => gather(own, (entry) => setEntry(source, entry, image)));
  if (!set.ok) return set;
  const missing = images.filter((image) => (assigned.get(image) ?? []).length === 0);
  if (missing.length === 0) return set;
  const added = appendEntries(
    source,
    root,
    missing.map((image) => [['name', image.repository] as const, ...wanted(image)]),
  );
  return added.ok ? got([...set.value, ...added.value]) : added;
};
