/**
 * The chart tool's set-image as an edit of bytes: a value of a values file gets the tag of a Bundle's image.
 *
 * One image goes to the path. A value there that is a complete reference of the same repository (`repo:tag`) is written as a whole; a value of the
 * form `tag@sha256:…` keeps that form. Several images go to the maps that name their repository. A digest goes to the key `digest` beside the tag
 * where there is one; charts let it win over the tag, so with a tag only it is emptied. With a digest only, the tag stays as it is.
 */
import { isAlias, isMap, isSeq, type YAMLMap } from 'yaml';
import { formatImage, isDigest, parseImage } from '../../api/image-reference.ts';
import type { ImageChange } from '../effect.ts';
import { mapsOfRepository, type Place, placeAt } from './chart-find.ts';
import { type Attempt, gather, got, refuse } from './refusal.ts';
import type { Splice } from './splice.ts';
import { parseValuePath } from './value-path.ts';
import { isUnset, pairOf, type Slot, scalarOf, setValue, slotOf } from './yaml-edit.ts';
import type { YamlSource } from './yaml-source.ts';

const lineOf = (source: YamlSource, slot: Slot): number => source.lineAt(slot.node?.range[0] ?? slot.key?.range[0] ?? 0);

const digestUnsupported = (source: YamlSource, slot: Slot, image: ImageChange) =>
  refuse({
    code: 'ChartDigestUnsupported',
    message: `${image.repository} comes with a digest and no tag, but beside ${slot.label} there is no key digest to write it to`,
    file: source.file,
    line: lineOf(source, slot),
  });

/** What the tag's value shall be; undefined when it stays as it is. */
const tagText = (
  source: YamlSource,
  slot: Slot,
  image: ImageChange,
): Attempt<{ readonly text?: string; readonly holdsDigest: boolean }> => {
  const now = scalarOf(source, slot.node) ?? '';
  const reference = parseImage(now);
  if (reference.ok && reference.image.repository === image.repository && /[/:@]/.test(now))
    return got({ text: formatImage(image), holdsDigest: true });
  const [tag, digest, ...more] = now.split('@');
  if (digest !== undefined && isDigest(digest) && more.length === 0 && !/[/:]/.test(tag ?? '')) {
    if (!image.tag) return digestUnsupported(source, slot, image);
    return got({ text: image.digest ? `${image.tag}@${image.digest}` : image.tag, holdsDigest: true });
  }
  if (/[/:@]/.test(now)) {
    return refuse({
      code: 'ChartImageMismatch',
      message: `${slot.label} holds ${JSON.stringify(now.slice(0, 200))}, which is neither a tag nor a reference of ${image.repository}`,
      file: source.file,
      line: lineOf(source, slot),
    });
  }
  return got(image.tag ? { text: image.tag, holdsDigest: false } : { holdsDigest: false });
};

const setDigest = (source: YamlSource, map: YAMLMap.Parsed, slot: Slot, image: ImageChange): Attempt<readonly Splice[]> => {
  const pair = pairOf(map, 'digest');
  const label = slot.label.replace(/[^.]*$/, 'digest');
  if (pair === undefined) return image.tag ? got([]) : digestUnsupported(source, slot, image);
  if (image.digest) return setValue(source, slotOf(pair, label), image.digest);
  return isUnset(source, pair.value) ? got([]) : setValue(source, slotOf(pair, label), '');
};

const setPlace = (source: YamlSource, { slot, map }: Place, image: ImageChange): Attempt<readonly Splice[]> => {
  const { node } = slot;
  if (isMap(node) || isSeq(node) || (isAlias(node) && scalarOf(source, node) === undefined)) return setValue(source, slot, image.tag ?? '');
  const tag = tagText(source, slot, image);
  if (!tag.ok) return tag;
  const set = tag.value.text === undefined ? got<readonly Splice[]>([]) : setValue(source, slot, tag.value.text);
  if (!set.ok || tag.value.holdsDigest) return set;
  const digest = map ? setDigest(source, map, slot, image) : image.tag ? got([]) : digestUnsupported(source, slot, image);
  return digest.ok ? got([...set.value, ...digest.value]) : digest;
};

const setByPath = (source: YamlSource, path: string, image: ImageChange): Attempt<readonly Splice[]> => {
  const parsed = parseValuePath(path);
  if (!parsed.ok) return refuse({ code: 'ValuePathInvalid', message: parsed.message, file: source.file });
  const place = placeAt(source, parsed.segments);
  if (!place.ok) return place;
  if (parsed.segments.at(-1) !== 'digest') return setPlace(source, place.value, image);
  if (image.digest) return setValue(source, place.value.slot, image.digest);
  return refuse({
    code: 'ChartTagUnsupported',
    message: `the values path ${path} is for a digest, but ${image.repository} comes with a tag only`,
    file: source.file,
    line: lineOf(source, place.value.slot),
  });
};

const setByRepository = (source: YamlSource, image: ImageChange): Attempt<readonly Splice[]> => {
  const maps = mapsOfRepository(source, image.repository);
  const [first] = maps;
  if (first === undefined) {
    return refuse({
      code: 'ChartImageNotFound',
      message: `no map in the values file names the repository ${image.repository}; of several images each needs one with repository and tag`,
      file: source.file,
    });
  }
  return gather(maps, (map) => {
    const tag = pairOf(map, 'tag');
    const label = `tag of ${image.repository}`;
    if (tag) return setPlace(source, { slot: slotOf(tag, label), map }, image);
    const digest = pairOf(map, 'digest');
    if (digest && image.digest) return setValue(source, slotOf(digest, `digest of ${image.repository}`), image.digest);
    return refuse({
      code: 'ChartImageNotFound',
      message: `the map that names the repository ${image.repository} has no key tag`,
      file: source.file,
      line: source.lineAt(map.range[0]),
    });
  });
};

/** The splices that make a values file say what the images say. */
export const setChartImages = (source: YamlSource, valuePath: string, images: readonly ImageChange[]): Attempt<readonly Splice[]> => {
  const [only] = images;
  return images.length === 1 && only ? setByPath(source, valuePath, only) : gather(images, (image) => setByRepository(source, image));
};
