/** Objects as callers hand them in: checked for shape, and copied so that nobody can change them while they wait. */
import type { Resource } from '../../api/meta.ts';
import { KINDS } from '../../api/registry.ts';
import { isKindName } from '../../api/store-semantics.ts';
import type { StoreError } from '../../ports/store.ts';
import { parseStored } from './rows.ts';

/** Levels of nesting that an object may have. */
const DEPTH_LIMIT = 100;

const exceedsDepth = (value: unknown, depth = 0): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  return depth >= DEPTH_LIMIT || Object.values(value).some((inner) => exceedsDepth(inner, depth + 1));
};

const badRequest = (message: string): { readonly ok: false; readonly error: StoreError } => ({
  ok: false,
  error: { code: 'BadRequest', message },
});

/** A copy that nobody else can change, or why the value is no object that can be kept. */
export const readGiven = (
  given: Resource,
): { readonly ok: true; readonly object: Resource } | { readonly ok: false; readonly error: StoreError } => {
  if (typeof given !== 'object' || given === null) return badRequest('an object is needed');
  if (!isKindName(given.kind))
    return badRequest(`kind ${JSON.stringify(given.kind)} is not served; served are ${Object.keys(KINDS).join(', ')}`);
  if (typeof given.metadata !== 'object' || given.metadata === null || Array.isArray(given.metadata))
    return badRequest('metadata: must be an object');
  for (const field of ['name', 'namespace'] as const) {
    const value: unknown = given.metadata[field];
    if (value !== undefined && value !== null && typeof value !== 'string') return badRequest(`metadata.${field}: must be text`);
  }
  if (exceedsDepth(given))
    return { ok: false, error: { code: 'Invalid', message: `the object is nested more than ${DEPTH_LIMIT} levels deep` } };
  return { ok: true, object: parseStored(JSON.stringify(given)) };
};
