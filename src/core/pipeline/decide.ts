/** The decision about one Pipeline: what is wrong with it, and which of its Bundles are past its history (spec, "historyLimit"). */
import type { Bundle } from '../../api/kinds/bundle.ts';
import type { Pipeline } from '../../api/kinds/pipeline.ts';
import type { PromotionStep } from '../../api/kinds/promotion-step.ts';
import type { Reason } from '../../api/outcome.ts';
import { resolveEnvironments } from '../../api/resolve.ts';
import { bundleAudits, stepAudits } from '../audit/due.ts';
import { isFinished } from '../bundle/phases.ts';
import { mergeRecords } from '../bundle/records.ts';
import { withCondition } from '../conditions.ts';
import type { Decision, ResourceEffect } from '../effect.ts';
import { equal } from '../equal.ts';
import { graphProblems } from '../graph/validate-graph.ts';
import { unsupportedBy } from '../step/sequence.ts';

/** All that the decision about a Pipeline depends on. */
export interface PipelineWorld {
  readonly pipeline: Pipeline;
  /** Every Bundle whose label names it. */
  readonly bundles: readonly Bundle[];
  /** Every PromotionStep whose label names it. */
  readonly steps: readonly PromotionStep[];
  /** Names of the AuditEvents about each Bundle that is past the history, by the Bundle's name. */
  readonly audits: ReadonlyMap<string, ReadonlySet<string>>;
  /** Milliseconds. */
  readonly auditRetentionMs: number;
}

const DEFAULT_HISTORY = 20;
const problemOf = (pipeline: Pipeline): Reason | undefined => {
  const environments = resolveEnvironments(pipeline);
  const graph = graphProblems(environments)[0];
  if (graph) return graph;
  for (const environment of environments) {
    const refused = unsupportedBy(environment, undefined);
    if (refused) return refused;
  }
  return undefined;
};

const newestFirst = (a: Bundle, b: Bundle): number => (b.status?.sequence ?? 0) - (a.status?.sequence ?? 0);

/** What each environment runs (the newest commit that landed there, Verified or not), and what a rollback of it would go back to. */
const neededByEnvironments = (newest: readonly Bundle[], steps: readonly PromotionStep[]): ReadonlySet<Bundle> => {
  const needed = new Set<Bundle>();
  const live = new Set<string>();
  const target = new Set<string>();
  for (const bundle of newest) {
    const own = steps.filter((step) => step.spec?.bundle === bundle.metadata.name);
    for (const record of mergeRecords(bundle.status?.environments, own)) {
      if (!live.has(record.name) && (record.commit !== undefined || record.verifiedAt !== undefined)) {
        live.add(record.name);
        needed.add(bundle);
      } else if (live.has(record.name) && !target.has(record.name) && record.verifiedAt !== undefined) {
        target.add(record.name);
        needed.add(bundle);
      }
    }
  }
  return needed;
};

/** Finished Bundles beyond the limit that no environment runs and none would go back to. */
export const pastHistory = (world: Pick<PipelineWorld, 'pipeline' | 'bundles' | 'steps'>): readonly Bundle[] => {
  const ordered = world.bundles.filter((bundle) => bundle.metadata.deletionTimestamp === undefined).sort(newestFirst);
  const needed = neededByEnvironments(ordered, world.steps);
  const limit = world.pipeline.spec?.historyLimit ?? DEFAULT_HISTORY;
  return ordered.slice(limit).filter((bundle) => isFinished(bundle.status) && bundle.status?.sequence !== undefined && !needed.has(bundle));
};

/** Whether every event of the Bundle exists: one that is still owed could not be made once the Bundle is gone. */
const audited = (world: PipelineWorld, bundle: Bundle, now: number): boolean => {
  const state = { existing: world.audits.get(bundle.metadata.name) ?? new Set<string>(), retentionMs: world.auditRetentionMs, now };
  const steps = world.steps.filter((step) => step.spec?.bundle === bundle.metadata.name);
  const owed = steps.flatMap((step) => stepAudits(bundle, step.spec?.environment ?? '', step.status?.transitions, state));
  return owed.length === 0 && bundleAudits(bundle, state).length === 0;
};

/** What to do about a Pipeline now. */
export const decidePipeline = (world: PipelineWorld, now: number): Decision => {
  const { pipeline } = world;
  if (pipeline.metadata.deletionTimestamp !== undefined)
    return { writes: [], reason: { code: 'Deleting', message: 'the Pipeline is being deleted' } };
  const problem = problemOf(pipeline);
  const reason = problem ?? { code: 'Ready', message: 'Bundles of this Pipeline can be promoted' };
  const generation = pipeline.metadata.generation ?? 1;
  const conditions = withCondition(
    pipeline.status?.conditions,
    { type: 'Ready', status: problem ? 'False' : 'True', reason, generation },
    now,
  );
  const status = { ...pipeline.status, conditions, observedGeneration: generation };
  const writes: ResourceEffect[] = equal(pipeline.status ?? {}, status) ? [] : [{ kind: 'UpdateStatus', object: { ...pipeline, status } }];
  for (const bundle of pastHistory(world).filter((candidate) => audited(world, candidate, now))) {
    const ref = { kind: 'Bundle', namespace: bundle.metadata.namespace ?? 'default', name: bundle.metadata.name } as const;
    const { uid = '', resourceVersion } = bundle.metadata;
    // Only as it was seen: a Bundle that has come back to life meanwhile (its status was lost, say) is kept.
    writes.push({ kind: 'DeleteResource', ref, uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) });
  }
  return { writes, reason };
};
