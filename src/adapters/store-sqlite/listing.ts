/**
 * Lists in pages. Every page of one list shows the state at the version of its first page: what has changed since is taken from the history,
 * until that has been trimmed; then the token has expired.
 */
import type { SQLInputValue } from 'node:sqlite';
import type { Resource } from '../../api/meta.ts';
import { KINDS, type KindName } from '../../api/registry.ts';
import {
  type FieldSelector,
  type LabelRequirement,
  type LabelSelector,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from '../../api/selector.ts';
import type { ListOptions, Page, ReadResult, StoreError } from '../../ports/store.ts';
import { parseStored, type Rows } from './rows.ts';

/** What of a kind is asked for. */
export interface Selection {
  readonly kind: KindName;
  /** All namespaces when undefined; empty for cluster-scoped kinds. */
  readonly namespace: string | undefined;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

const failed = (code: StoreError['code'], message: string): { readonly ok: false; readonly error: StoreError } => ({
  ok: false,
  error: { code, message },
});

/** Reads the selectors of a list or a watch; BadRequest names what is wrong with them. */
export const readSelection = (
  kind: KindName,
  options: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>,
): ReadResult<Selection> => {
  const labels = parseLabelSelector(options.labelSelector ?? '');
  if (!labels.ok) return failed('BadRequest', labels.message);
  const fields = parseFieldSelector(options.fieldSelector ?? '', kind);
  if (!fields.ok) return failed('BadRequest', fields.message);
  const namespace = KINDS[kind].namespaced ? options.namespace || undefined : '';
  return { ok: true, value: { kind, namespace, labels: labels.value, fields: fields.value } };
};

/** Whether an object is among what is asked for; its kind is taken as checked. */
export const isSelected = (selection: Selection, object: Resource): boolean =>
  (selection.namespace === undefined || selection.namespace === (object.metadata.namespace ?? '')) &&
  matchesLabels(selection.labels, object.metadata.labels) &&
  matchesFields(selection.fields, object);

interface Position {
  readonly version: number;
  readonly namespace: string;
  readonly name: string;
}

const encode = ({ version, namespace, name }: Position): string =>
  Buffer.from(JSON.stringify([version, namespace, name]), 'utf8').toString('base64url');

const decode = (token: string): Position | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    if (!Array.isArray(value) || value.length !== 3) return undefined;
    const [version, namespace, name]: unknown[] = value;
    if (!Number.isSafeInteger(version) || typeof namespace !== 'string' || typeof name !== 'string') return undefined;
    return { version: Number(version), namespace, name };
  } catch {
    return undefined;
  }
};

const equality = (requirement: LabelRequirement): string | undefined =>
  requirement.operator === 'in' && requirement.values.length === 1 ? requirement.values[0] : undefined;

/** How many rows of the label index are counted when the narrowest requirement is chosen. */
const COUNTED = 1000;

/** The requirement `key=value` that the fewest objects meet. */
const narrowest = (rows: Rows, selection: Selection): LabelRequirement | undefined => {
  const candidates = selection.labels.filter((requirement) => equality(requirement) !== undefined);
  if (candidates.length < 2) return candidates[0];
  const size = (requirement: LabelRequirement): number =>
    rows.count(`SELECT count(*) AS n FROM (SELECT 1 FROM labels WHERE kind = ? AND key = ? AND value = ? LIMIT ${COUNTED})`, [
      selection.kind,
      requirement.key,
      equality(requirement) ?? '',
    ]);
  const sizes = candidates.map((requirement) => ({ requirement, size: size(requirement) }));
  return sizes.reduce((least, next) => (next.size < least.size ? next : least)).requirement;
};

interface Query {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** The query for what has not changed since the version, from a position on, ordered. */
const queryFor = (rows: Rows, selection: Selection, position: Position): Query => {
  const driver = narrowest(rows, selection);
  const name = selection.fields.find(({ field, equal }) => field === 'metadata.name' && equal)?.value;
  const table = driver ? 'l' : 'o';
  const conditions = [`${table}.kind = ?`];
  const values: SQLInputValue[] = [selection.kind];
  const add = (condition: string, ...more: SQLInputValue[]): void => {
    conditions.push(condition);
    values.push(...more);
  };
  if (driver) add('l.key = ? AND l.value = ?', driver.key, equality(driver) ?? '');
  if (selection.namespace === undefined) add(`(${table}.namespace, ${table}.name) > (?, ?)`, position.namespace, position.name);
  else
    add(
      `${table}.namespace = ? AND ${table}.name > ?`,
      selection.namespace,
      selection.namespace === position.namespace ? position.name : '',
    );
  if (name !== undefined) add(`${table}.name = ?`, name);
  add('o.version <= ?', position.version);
  const from = driver ? 'labels l CROSS JOIN objects o ON o.id = l.id' : 'objects o';
  const sql = `SELECT o.namespace, o.name, o.object FROM ${from} WHERE ${conditions.join(' AND ')} ORDER BY ${table}.namespace, ${table}.name`;
  return { sql, values };
};

interface Entry {
  readonly namespace: string;
  readonly name: string;
  readonly text: string;
}

function* entries(source: Iterable<Record<string, unknown>>): Generator<Entry> {
  for (const row of source) yield { namespace: String(row['namespace']), name: String(row['name']), text: String(row['object']) };
}

const precedes = (left: Entry, right: Entry): boolean =>
  left.namespace < right.namespace || (left.namespace === right.namespace && left.name < right.name);

/** Merges two ordered sources; no key is in both. */
function* merged(left: Generator<Entry>, right: Generator<Entry>): Generator<Entry> {
  try {
    let a = left.next();
    let b = right.next();
    while (!a.done || !b.done) {
      if (!a.done && (b.done || precedes(a.value, b.value))) {
        yield a.value;
        a = left.next();
      } else if (!b.done) {
        yield b.value;
        b = right.next();
      }
    }
  } finally {
    left.return(undefined);
    right.return(undefined);
  }
}

/** The versions between which a list or a watch may begin. */
export interface Versions {
  /** The last committed write. */
  readonly current: number;
  /** Everything after this one is in the history. */
  readonly floor: number;
}

/** Refuses a version whose history is gone, or that this store has not reached. */
export const checkVersion = (version: number, versions: Versions): StoreError | undefined => {
  if (version > versions.current) {
    return {
      code: 'Expired',
      message: `too old resource version: ${version} is not of this store, which is at ${versions.current}; list again`,
    };
  }
  if (version < versions.floor) {
    return { code: 'Expired', message: `too old resource version: ${version}, the history begins after ${versions.floor}; list again` };
  }
  return undefined;
};

/** One page. */
export const listPage = (rows: Rows, kind: KindName, options: ListOptions, versions: Versions): ReadResult<Page<Resource>> => {
  const selection = readSelection(kind, options);
  if (!selection.ok) return selection;
  const limit = options.limit || Number.POSITIVE_INFINITY;
  if (limit < 1 || (options.limit && !Number.isSafeInteger(options.limit)))
    return failed('BadRequest', `limit: ${options.limit} is not a whole number from 0 on`);
  const start: Position = { version: versions.current, namespace: '', name: '' };
  const position = options.continue ? decode(options.continue) : start;
  if (!position || position.version < 0) return failed('BadRequest', 'continue: not a token that this store gave; list again without it');
  const expired = checkVersion(position.version, versions);
  if (expired) return { ok: false, error: expired };

  const { sql, values } = queryFor(rows, selection.value, position);
  const current = entries(rows.iterate(sql, values));
  const source = position.version === versions.current ? current : merged(current, entries(rows.before(kind, position.version, position)));
  const items: Resource[] = [];
  const resourceVersion = String(position.version);
  for (const entry of source) {
    const object = parseStored(entry.text);
    if (!isSelected(selection.value, object)) continue;
    if (items.length === limit) {
      const last = items.at(-1)?.metadata;
      const next = encode({ version: position.version, namespace: last?.namespace ?? '', name: last?.name ?? '' });
      return { ok: true, value: { items, resourceVersion, continue: next } };
    }
    items.push(object);
  }
  return { ok: true, value: { items, resourceVersion } };
};
