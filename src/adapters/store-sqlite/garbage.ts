/**
 * The collection of garbage: dependents of owners that are gone, owners that wait for their dependents, and the content of namespaces that are
 * being deleted. It works from a durable list, a bounded number of objects a transaction, so a restart goes on where it was.
 */
import type { OwnerReference, Resource } from '../../api/meta.ts';
import {
  FOREGROUND_FINALIZER,
  ORPHAN_FINALIZER,
  prepareDelete,
  withFinalizers,
  withOwners,
  withoutContent,
} from '../../api/store-semantics.ts';
import { parseStored, type Row } from './rows.ts';
import { ownerState, type Transaction } from './transaction.ts';

/** Objects looked at in one transaction. */
const BATCH = 200;

const deleteRow = (transaction: Transaction, row: Row, now: number, propagation?: 'foreground'): void => {
  const prepared = prepareDelete(parseStored(row.text), { propagation }, now);
  if (!prepared.ok) return;
  const { conclusion } = prepared;
  if (conclusion.change === 'deleted') transaction.remove(row, conclusion.object);
  else if (conclusion.change === 'written') transaction.replace(row, conclusion.object);
};

/** Writes an object that has lost a finalizer; deletes it when that was the last thing that held it. */
const settle = (transaction: Transaction, row: Row, object: Resource, now: number): void => {
  const prepared = prepareDelete(object, {}, now);
  if (prepared.ok && prepared.conclusion.change === 'deleted') transaction.remove(row, prepared.conclusion.object);
  else transaction.replace(row, object);
};

const dropFinalizer = (transaction: Transaction, row: Row, finalizer: string, now: number): void => {
  const object = parseStored(row.text);
  const rest = (object.metadata.finalizers ?? []).filter((present) => present !== finalizer);
  settle(transaction, row, withFinalizers(object, rest), now);
};

/** Deletes a dependent that no present owner holds; else drops the references to owners that are gone. */
const collect = (transaction: Transaction, row: Row, now: number): void => {
  if (row.deleting) return;
  const object = parseStored(row.text);
  const owners = (object.metadata.ownerReferences ?? []).map((owner) => ({
    owner,
    state: ownerState(transaction.rows, owner, row.namespace),
  }));
  const present = owners.filter(({ state }) => state === 'present').map(({ owner }) => owner);
  if (present.length === owners.length) return;
  if (present.length > 0) {
    transaction.replace(row, withOwners(object, present));
    return;
  }
  const waited = owners.some(({ state }) => state === 'waiting');
  deleteRow(transaction, row, now, waited && transaction.rows.hasBlockingDependents(row.uid) ? 'foreground' : undefined);
};

const orphan = (transaction: Transaction, row: Row, owner: string): void => {
  const object = parseStored(row.text);
  const others: OwnerReference[] = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner);
  transaction.replace(row, withOwners(object, others));
};

interface Item {
  readonly owner: string;
  readonly cursor: number;
}

/** Goes over a batch of rows; notes where to go on, and says whether that was all. */
const walk = (transaction: Transaction, item: Item, rows: readonly Row[], visit: (row: Row) => void): boolean => {
  for (const row of rows) {
    const current = transaction.rows.byId(row.id);
    if (current) visit(current);
  }
  const last = rows.at(-1);
  if (!last || rows.length < BATCH) return true;
  transaction.rows.enqueueGarbage(item.owner, last.id);
  return false;
};

const emptyNamespace = (transaction: Transaction, item: Item, namespace: Row, now: number): void => {
  const { rows } = transaction;
  const all = walk(transaction, item, rows.inNamespace(namespace.name, item.cursor, BATCH), (row) => {
    if (!row.deleting) deleteRow(transaction, row, now);
  });
  if (!all || rows.inNamespace(namespace.name, 0, 1).length > 0) return;
  const current = rows.byId(namespace.id);
  if (current) settle(transaction, current, withoutContent(parseStored(current.text)), now);
};

const lookAt = (transaction: Transaction, item: Item, now: number): void => {
  const { rows } = transaction;
  const owner = rows.byUid(item.owner);
  const finalizers = owner?.deleting ? (parseStored(owner.text).metadata.finalizers ?? []) : [];
  if (owner?.kind === 'Namespace' && owner.deleting) {
    emptyNamespace(transaction, item, owner, now);
    return;
  }
  const orphaning = finalizers.includes(ORPHAN_FINALIZER);
  const all = walk(transaction, item, rows.dependents(item.owner, item.cursor, BATCH), (row) => {
    if (orphaning) orphan(transaction, row, item.owner);
    else collect(transaction, row, now);
  });
  const current = rows.byUid(item.owner);
  if (!all || !current) return;
  if (orphaning) dropFinalizer(transaction, current, ORPHAN_FINALIZER, now);
  else if (finalizers.includes(FOREGROUND_FINALIZER) && !rows.hasBlockingDependents(item.owner)) {
    dropFinalizer(transaction, current, FOREGROUND_FINALIZER, now);
  }
};

/** Does one piece of the work that is noted; true when there may be more. */
export const collectGarbage = (transaction: Transaction, now: number): boolean => {
  const item = transaction.rows.nextGarbage();
  if (!item) return false;
  // Taken off first: what happens to the dependents may note the same owner again.
  transaction.rows.dropGarbage(item.owner);
  lookAt(transaction, item, now);
  return transaction.rows.hasGarbage();
};
