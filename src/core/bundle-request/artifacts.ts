/** The other shape of images in a request: `artifacts.images[]` with references. */
import { parseImage } from '../../api/image-reference.ts';
import type { Image } from '../../api/kinds/bundle.ts';
import { pointerTo } from './pointer.ts';

/** One thing that is wrong with a request. */
export interface RequestProblem {
  /** JSON pointer into the request; empty for the whole. */
  readonly pointer: string;
  readonly detail: string;
}

/** What was read: images with the place of each, problems, and names of fields that are not known. */
export interface ArtifactImages {
  readonly images: readonly Image[];
  readonly origins: readonly string[];
  readonly problems: readonly RequestProblem[];
  readonly unknown: readonly string[];
}

/** A JSON object. */
export type Fields = { readonly [key: string]: unknown };
/** Whether the value is a JSON object. */
export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const NOTHING: ArtifactImages = { images: [], origins: [], problems: [], unknown: [] };

const problem = (pointer: string, detail: string): ArtifactImages => ({ ...NOTHING, problems: [{ pointer, detail }] });

const optionalText = (value: unknown): boolean => value === undefined || value === null || typeof value === 'string';

const readItem = (item: unknown, index: number): ArtifactImages => {
  const origin = pointerTo('artifacts', 'images', String(index));
  if (!isFields(item)) return problem(origin, 'must be an object with reference and, optionally, name and digest');
  const { name, reference, digest, ...others } = item;
  if (!optionalText(name)) return problem(`${origin}/name`, 'must be a text');
  if (!optionalText(digest)) return problem(`${origin}/digest`, 'must be a text of the form sha256:<hex>');
  if (typeof reference !== 'string') return problem(`${origin}/reference`, 'must be a text such as ghcr.io/acme/web:1.2.3');
  const parsed = parseImage(reference);
  if (!parsed.ok) return problem(`${origin}/reference`, parsed.message);
  if (digest && parsed.image.digest !== undefined && digest !== parsed.image.digest) {
    return problem(`${origin}/digest`, 'names another digest than the reference');
  }
  return {
    images: [{ ...parsed.image, ...(typeof digest === 'string' && digest !== '' ? { digest } : {}) }],
    origins: [origin],
    problems: [],
    unknown: Object.keys(others).map((field) => `artifacts.images[${index}].${field}`),
  };
};

/** Reads `artifacts`; nothing when it is absent. */
export const readArtifacts = (artifacts: unknown): ArtifactImages => {
  if (artifacts === undefined || artifacts === null) return NOTHING;
  if (!isFields(artifacts)) return problem('/artifacts', 'must be an object with images');
  const { images, ...others } = artifacts;
  const unknown = Object.keys(others).map((field) => `artifacts.${field}`);
  if (images === undefined || images === null) return { ...NOTHING, unknown };
  if (!Array.isArray(images)) return problem('/artifacts/images', 'must be a list');
  const read = images.map(readItem);
  return {
    images: read.flatMap((item) => item.images),
    origins: read.flatMap((item) => item.origins),
    problems: read.flatMap((item) => item.problems),
    unknown: [...unknown, ...read.flatMap((item) => item.unknown)],
  };
};
