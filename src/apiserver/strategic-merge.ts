/**
 * Strategic merge patches of Kubernetes' own kinds, which its command-line tool sends for them: like merge patches, but some lists are merged
 * element by element.
 */
import { isJsonObject, type JsonObject } from './object-body.ts';
import { badRequest, type Parsed, refuse } from './refusal.ts';

/** Lists of objects that are merged, by the name of their field, with the field that tells their elements apart. All others are replaced. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  conditions: 'type',
  containers: 'name',
  env: 'name',
  ephemeralContainers: 'name',
  hostAliases: 'ip',
  imagePullSecrets: 'name',
  initContainers: 'name',
  ownerReferences: 'uid',
  ports: 'containerPort',
  topologySpreadConstraints: 'topologyKey',
  volumeDevices: 'devicePath',
  volumeMounts: 'mountPath',
  volumes: 'name',
};
/** Lists of texts that are united. */
const UNITED = new Set(['finalizers']);

const PATCH = '$patch';
const RETAIN = '$retainKeys';
const ORDER = '$setElementOrder/';
const REMOVE = '$deleteFromPrimitiveList/';

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const keyOf = (element: unknown, key: string): unknown => (isJsonObject(element) ? element[key] : element);

/** Elements named in the order come first, in that order; the others follow as they were. */
const ordered = (elements: readonly unknown[], order: unknown, key: string): readonly unknown[] => {
  if (!isList(order)) return elements;
  const wanted = order.map((element) => keyOf(element, key));
  const rank = (element: unknown): number => {
    const index = wanted.indexOf(keyOf(element, key));
    return index < 0 ? wanted.length : index;
  };
  return elements.toSorted((left, right) => rank(left) - rank(right));
};

const mergeElements = (current: readonly unknown[], patch: readonly unknown[], key: string): readonly unknown[] => {
  const directives = patch.filter((element) => isJsonObject(element) && element[PATCH] === 'replace' && element[key] === undefined);
  if (directives.length > 0) return patch.filter((element) => !directives.includes(element));
  const result = [...current];
  for (const element of patch) {
    const index = result.findIndex((other) => keyOf(other, key) === keyOf(element, key));
    const isDeletion = isJsonObject(element) && element[PATCH] === 'delete';
    if (isDeletion && index >= 0) result.splice(index, 1);
    else if (!isDeletion && index >= 0) result[index] = mergeValue(result[index], element);
    else if (!isDeletion) result.push(mergeValue(undefined, element));
  }
  return result;
};

const mergeField = (name: string, current: unknown, value: unknown): unknown => {
  const key = Object.hasOwn(MERGE_KEYS, name) ? MERGE_KEYS[name] : undefined;
  if (isList(value) && key !== undefined && value.every(isJsonObject)) return mergeElements(isList(current) ? current : [], value, key);
  if (isList(value) && UNITED.has(name)) return [...new Set([...(isList(current) ? current : []), ...value])];
  return mergeValue(current, value);
};

const applyDirectives = (result: JsonObject, patch: JsonObject): void => {
  const retained = patch[RETAIN];
  if (isList(retained)) for (const name of Object.keys(result)) if (!retained.includes(name)) delete result[name];
  for (const [directive, value] of Object.entries(patch)) {
    const list = directive.startsWith(REMOVE) ? directive.slice(REMOVE.length) : undefined;
    const current = list === undefined ? undefined : result[list];
    if (list !== undefined && isList(current) && isList(value)) result[list] = current.filter((entry) => !value.includes(entry));
  }
};

const isDirective = (name: string): boolean => name === PATCH || name === RETAIN || name.startsWith(ORDER) || name.startsWith(REMOVE);

const mergeValue = (current: unknown, patch: unknown): unknown => {
  if (!isJsonObject(patch)) return patch;
  const base = patch[PATCH] === 'replace' || patch[PATCH] === 'delete' || !isJsonObject(current) ? {} : current;
  const result: JsonObject = { ...base };
  applyDirectives(result, patch);
  for (const [name, value] of Object.entries(patch)) {
    if (isDirective(name)) continue;
    if (value === null || (isJsonObject(value) && value[PATCH] === 'delete')) delete result[name];
    else result[name] = mergeField(name, Object.hasOwn(result, name) ? result[name] : undefined, value);
  }
  for (const [directive, order] of Object.entries(patch)) {
    const name = directive.startsWith(ORDER) ? directive.slice(ORDER.length) : undefined;
    const list = name === undefined ? undefined : result[name];
    if (name !== undefined && isList(list)) result[name] = ordered(list, order, MERGE_KEYS[name] ?? 'name');
  }
  return result;
};

const unknownDirective = (patch: unknown): string | undefined => {
  const pending: unknown[] = [patch];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (isList(value)) pending.push(...value.filter((entry) => typeof entry === 'object' && entry !== null));
    if (!isJsonObject(value)) continue;
    const odd = Object.keys(value).find((name) => name.startsWith('$') && !isDirective(name));
    if (odd !== undefined) return odd;
    const given = value[PATCH];
    if (given !== undefined && given !== 'replace' && given !== 'merge' && given !== 'delete') return `${PATCH}: ${JSON.stringify(given)}`;
    pending.push(...Object.values(value).filter((entry) => typeof entry === 'object' && entry !== null));
  }
  return undefined;
};

/** Applies a strategic merge patch; a directive that is not known is refused rather than stored. */
export const applyStrategicMerge = (object: object, patch: unknown): Parsed<JsonObject> => {
  if (!isJsonObject(patch)) return refuse(badRequest('a strategic merge patch must be a JSON object'));
  const odd = unknownDirective(patch);
  if (odd !== undefined) return refuse(badRequest(`a strategic merge patch with ${odd} is not understood`));
  const merged = mergeValue(object, patch);
  return isJsonObject(merged) ? { ok: true, value: merged } : refuse(badRequest('a strategic merge patch must leave an object'));
};
