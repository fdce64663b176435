/** Lists over a snapshot: selection, order and pages that go on with the state of the first one. */
import type { Resource } from '../../src/api/meta.ts';
import { KINDS, type KindMap, type KindName } from '../../src/api/registry.ts';
import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector } from '../../src/api/selector.ts';
import type { ListOptions, Page, ReadResult, StoreError } from '../../src/ports/store.ts';
import { keyOf, type StoreCore } from './store-core.ts';
import type { Snapshot } from './store-views.ts';

/** Whether an object is selected. */
export type Matcher = (object: Resource) => boolean;

/** How stored objects are handed out. */
export interface HandOut {
  /** The object as its kind, which was the key that it was found by. */
  give<K extends KindName>(kind: K, object: Resource): KindMap[K];
}

/** Every caller gets a copy of its own. */
export const copies: HandOut = { give: <K extends KindName>(_kind: K, object: Resource): KindMap[K] => JSON.parse(JSON.stringify(object)) };

/** The stored object itself, deeply frozen: a caller that changes what it has read meets an error. */
export const shared: HandOut = { give: <K extends KindName>(_kind: K, object: Resource): KindMap[K] => object as KindMap[K] };

/** The selection that options ask for, or what is wrong with them. */
export const matcher = (
  kind: KindName,
  options: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>,
): Matcher | StoreError => {
  const labels = parseLabelSelector(options.labelSelector ?? '');
  if (!labels.ok) return { code: 'BadRequest', message: labels.message };
  const fields = parseFieldSelector(options.fieldSelector ?? '', kind);
  if (!fields.ok) return { code: 'BadRequest', message: fields.message };
  const namespace = KINDS[kind].namespaced ? options.namespace || undefined : undefined;
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    matchesLabels(labels.value, object.metadata.labels) &&
    matchesFields(fields.value, object);
};

/** `namespace/name`. */
export const place = (object: Resource): string => keyOf(object.metadata.namespace, object.metadata.name);

const sortKey = (object: Resource): string => `${object.metadata.namespace ?? ''}\u0000${object.metadata.name}`;

const byName = (a: Resource, b: Resource): number => {
  const [left, right] = [sortKey(a), sortKey(b)];
  return left < right ? -1 : left > right ? 1 : 0;
};

interface Token {
  readonly revision: number;
  readonly after: string;
}

const encode = (token: Token): string => Buffer.from(JSON.stringify([token.revision, token.after])).toString('base64url');

const decode = (text: string): Token | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (!Array.isArray(value) || value.length !== 2) return undefined;
    const [revision, after]: unknown[] = value;
    return typeof revision === 'number' && typeof after === 'string' ? { revision, after } : undefined;
  } catch {
    return undefined;
  }
};

/** A kind as it was at a revision. */
const stateAt = (core: StoreCore, kind: KindName, revision: number): Snapshot => {
  const objects = new Map<string, Resource>();
  for (const change of core.changes(kind)) {
    if (change.revision > revision) break;
    if (change.type === 'DELETED') objects.delete(place(change.object));
    else objects.set(place(change.object), change.object);
  }
  return { objects, revision };
};

/** What a list works on. */
export interface Listing<K extends KindName> {
  readonly core: StoreCore;
  readonly kind: K;
  readonly options: ListOptions;
  readonly handOut: HandOut;
}

/** One page of what a first page would see. */
export const page = <K extends KindName>(
  { core, kind, options, handOut }: Listing<K>,
  latest: () => Snapshot,
): ReadResult<Page<KindMap[K]>> => {
  const matches = matcher(kind, options);
  if (typeof matches !== 'function') return { ok: false, error: matches };
  if (options.limit !== undefined && options.limit < 0)
    return { ok: false, error: { code: 'BadRequest', message: 'limit must not be negative' } };
  const token = options.continue ? decode(options.continue) : undefined;
  if (options.continue && !token) return { ok: false, error: { code: 'BadRequest', message: 'continue is not a token of a list' } };
  const seen = token ? stateAt(core, kind, token.revision) : latest();
  const items = [...seen.objects.values()].filter(matches).sort(byName);
  const rest = token ? items.filter((item) => sortKey(item) > token.after) : items;
  const shown = options.limit ? rest.slice(0, options.limit) : rest;
  const last = shown.at(-1);
  const more = shown.length < rest.length && last ? { continue: encode({ revision: seen.revision, after: sortKey(last) }) } : {};
  return { ok: true, value: { items: shown.map((item) => handOut.give(kind, item)), resourceVersion: String(seen.revision), ...more } };
};
