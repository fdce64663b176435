/** From the path of a field in a Bundle to the place in the request that it came from. */

const TOKEN = /\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g;

const escapeToken = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1');

const unquote = (text: string): string => text.replace(/\\(.)/g, '$1');

/** The tokens of a path such as `spec.images[0].tag` or `metadata.labels["a.b/c"]`. */
const tokensOf = (path: string): readonly string[] =>
  [...path.matchAll(TOKEN)].map(([, index, quoted, name]) => index ?? (quoted === undefined ? (name ?? '') : unquote(quoted)));

/** Joins tokens into a JSON pointer (RFC 6901). */
export const pointerTo = (...tokens: readonly string[]): string => tokens.map((token) => `/${escapeToken(token)}`).join('');

/** Where in the request the entries of the Bundle's lists came from. */
export interface Origins {
  /** One pointer for each entry of `spec.images`. */
  readonly images: readonly string[];
  /** One pointer for each entry of `spec.intent.skipEnvironments`. */
  readonly skips: readonly string[];
}

/** Nothing came from anywhere but the place of the same name. */
export const NO_ORIGINS: Origins = { images: [], skips: [] };

const ARTIFACTS = '/artifacts/';

const imagePointer = (origins: readonly string[], index: string | undefined, field: readonly string[]): string => {
  // What is wrong with the list as a whole is said of the list that was sent.
  const listed = origins.length > 0 && origins.every((origin) => origin.startsWith(ARTIFACTS)) ? '/artifacts/images' : '/images';
  if (index === undefined) return listed;
  const origin = origins[Number(index)] ?? `${listed}${pointerTo(index)}`;
  if (!origin.startsWith(ARTIFACTS)) return `${origin}${pointerTo(...field)}`;
  return `${origin}/${field[0] === 'digest' ? 'digest' : 'reference'}`;
};

/** The pointer into the request for a field of the Bundle made from it. Requests carry what is in spec and metadata at their top. */
export const requestPointer = (path: string, origins: Origins): string => {
  const [first, ...rest] = tokensOf(path);
  const tokens = first === 'spec' || first === 'metadata' ? rest : [first ?? ''].filter((token) => token !== '').concat(rest);
  const [field, second, third] = tokens;
  if (field === 'images') return imagePointer(origins.images, second, tokens.slice(2));
  const skip = field === 'intent' && second === 'skipEnvironments' ? origins.skips[Number(third ?? Number.NaN)] : undefined;
  return skip ?? pointerTo(...tokens);
};
