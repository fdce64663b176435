/** The writes of one transaction: each takes the next version, goes into the history and leaves work for the collection of garbage. */
import type { OwnerReference, Resource } from '../../api/meta.ts';
import { KINDS } from '../../api/registry.ts';
import { FOREGROUND_FINALIZER, isKindName, ORPHAN_FINALIZER } from '../../api/store-semantics.ts';
import { type Change, parseStored, type Row, type Rows } from './rows.ts';

/** Whether an owner is there: `waiting` when it only waits for its dependents to go. */
export type OwnerState = 'present' | 'waiting' | 'gone';

/** The state of the owner that a reference in this namespace names. Owners of kinds that this store does not serve count as present. */
export const ownerState = (rows: Rows, owner: OwnerReference, namespace: string): OwnerState => {
  if (!isKindName(owner.kind)) return 'present';
  const row = rows.byUid(owner.uid);
  const reachable = KINDS[owner.kind].namespaced ? namespace : '';
  if (!row || row.kind !== owner.kind || row.name !== owner.name || row.namespace !== reachable) return 'gone';
  if (!row.deleting) return 'present';
  return parseStored(row.text).metadata.finalizers?.includes(FOREGROUND_FINALIZER) ? 'waiting' : 'present';
};

/** Writes within one transaction. `changes` are what watchers are told once it is committed. */
export interface Transaction {
  readonly rows: Rows;
  readonly changes: readonly Change[];
  /** The version of the last write so far. */
  readonly version: number;
  create(object: Resource): Resource;
  replace(old: Row, object: Resource): Resource;
  remove(old: Row, object: Resource): Resource;
}

/** Whether the deletion of this object goes on only after others were looked at. */
const waitsForOthers = ({ kind, metadata }: Resource): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (kind === 'Namespace' ||
    (metadata.finalizers ?? []).some((finalizer) => finalizer === FOREGROUND_FINALIZER || finalizer === ORPHAN_FINALIZER));

const stamped = (object: Resource, version: number): Resource => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(version) },
});

/** Starts counting from the version that the database holds. */
export const beginTransaction = (rows: Rows): Transaction => {
  const changes: Change[] = [];
  let version = rows.meta('version');

  const record = (type: Change['type'], object: Resource, previous: string | undefined): string => {
    const text = JSON.stringify(object);
    const { name, namespace = '' } = object.metadata;
    const change = { version, kind: object.kind, namespace, name, type, text, previous };
    rows.record(change);
    changes.push(change);
    return text;
  };
  /** A dependent whose owner is not there, or waits for it, is looked at by the collection. */
  const noteOwners = (object: Resource): void => {
    for (const owner of object.metadata.ownerReferences ?? []) {
      if (ownerState(rows, owner, object.metadata.namespace ?? '') !== 'present') rows.enqueueGarbage(owner.uid);
    }
  };

  return {
    rows,
    changes,
    get version() {
      return version;
    },
    create(object) {
      version++;
      const stored = stamped(object, version);
      rows.insert(stored, version, record('ADDED', stored, undefined));
      noteOwners(stored);
      return stored;
    },
    replace(old, object) {
      version++;
      const stored = stamped(object, version);
      rows.replace(old, stored, version, record('MODIFIED', stored, old.text));
      noteOwners(stored);
      if (waitsForOthers(stored)) rows.enqueueGarbage(old.uid);
      return stored;
    },
    remove(old, object) {
      version++;
      const last = stamped(object, version);
      record('DELETED', last, old.text);
      rows.remove(old);
      if (rows.hasDependents(old.uid)) rows.enqueueGarbage(old.uid);
      for (const owner of last.metadata.ownerReferences ?? []) if (rows.byUid(owner.uid)?.deleting) rows.enqueueGarbage(owner.uid);
      const namespace = rows.namespace(old.namespace);
      if (namespace?.deleting) rows.enqueueGarbage(namespace.uid);
      return last;
    },
  };
};
