/** What each write does inside a transaction. Everything is decided before the first row is written, so that a refusal leaves nothing behind. */
import type { Admit } from '../../api/admit.ts';
import type { Resource } from '../../api/meta.ts';
import { apiVersionOf, KINDS, type KindName } from '../../api/registry.ts';
import {
  type Conclusion,
  concludeUpdate,
  describe,
  type Prepared,
  prepareCreate,
  prepareDelete,
  prepareStatusUpdate,
  prepareUpdate,
} from '../../api/store-semantics.ts';
import type { DeleteOptions, StoreError, WriteOptions, WriteResult } from '../../ports/store.ts';
import { parseStored, type Row } from './rows.ts';
import type { Transaction } from './transaction.ts';

/** Bytes of JSON that one object may have. */
export const OBJECT_LIMIT = 1_572_864;
/** How often another name is tried when one that was made from generateName is taken. */
const NAME_TRIES = 8;

/** What writes need besides the transaction. */
export interface Environment {
  readonly admit: Admit;
  /** Milliseconds. */
  readonly now: () => number;
  readonly newUid: () => string;
}

type Result = WriteResult<Resource>;

const refused = (error: StoreError): Result => ({ ok: false, error });
const written = (object: Resource, warnings: readonly string[] = []): Result => ({ ok: true, object, warnings });

const notFound = (kind: KindName, namespace: string, name: string): Result =>
  refused({ code: 'NotFound', message: `${describe({ apiVersion: '', kind, metadata: { namespace, name } })} does not exist` });

/** Runs admission; then checks that what came out is still small enough. */
const admitted = (environment: Environment, prepared: Prepared, old: Resource | undefined, status: boolean): Result => {
  if (!prepared.ok) return prepared;
  const answer = environment.admit({
    operation: old ? 'update' : 'create',
    object: prepared.object,
    ...(old ? { old } : {}),
    ...(status ? { subresource: 'status' } : {}),
  });
  if (!answer.ok) return refused({ code: 'Invalid', message: answer.message, causes: answer.causes });
  const bytes = Buffer.byteLength(JSON.stringify(answer.object));
  if (bytes > OBJECT_LIMIT) {
    return refused({ code: 'TooLarge', message: `${describe(answer.object)} has ${bytes} bytes of JSON, ${OBJECT_LIMIT} are allowed` });
  }
  return written(answer.object, answer.warnings);
};

/** Finds a name for generateName that is not taken; undefined names are refused by the preparation. */
const prepareNamed = (transaction: Transaction, environment: Environment, given: Resource): Prepared => {
  const now = environment.now();
  let prepared = prepareCreate(given, { uid: environment.newUid(), now });
  for (let tries = 1; tries < NAME_TRIES && prepared.ok && !given.metadata.name; tries++) {
    const { kind, metadata } = prepared.object;
    if (!transaction.rows.byName(kind, metadata.namespace ?? '', metadata.name)) break;
    prepared = prepareCreate(given, { uid: environment.newUid(), now });
  }
  return prepared;
};

/** A namespace exists from its first use on; one that is being deleted takes nothing new. */
const enterNamespace = (transaction: Transaction, environment: Environment, name: string): Resource | StoreError | undefined => {
  const namespace = transaction.rows.namespace(name);
  if (namespace?.deleting)
    return { code: 'Forbidden', message: `Namespace ${JSON.stringify(name)} is being deleted; nothing can be created in it` };
  if (namespace) return undefined;
  const prepared = prepareCreate(
    { apiVersion: apiVersionOf(KINDS.Namespace), kind: 'Namespace', metadata: { name } },
    { uid: environment.newUid(), now: environment.now() },
  );
  return prepared.ok ? prepared.object : prepared.error;
};

/** Creates an object, and its namespace when that is not there yet. */
export const createObject = (transaction: Transaction, environment: Environment, given: Resource, options: WriteOptions): Result => {
  const prepared = prepareNamed(transaction, environment, given);
  const result = admitted(environment, prepared, undefined, false);
  if (!result.ok) return result;
  const { kind, metadata } = result.object;
  if (transaction.rows.byName(kind, metadata.namespace ?? '', metadata.name)) {
    return refused({ code: 'AlreadyExists', message: `${describe(result.object)} exists already` });
  }
  const namespace = metadata.namespace === undefined ? undefined : enterNamespace(transaction, environment, metadata.namespace);
  if (namespace && 'code' in namespace) return refused(namespace);
  if (options.dryRun) return result;
  if (namespace) transaction.create(namespace);
  return written(transaction.create(result.object), result.warnings);
};

/** Carries out what was concluded. The answer to a deletion is the object's last state. */
const carryOut = (transaction: Transaction, row: Row, conclusion: Conclusion, dryRun: boolean): Resource => {
  if (conclusion.change === 'none') return parseStored(row.text);
  if (dryRun) return conclusion.object;
  return conclusion.change === 'written' ? transaction.replace(row, conclusion.object) : transaction.remove(row, conclusion.object);
};

/** Updates metadata and content, or the status alone. */
export const updateObject = (
  transaction: Transaction,
  environment: Environment,
  given: Resource,
  options: WriteOptions & { readonly status: boolean },
): Result => {
  const kind = given.kind as KindName;
  const namespace = placeOf(kind, given.metadata.namespace);
  const row = transaction.rows.byName(kind, namespace, given.metadata.name);
  if (!row) return notFound(kind, namespace, given.metadata.name);
  const old = parseStored(row.text);
  const placed: Resource = namespace === '' ? given : { ...given, metadata: { ...given.metadata, namespace } };
  const prepared = options.status ? prepareStatusUpdate(old, placed) : prepareUpdate(old, placed);
  const result = admitted(environment, prepared, old, options.status);
  if (!result.ok) return result;
  const conclusion = concludeUpdate(old, result.object);
  return written(carryOut(transaction, row, conclusion, options.dryRun === true), result.warnings);
};

/** Deletes an object, or marks it while finalizers hold it. */
export const deleteObject = (
  transaction: Transaction,
  environment: Environment,
  target: { readonly kind: KindName; readonly namespace: string; readonly name: string },
  options: DeleteOptions,
): Result => {
  const namespace = placeOf(target.kind, target.namespace);
  const row = transaction.rows.byName(target.kind, namespace, target.name);
  if (!row) return notFound(target.kind, namespace, target.name);
  const prepared = prepareDelete(parseStored(row.text), options, environment.now());
  if (!prepared.ok) return prepared;
  return written(carryOut(transaction, row, prepared.conclusion, options.dryRun === true));
};

/** The namespace under which an object is kept: empty for cluster-scoped kinds, `default` when a namespaced kind names none. */
export const placeOf = (kind: KindName, namespace: string | undefined): string => (KINDS[kind].namespaced ? namespace || 'default' : '');
