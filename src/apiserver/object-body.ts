/** From a request body to an object that may be handed to the store. */
import { apiVersionOf, type KindInfo, type KindMap, type KindName } from '../api/registry.ts';
import { badRequest, type Parsed, refuse } from './refusal.ts';

/** Deeper nesting than any resource has; it also keeps recursive code away from the end of the stack. */
export const MAX_DEPTH = 100;

/** A JSON object. */
export type JsonObject = { [key: string]: unknown };

/** Whether the value is a JSON object (no list, not null). */
export const isJsonObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether lists and objects nest deeper than allowed; walks level by level, so that it cannot itself overflow. */
export const isTooDeep = (value: unknown): boolean => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((entry) => (typeof entry === 'object' && entry !== null ? Object.values(entry) : []));
  }
  return false;
};

/** Where the request points: the namespace is undefined for cluster-scoped kinds, the name for new objects. */
export interface Place {
  readonly info: KindInfo;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

const isTextMap = (value: unknown): boolean => isJsonObject(value) && Object.values(value).every((entry) => typeof entry === 'string');
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every((entry) => typeof entry === 'string');

/** Only the types; what is missing or empty is refused by the store, which says so field by field. */
const isOwner = (value: unknown): boolean =>
  isJsonObject(value) &&
  ['apiVersion', 'kind', 'name', 'uid'].every((field) => value[field] === undefined || typeof value[field] === 'string');

const isTimestamp = (value: unknown): boolean => value === null || (typeof value === 'string' && !Number.isNaN(Date.parse(value)));

const METADATA: Readonly<Record<string, readonly [check: (value: unknown) => boolean, accepted: string]>> = {
  name: [(value) => typeof value === 'string', 'a text'],
  generateName: [(value) => typeof value === 'string', 'a text'],
  namespace: [(value) => typeof value === 'string', 'a text'],
  uid: [(value) => typeof value === 'string', 'a text'],
  resourceVersion: [(value) => typeof value === 'string', 'a text'],
  generation: [Number.isSafeInteger, 'a whole number'],
  creationTimestamp: [isTimestamp, 'a timestamp'],
  deletionTimestamp: [isTimestamp, 'a timestamp'],
  labels: [isTextMap, 'a map of texts'],
  annotations: [isTextMap, 'a map of texts'],
  finalizers: [isTextList, 'a list of texts'],
  ownerReferences: [(value) => Array.isArray(value) && value.every(isOwner), 'a list of {apiVersion, kind, name, uid}'],
};

const metadataProblem = (metadata: JsonObject): string | undefined => {
  for (const [field, [check, accepted]] of Object.entries(METADATA)) {
    const value = metadata[field];
    if (value === undefined || value === null) continue;
    if (!check(value)) return `metadata.${field} must be ${accepted}`;
  }
  return undefined;
};

const placeProblem = (metadata: JsonObject, { info, namespace, name }: Place): string | undefined => {
  const given = metadata['namespace'];
  if (typeof given === 'string' && given !== '' && given !== (namespace ?? '')) {
    return info.namespaced
      ? `the namespace of the provided object (${JSON.stringify(given)}) does not match the namespace sent on the request (${JSON.stringify(namespace)})`
      : `metadata.namespace must be absent: ${info.kind} is cluster-scoped`;
  }
  if (name !== undefined && metadata['name'] !== undefined && metadata['name'] !== name) {
    return `the name of the object (${JSON.stringify(metadata['name'])}) does not match the name on the URL (${JSON.stringify(name)})`;
  }
  return undefined;
};

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 100));

const typeProblem = (body: JsonObject, info: KindInfo): string | undefined => {
  const apiVersion = apiVersionOf(info);
  if (body['apiVersion'] === apiVersion && body['kind'] === info.kind) return undefined;
  const given = `apiVersion ${shown(body['apiVersion'])}, kind ${shown(body['kind'])}`;
  return `the object has ${given}; this path takes apiVersion "${apiVersion}", kind "${info.kind}"`;
};

/** Checks that the body is an object of the kind, with well-formed metadata that fits the path, and fills in the path's name and namespace. */
export const parseObject = (body: unknown, place: Place): Parsed<KindMap[KindName]> => {
  if (!isJsonObject(body)) return refuse(badRequest('the body must be a JSON object'));
  const metadata = body['metadata'] ?? {};
  if (!isJsonObject(metadata)) return refuse(badRequest('metadata must be an object'));
  const problem = typeProblem(body, place.info) ?? metadataProblem(metadata) ?? placeProblem(metadata, place);
  if (problem !== undefined) return refuse(badRequest(problem));
  const { namespace: _, ...rest } = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null));
  const filled = {
    ...rest,
    ...(place.name === undefined ? {} : { name: place.name }),
    ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
  };
  return { ok: true, value: { ...body, metadata: filled } as unknown as KindMap[KindName] };
};
