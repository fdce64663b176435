/** Reading for a World: every read either succeeds or ends the gathering with the reason why there is no World now. */

import { labelValue } from '../api/names.ts';
import type { KindMap, KindName } from '../api/registry.ts';
import type { GateSet } from '../core/gate/applies.ts';
import { PIPELINE_LABEL } from '../core/labels.ts';
import type { Store, StoreError } from '../ports/store.ts';

/** A read that failed for another reason than that the thing does not exist. */
export class Unreadable extends Error {
  readonly error: StoreError;
  constructor(error: StoreError) {
    super(error.message);
    this.error = error;
  }
}

/** How a World is read. */
export interface ReadContext {
  readonly store: Store;
  /** Read the latest versions: for decisions right before an outside write. */
  readonly fresh: boolean;
  readonly policyNamespace: string;
  /** Milliseconds. */
  readonly auditRetentionMs: number;
  /** When this controller began to observe, in milliseconds. */
  readonly observingSince: number;
}

/** The resource, or undefined when it does not exist. */
export const readOne = async <K extends KindName>(
  context: ReadContext,
  kind: K,
  namespace: string,
  name: string,
): Promise<KindMap[K] | undefined> => {
  if (name === '') return undefined;
  const read = await context.store.get(kind, namespace, name, { fresh: context.fresh });
  if (read.ok) return read.value;
  if (read.error.code === 'NotFound') return undefined;
  throw new Unreadable(read.error);
};

/** All resources of the namespace with that label. */
export const readLabelled = async <K extends KindName>(
  context: ReadContext,
  kind: K,
  namespace: string,
  label: readonly [string, string],
): Promise<readonly KindMap[K][]> => {
  const labelSelector = `${label[0]}=${labelValue(label[1])}`;
  const read = await context.store.list(kind, { namespace, labelSelector, fresh: context.fresh });
  if (read.ok) return read.value.items;
  throw new Unreadable(read.error);
};

/** Every Bundle of the Pipeline. */
export const readSiblings = (context: ReadContext, namespace: string, pipeline: string) =>
  pipeline === '' ? Promise.resolve([]) : readLabelled(context, 'Bundle', namespace, [PIPELINE_LABEL, pipeline]);

/** No gates, for what asks nothing of them any more. */
export const noGates = ({ policyNamespace }: ReadContext): GateSet => ({ policyNamespace, gates: [] });

/** The PolicyGates that could apply in the namespace. */
export const readGates = async (context: ReadContext, namespace: string): Promise<GateSet> => {
  const { policyNamespace, store, fresh } = context;
  const namespaces = namespace === policyNamespace ? [namespace] : [policyNamespace, namespace];
  const gates = [];
  for (const place of namespaces) {
    const read = await store.list('PolicyGate', { namespace: place, fresh });
    if (!read.ok) throw new Unreadable(read.error);
    gates.push(...read.value.items);
  }
  return { policyNamespace, gates };
};

/** Which of these AuditEvents exist. */
export const readAudits = async (context: ReadContext, names: readonly string[], namespace: string): Promise<ReadonlySet<string>> => {
  const existing = new Set<string>();
  for (const name of names) {
    if (await readOne(context, 'AuditEvent', namespace, name)) existing.add(name);
  }
  return existing;
};
