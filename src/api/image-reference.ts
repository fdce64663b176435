/** Image references as people write them: `[host[:port]/]repository[:tag][@sha256:hex]`. */

/** The parts of a reference; at least one of tag and digest is usually there. */
export interface ImageReference {
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** The end of parsing: the parts, or a sentence that says what is wrong with the text. */
export type ImageParse = { readonly ok: true; readonly image: ImageReference } | { readonly ok: false; readonly message: string };

/** A digest: `sha256:` and at least one hexadecimal digit. */
export const DIGEST_PATTERN = '^sha256:[0-9a-fA-F]+$';
/** A tag as registries take it. */
export const TAG_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$';
const HOST = '([A-Za-z0-9][A-Za-z0-9-]*[.][A-Za-z0-9.-]*|\\[[0-9a-fA-F:]+\\])(:[0-9]{1,5})?|[A-Za-z0-9][A-Za-z0-9-]*:[0-9]{1,5}';
/** A repository: an optional host (with a dot or a port), then path components, in lower case as registries want them. */
export const REPOSITORY_PATTERN = `^((${HOST})/)?[a-z0-9_][a-z0-9_.-]*(/[a-z0-9_][a-z0-9_.-]*)*$`;

const DIGEST = new RegExp(DIGEST_PATTERN);
const TAG = new RegExp(TAG_PATTERN);
const REPOSITORY = new RegExp(REPOSITORY_PATTERN);

/** Whether the text is `sha256:` and hexadecimal digits (any number of them). */
export const isDigest = (text: string): boolean => DIGEST.test(text);
/** Whether the text is a tag that registries take. */
export const isTag = (text: string): boolean => TAG.test(text);
/** Whether the text is a repository without tag and digest. */
export const isImageRepository = (text: string): boolean => text.length <= 512 && REPOSITORY.test(text);

const refuse = (text: string, problem: string): ImageParse => ({
  ok: false,
  message: `image ${JSON.stringify(text.slice(0, 200))} ${problem}; accepted is repository:tag, repository@sha256:<hex> or repository:tag@sha256:<hex>`,
});

/** Takes a reference apart; a reference without tag and digest parses too, because only its user knows whether that will do. */
export const parseImage = (text: string): ImageParse => {
  if (text.length > 1024) return refuse(text, 'is longer than 1024 characters');
  const at = text.indexOf('@');
  const named = at < 0 ? text : text.slice(0, at);
  const digest = at < 0 ? undefined : text.slice(at + 1);
  // A colon before the last slash belongs to a port.
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  const repository = colon < 0 ? named : named.slice(0, colon);
  const tag = colon < 0 ? undefined : named.slice(colon + 1);
  if (digest !== undefined && !isDigest(digest)) return refuse(text, `has the digest ${JSON.stringify(digest.slice(0, 100))}`);
  if (tag !== undefined && !isTag(tag)) return refuse(text, `has the tag ${JSON.stringify(tag.slice(0, 140))}`);
  if (!isImageRepository(repository)) return refuse(text, `has the repository ${JSON.stringify(repository.slice(0, 200))}`);
  return { ok: true, image: { repository, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) } };
};

/** The reference as one text; fields that are absent or empty are left out. */
export const formatImage = (image: { readonly repository?: string; readonly tag?: string; readonly digest?: string }): string =>
  `${image.repository ?? ''}${image.tag ? `:${image.tag}` : ''}${image.digest ? `@${image.digest}` : ''}`;
