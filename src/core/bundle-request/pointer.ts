/** From the path of a field in a Bundle to the place in the request that it came from. */

const TOKEN = /\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g;

const escapeToken = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1');

const unquote = (text: string): string => text.replace(/\\(.)/g, '$1');

/** The tokens of a path such as `spec.images[0].tag` or `metadata.labels["a.b/c"]`. */
const tokensOf = (path: string): readonly string[] =>
  [...path.matchAll(TOKEN)].map(([, index, quoted, name]) => index ?? (quoted === undefined ? (name ?? '') : unquote(quoted)));

/** Joins tokens into a JSON pointer (RFC 6901). */
export const pointerTo = (...tokens: readonly string[]): string => tokens.map((token) => `/${escapeToken(token)}`).join('');

/**
 * The pointer into the request for a field of the Bundle made from it. `imageOrigins[i]` is where `spec.images[i]` came from. Requests carry
 * what is in spec and metadata at their top.
 */
export const requestPointer = (path: string, imageOrigins: readonly string[]): string => {
  const [first, ...rest] = tokensOf(path);
  const tokens = first === 'spec' || first === 'metadata' ? rest : [first ?? ''].filter((token) => token !== '').concat(rest);
  const origin = tokens[0] === 'images' ? imageOrigins[Number(tokens[1] ?? Number.NaN)] : undefined;
  if (origin === undefined) return pointerTo(...tokens);
  const field = tokens[2];
  if (!origin.startsWith('/artifacts/')) return `${origin}${pointerTo(...tokens.slice(2))}`;
  return `${origin}/${field === 'digest' ? 'digest' : 'reference'}`;
};
