/** Kinds by the words people type: plural, singular, short name or the kind itself, in any case. */
import { KINDS, type KindInfo } from '../api/registry.ts';
import { type Either, ends, misused, value } from './end.ts';
import { didYouMean } from './suggest.ts';

/** A short name that is a plural, such as `steps`, has its singular too. */
const shortWords = (name: string): string[] => (name.length > 3 && name.endsWith('s') ? [name, name.slice(0, -1)] : [name]);

const wordsOf = (info: KindInfo): string[] => [info.plural, info.singular, ...info.shortNames.flatMap(shortWords)];

/** All words, plural first; for help texts. */
export const kindWords = (): readonly string[] => Object.values(KINDS).map((info) => info.plural);

/** The kind of a word; `bundles.promoter.io` works as well. */
export const kindOfWord = (word: string): Either<KindInfo> => {
  const wanted = word.toLowerCase();
  for (const info of Object.values(KINDS)) {
    const names = wordsOf(info);
    const qualified = info.group === '' ? [] : names.map((name) => `${name}.${info.group}`);
    if ([...names, ...qualified].includes(wanted)) return value(info);
  }
  const all = Object.values(KINDS).flatMap(wordsOf);
  return ends(misused(`There is no kind "${word}".${didYouMean(wanted, all)} Kinds: ${kindWords().join(', ')}.`));
};

/** How an object is named in output: `bundle/web-1.2.3`. */
export const displayName = (object: { readonly kind: string; readonly metadata: { readonly name: string } }): string =>
  `${object.kind.toLowerCase()}/${object.metadata.name}`;
