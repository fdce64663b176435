/**
 * What a Kubernetes-like store does to an object between the request and the record. Pure: time and ids are arguments, objects that come in are
 * never changed, and a refusal is a value. Every store runs a write as: prepare, admit, and for updates conclude.
 */
import type { ObjectMeta, OwnerReference, Resource } from './meta.ts';
import { checkMetadata } from './metadata-check.ts';
import { defaultNative } from './native-check.ts';
import { apiVersionOf, KINDS, type KindInfo, type KindName } from './registry.ts';

/** Why a write is refused; the codes are Kubernetes' status reasons. */
export interface Refusal {
  readonly code: 'AlreadyExists' | 'NotFound' | 'Conflict' | 'Invalid' | 'BadRequest' | 'Forbidden';
  readonly message: string;
  readonly causes?: readonly { readonly field: string; readonly message: string }[];
}
/** The object as it may go to admission, or why not. */
export type Prepared = { readonly ok: true; readonly object: Resource } | { readonly ok: false; readonly error: Refusal };

/** The finalizer by which an owner waits for its dependents to be gone. */
export const FOREGROUND_FINALIZER = 'foregroundDeletion';
/** The finalizer by which an owner waits until nothing names it as owner any more. */
export const ORPHAN_FINALIZER = 'orphan';

const refuse = (code: Refusal['code'], message: string): { readonly ok: false; readonly error: Refusal } => ({
  ok: false,
  error: { code, message },
});

/** Whether the text names a kind of the registry. */
export const isKindName = (kind: unknown): kind is KindName => typeof kind === 'string' && Object.hasOwn(KINDS, kind);

/** Whether two JSON values are the same; order of keys does not matter, and a field that is undefined is absent. */
export const sameJson = (left: unknown, right: unknown): boolean => {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => sameJson(item, right[index]));
  }
  const keys = (value: object) => Object.keys(value).filter((key) => Reflect.get(value, key) !== undefined);
  const names = keys(left);
  if (names.length !== keys(right).length) return false;
  return names.every((key) => Object.hasOwn(right, key) && sameJson(Reflect.get(left, key), Reflect.get(right, key)));
};

/** RFC 3339 in UTC with one-second precision; milliseconds are cut off. */
export const timestampOf = (milliseconds: number): string =>
  new Date(Math.floor(milliseconds / 1000) * 1000).toISOString().replace('.000Z', 'Z');

const without = (object: Resource, ...keys: readonly string[]): Resource => {
  const copy: Resource = { ...object };
  for (const key of keys) Reflect.deleteProperty(copy, key);
  return copy;
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What each kind does with content that is not stored as given. */
const normalise = (object: Resource): Resource =>
  // Only data, stringData and type are touched.
  object.kind === 'Secret' ? (defaultNative({ ...object }) as unknown as Resource) : object;

/** Fields of metadata that only the store sets. */
const writableMetadata = (metadata: ObjectMeta): ObjectMeta => {
  const { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, ...rest } = metadata;
  const copy: ObjectMeta = { ...rest };
  for (const key of ['selfLink', 'managedFields', 'deletionGracePeriodSeconds']) Reflect.deleteProperty(copy, key);
  for (const key of ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const) {
    const value = copy[key];
    if (value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)) delete copy[key];
  }
  return copy;
};

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
/** Five letters drawn from the last hexadecimal digits of a uid; the first may be the time. */
const suffixOf = (uid: string): string => {
  let number = Number.parseInt(uid.replaceAll('-', '').slice(-10), 16) || 0;
  let suffix = '';
  for (let count = 0; count < 5; count++) {
    suffix += SUFFIX_LETTERS[number % SUFFIX_LETTERS.length];
    number = Math.floor(number / SUFFIX_LETTERS.length);
  }
  return suffix;
};

/** The kind's entry, or a refusal when kind or apiVersion is not one that is served. */
export const servedKind = (
  object: Resource,
): { readonly ok: true; readonly info: KindInfo } | { readonly ok: false; readonly error: Refusal } => {
  if (!isKindName(object.kind))
    return refuse('BadRequest', `kind ${JSON.stringify(object.kind)} is not served; served are ${Object.keys(KINDS).join(', ')}`);
  const info = KINDS[object.kind];
  if (object.apiVersion === apiVersionOf(info)) return { ok: true, info };
  return refuse('BadRequest', `apiVersion ${JSON.stringify(object.apiVersion)} does not serve ${object.kind}; ${apiVersionOf(info)} does`);
};

/** `Pipeline "shop/web"`, for messages. */
export const describe = (object: Resource): string =>
  `${object.kind} ${JSON.stringify(object.metadata.namespace ? `${object.metadata.namespace}/${object.metadata.name}` : object.metadata.name)}`;

const invalid = (object: Resource, causes: readonly { readonly field: string; readonly message: string }[]): Prepared => ({
  ok: false,
  error: {
    code: 'Invalid',
    message: `${describe(object)} is invalid: ${causes.map(({ field, message }) => `${field}: ${message}`).join('; ')}`,
    causes,
  },
});

/**
 * A new object: uid, creationTimestamp, generation 1, a name made from generateName, the namespace `default` when a namespaced kind names none,
 * no status for kinds whose status is a subresource (a Namespace begins Active). `now` in milliseconds. Refuses a resourceVersion.
 */
export const prepareCreate = (given: Resource, fresh: { readonly uid: string; readonly now: number }): Prepared => {
  const served = servedKind(given);
  if (!served.ok) return served;
  if (!isRecord(given.metadata)) return refuse('BadRequest', `${given.kind} has no metadata`);
  if (given.metadata.resourceVersion) return refuse('BadRequest', 'metadata.resourceVersion: must not be given when an object is created');
  const metadata = writableMetadata(given.metadata);
  if (!metadata.name && metadata.generateName) metadata.name = `${String(metadata.generateName).slice(0, 58)}${suffixOf(fresh.uid)}`;
  if (served.info.namespaced) metadata.namespace ||= 'default';
  metadata.uid = fresh.uid;
  metadata.creationTimestamp = timestampOf(fresh.now);
  metadata.generation = 1;
  const bare = served.info.statusSubresource ? without(given, 'status') : given;
  const object: Resource = { ...normalise(bare), metadata };
  const causes = checkMetadata(served.info, { ...object.metadata });
  if (causes.length > 0) return invalid(object, causes);
  if (object.kind !== 'Namespace') return { ok: true, object };
  return { ok: true, object: Object.assign(object, { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }) };
};

/** Conflict when the request was made for another version or another object than the one that is stored. */
const meetsPreconditions = (
  old: Resource,
  wanted: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
): Refusal | undefined => {
  const { uid, resourceVersion } = old.metadata;
  if (wanted.uid && wanted.uid !== uid) {
    return { code: 'Conflict', message: `${describe(old)} is another object: uid ${wanted.uid} was given, ${uid} is stored` };
  }
  if (wanted.resourceVersion && wanted.resourceVersion !== resourceVersion) {
    return {
      code: 'Conflict',
      message: `${describe(old)} has changed: resourceVersion ${wanted.resourceVersion} was given, ${resourceVersion} is stored; read it again and repeat the change`,
    };
  }
  return undefined;
};

const immutableCauses = (old: Resource, object: Resource): readonly { field: string; message: string }[] => {
  const causes: { field: string; message: string }[] = [];
  const changed = (field: string) => !sameJson(Reflect.get(old, field), Reflect.get(object, field));
  if (old.kind === 'Secret' && changed('type')) causes.push({ field: 'type', message: 'cannot be changed' });
  if (old.metadata.deletionTimestamp) {
    const added = (object.metadata.finalizers ?? []).filter((finalizer) => !old.metadata.finalizers?.includes(finalizer));
    if (added.length > 0)
      causes.push({ field: 'metadata.finalizers', message: `${added.join(', ')} cannot be added, the object is being deleted` });
  }
  return causes;
};

/** An update of metadata and content: what only the store sets is kept, and so is status where it is a subresource. Goes to admission next. */
export const prepareUpdate = (old: Resource, given: Resource): Prepared => {
  const served = servedKind(given);
  if (!served.ok) return served;
  const failed = meetsPreconditions(old, given.metadata);
  if (failed) return { ok: false, error: failed };
  const { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, name, namespace } = old.metadata;
  const metadata = {
    ...writableMetadata(given.metadata),
    ...{ name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp },
  };
  for (const key of ['namespace', 'deletionTimestamp'] as const) if (metadata[key] === undefined) Reflect.deleteProperty(metadata, key);
  const object = normalise({ ...given, metadata: metadata as ObjectMeta });
  if (served.info.statusSubresource) keep(old, object, 'status');
  if (object.kind === 'Namespace') keep(old, object, 'spec');
  const malformed = checkMetadata(served.info, { ...object.metadata });
  const causes = malformed.length > 0 ? malformed : immutableCauses(old, object);
  return causes.length > 0 ? invalid(object, causes) : { ok: true, object };
};

const keep = (old: Resource, object: Resource, field: 'spec' | 'status'): void => {
  if (Object.hasOwn(old, field)) Reflect.set(object, field, Reflect.get(old, field));
  else Reflect.deleteProperty(object, field);
};

/** An update of the status alone. Goes to admission next. */
export const prepareStatusUpdate = (old: Resource, given: Resource): Prepared => {
  const served = servedKind(given);
  if (!served.ok) return served;
  if (!served.info.statusSubresource) return refuse('BadRequest', `${given.kind} has no status of its own`);
  const failed = meetsPreconditions(old, given.metadata);
  if (failed) return { ok: false, error: failed };
  const object: Resource = { ...old };
  keep(given, object, 'status');
  return { ok: true, object };
};

/** What becomes of the record after an update. */
export type Conclusion =
  | { readonly change: 'none' }
  | { readonly change: 'written'; readonly object: Resource }
  /** The last finalizer of an object that is being deleted is gone. */
  | { readonly change: 'deleted'; readonly object: Resource };

/** Whether nothing can hold the object back from being deleted. */
const nothingHolds = (object: Resource): boolean => {
  if ((object.metadata.finalizers ?? []).length > 0) return false;
  if (object.kind !== 'Namespace') return true;
  const spec: unknown = Reflect.get(object, 'spec');
  const finalizers: unknown = isRecord(spec) ? spec['finalizers'] : undefined;
  return !Array.isArray(finalizers) || finalizers.length === 0;
};

/** Compares what was admitted with what is stored: nothing to write, a record to write (generation grown when content changed), or a deletion. */
export const concludeUpdate = (old: Resource, admitted: Resource): Conclusion => {
  if (old.metadata.deletionTimestamp && nothingHolds(admitted)) return { change: 'deleted', object: admitted };
  if (sameJson(old, admitted)) return { change: 'none' };
  const apart = isKindName(old.kind) && KINDS[old.kind].statusSubresource ? ['metadata', 'status'] : ['metadata'];
  if (sameJson(without(old, ...apart), without(admitted, ...apart))) return { change: 'written', object: admitted };
  const metadata: ObjectMeta = { ...admitted.metadata, generation: (old.metadata.generation ?? 0) + 1 };
  return { change: 'written', object: { ...admitted, metadata } };
};

/** How a deletion is asked for; the same fields as the port's. */
export interface Deletion {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagation?: 'background' | 'foreground' | 'orphan' | undefined;
}

const finalizersFor = (old: Resource, propagation: Deletion['propagation']): readonly string[] => {
  const present = old.metadata.finalizers ?? [];
  if (propagation === undefined) return present;
  const others = present.filter((finalizer) => finalizer !== FOREGROUND_FINALIZER && finalizer !== ORPHAN_FINALIZER);
  if (propagation === 'background') return others;
  return [...others, propagation === 'foreground' ? FOREGROUND_FINALIZER : ORPHAN_FINALIZER];
};

/**
 * A deletion: deleted at once, or marked with a deletionTimestamp (`now`, milliseconds) while finalizers hold the object; a Namespace is held
 * by its content. Refuses other versions, other objects and the namespace `default`.
 */
export const prepareDelete = (
  old: Resource,
  deletion: Deletion,
  now: number,
): { readonly ok: true; readonly conclusion: Conclusion } | { readonly ok: false; readonly error: Refusal } => {
  const failed = meetsPreconditions(old, deletion);
  if (failed) return { ok: false, error: failed };
  if (old.kind === 'Namespace' && old.metadata.name === 'default') return refuse('Forbidden', 'Namespace "default" cannot be deleted');
  const finalizers = finalizersFor(old, deletion.propagation);
  const marked = withFinalizers(old, finalizers);
  if (nothingHolds(marked)) return { ok: true, conclusion: { change: 'deleted', object: old } };
  if (old.metadata.deletionTimestamp && sameJson(old, marked)) return { ok: true, conclusion: { change: 'none' } };
  const metadata: ObjectMeta = { ...marked.metadata, deletionTimestamp: old.metadata.deletionTimestamp ?? timestampOf(now) };
  const status = old.kind === 'Namespace' ? { status: { phase: 'Terminating' } } : {};
  return { ok: true, conclusion: { change: 'written', object: { ...marked, metadata, ...status } } };
};

/** The object with exactly these finalizers. */
export const withFinalizers = (object: Resource, finalizers: readonly string[]): Resource => {
  const { finalizers: _, ...metadata } = object.metadata;
  return { ...object, metadata: finalizers.length === 0 ? metadata : { ...metadata, finalizers: [...finalizers] } };
};

/** The object with exactly these owners. */
export const withOwners = (object: Resource, owners: readonly OwnerReference[]): Resource => {
  const { ownerReferences: _, ...metadata } = object.metadata;
  return { ...object, metadata: owners.length === 0 ? metadata : { ...metadata, ownerReferences: [...owners] } };
};

/** A Namespace whose content is gone. */
export const withoutContent = (namespace: Resource): Resource => Object.assign(without(namespace, 'spec'), { spec: {} });

/** What a watch with a selector makes of a change: moving into the selection is ADDED, out of it is DELETED, outside of it nothing. */
export const selectedChange = (
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  selected: { readonly before: boolean; readonly after: boolean },
): 'ADDED' | 'MODIFIED' | 'DELETED' | undefined => {
  if (type === 'ADDED') return selected.after ? 'ADDED' : undefined;
  if (type === 'DELETED') return selected.before ? 'DELETED' : undefined;
  if (selected.before) return selected.after ? 'MODIFIED' : 'DELETED';
  return selected.after ? 'ADDED' : undefined;
};
