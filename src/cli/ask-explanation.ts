/** Asks why a Pipeline stands where it stands: gather and decide as the controllers do, over what the server says. */
import { type Explanation, explain } from '../core/explain/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { ClusterReader } from '../ports/cluster.ts';
import type { ReadResult, Store } from '../ports/store.ts';
import { gatherExplanation } from '../world/gather-explanation.ts';

/** Where the answer is read from. */
export interface ExplanationSource {
  readonly store: Store;
  readonly cluster: ClusterReader;
  readonly clock: Clock;
  /** Namespace of org gates. */
  readonly policyNamespace: string;
}

/** What is asked. */
export interface ExplanationQuestion {
  readonly namespace: string;
  readonly pipeline: string;
  /** Only this environment. */
  readonly env?: string;
}

const AUDIT_RETENTION_MS = 90 * 86_400_000;

/** The explanation; NotFound when there is no such Pipeline. */
export const askExplanation = async (source: ExplanationSource, question: ExplanationQuestion): Promise<ReadResult<Explanation>> => {
  const { store, cluster, clock, policyNamespace } = source;
  // Who asks has observed nothing itself: the controller's observations are taken for contiguous.
  const context = { store, fresh: false, policyNamespace, auditRetentionMs: AUDIT_RETENTION_MS, observingSince: 0 };
  const { namespace, pipeline, env } = question;
  const world = await gatherExplanation(context, cluster, { namespace, pipeline });
  return world.ok ? { ok: true, value: explain(world.value, clock.now(), env) } : world;
};
