/** Patches, applied to an object without touching it. */
import { applyPatch, type Operation } from 'rfc6902';
import { GROUP } from '../api/meta.ts';
import type { KindInfo } from '../api/registry.ts';
import { isJsonObject, type JsonObject } from './object-body.ts';
import { badRequest, type Parsed, type Refusal, refuse, tooLarge } from './refusal.ts';
import { applyStrategicMerge } from './strategic-merge.ts';

/** The media types of patches that are understood. */
export const MERGE_PATCH = 'application/merge-patch+json';
/** See MERGE_PATCH. */
export const JSON_PATCH = 'application/json-patch+json';
/** Only for Kubernetes' own kinds, as on a cluster. */
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';

const MAX_OPERATIONS = 10_000;
/** Copies may multiply a document; together they may add as much as a body may hold. */
const MAX_COPIED = 3 * 1024 * 1024;

const FORBIDDEN_KEY = '__proto__';

const merge = (target: unknown, patch: unknown): unknown => {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (key === FORBIDDEN_KEY) continue;
    if (value === null) delete result[key];
    else result[key] = merge(Object.hasOwn(result, key) ? result[key] : undefined, value);
  }
  return result;
};

/** JSON Merge Patch (RFC 7396). */
export const applyMergePatch = (object: object, patch: unknown): Parsed<JsonObject> => {
  if (!isJsonObject(patch)) return refuse(badRequest('a merge patch must be a JSON object'));
  const merged = merge(object, patch);
  return isJsonObject(merged) ? { ok: true, value: merged } : refuse(badRequest('a merge patch must leave an object'));
};

const OPERATIONS: Readonly<Record<string, readonly ('path' | 'from' | 'value')[]>> = {
  add: ['path', 'value'],
  replace: ['path', 'value'],
  test: ['path', 'value'],
  remove: ['path'],
  move: ['from', 'path'],
  copy: ['from', 'path'],
};

const isPointer = (value: unknown): boolean =>
  typeof value === 'string' && (value === '' || value.startsWith('/')) && !/~(?![01])/.test(value);

const operationProblem = (operation: unknown): string | undefined => {
  if (!isJsonObject(operation)) return 'must be an object';
  const op = operation['op'];
  const needs = typeof op === 'string' && Object.hasOwn(OPERATIONS, op) ? OPERATIONS[op] : undefined;
  if (needs === undefined) return `has op ${JSON.stringify(op)}; accepted are ${Object.keys(OPERATIONS).join(', ')}`;
  const missing = needs.find((field) => !Object.hasOwn(operation, field));
  if (missing !== undefined) return `(${op}) lacks ${missing}`;
  const malformed = needs.find((field) => field !== 'value' && !isPointer(operation[field]));
  return malformed === undefined ? undefined : `(${op}) has a ${malformed} that is no JSON pointer, such as /metadata/labels/a`;
};

const tokensOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

/**
 * The value at the pointer, over own properties only: what every object inherits is neither there nor reachable. Undefined when it is not there.
 */
const at = (document: unknown, tokens: readonly string[]): unknown => {
  let value = document;
  for (const token of tokens) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return undefined;
    value = (value as JsonObject)[token];
  }
  return value;
};

/** The library steps over these names instead of into them, so they cannot be addressed. */
const UNREACHABLE = new Set([FORBIDDEN_KEY, 'constructor', 'prototype']);

const pathProblem = (document: unknown, operation: Operation): string | undefined => {
  const path = tokensOf(operation.path);
  const from = 'from' in operation ? tokensOf(operation.from) : undefined;
  const name = [...path, ...(from ?? [])].find((token) => UNREACHABLE.has(token));
  if (name !== undefined) return `names ${JSON.stringify(name)}, which a JSON patch cannot address here`;
  if (path.length === 0) return 'must name a field: the whole document cannot be replaced';
  const parent = at(document, path.slice(0, -1));
  if (typeof parent !== 'object' || parent === null) return `(${operation.op}) finds nothing at the parent of ${operation.path}`;
  if (from !== undefined && at(document, from) === undefined) return `(${operation.op}) finds nothing at from`;
  const exists = at(document, path) !== undefined;
  if (!exists && (operation.op === 'remove' || operation.op === 'replace' || operation.op === 'test')) {
    return `(${operation.op}) finds nothing at ${operation.path}`;
  }
  return undefined;
};

const UNPROCESSABLE = (message: string): Refusal => ({ code: 422, reason: 'Invalid', message });

const copiedBy = (document: unknown, operation: Operation): number =>
  operation.op === 'copy' ? JSON.stringify(at(document, tokensOf(operation.from)) ?? null).length : 0;

/** JSON Patch (RFC 6902). A malformed patch is a 400, one that does not fit the object a 422. */
export const applyJsonPatch = (object: object, patch: unknown): Parsed<JsonObject> => {
  if (!Array.isArray(patch)) return refuse(badRequest('a JSON patch must be a list of operations'));
  if (patch.length > MAX_OPERATIONS)
    return refuse(tooLarge(`a JSON patch may have ${MAX_OPERATIONS} operations; this one has ${patch.length}`));
  const document: unknown = structuredClone(object);
  let copied = 0;
  for (const [index, operation] of patch.entries()) {
    const malformed = operationProblem(operation);
    if (malformed !== undefined) return refuse(badRequest(`JSON patch operation ${index} ${malformed}`));
    const unfit = pathProblem(document, operation);
    if (unfit !== undefined) return refuse(UNPROCESSABLE(`JSON patch operation ${index} ${unfit}`));
    copied += copiedBy(document, operation);
    if (copied > MAX_COPIED) return refuse(tooLarge('the copy operations of the JSON patch make the object too large'));
    const [problem] = applyPatch(document, [operation]);
    if (problem) return refuse(UNPROCESSABLE(`JSON patch operation ${index} (${operation.op} ${operation.path}) does not apply`));
  }
  return isJsonObject(document) ? { ok: true, value: document } : refuse(UNPROCESSABLE('the JSON patch must leave an object'));
};

/** Applies a patch by its media type. */
export const applyTypedPatch = (object: object, patch: unknown, type: string): Parsed<JsonObject> => {
  if (type === JSON_PATCH) return applyJsonPatch(object, patch);
  return type === STRATEGIC_PATCH ? applyStrategicMerge(object, patch) : applyMergePatch(object, patch);
};

/** The media types of patches that a kind takes. */
export const patchTypes = (info: KindInfo): readonly string[] =>
  info.group !== GROUP ? [MERGE_PATCH, JSON_PATCH, STRATEGIC_PATCH] : [MERGE_PATCH, JSON_PATCH];
