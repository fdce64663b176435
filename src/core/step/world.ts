/** All that the decision about a PromotionStep depends on. */
import type { Bundle } from '../../api/kinds/bundle.ts';
import type { Deployment } from '../../api/kinds/native.ts';
import type { Pipeline } from '../../api/kinds/pipeline.ts';
import type { PromotionStep } from '../../api/kinds/promotion-step.ts';
import type { Outcome } from '../../api/outcome.ts';
import type { GateSet } from '../gate/applies.ts';
import type { GraphWorld } from '../graph/world.ts';

export interface StepWorld {
  readonly step: PromotionStep;
  readonly bundle: Bundle | undefined;
  readonly pipeline: Pipeline | undefined;
  /** The Graph that owns the step, with the Bundle's steps: what decides whether it may start. Absent when the step has started. */
  readonly graph: GraphWorld | undefined;
  /** Every Bundle whose label names the same Pipeline. */
  readonly siblings: readonly Bundle[];
  readonly gates: GateSet;
  /** What the health target shows; absent unless health is being checked. */
  readonly workloads: Outcome<readonly Deployment[]> | undefined;
  /** When the running controller began to observe, in milliseconds. */
  readonly observingSince: number;
  /** Names of the AuditEvents about the Bundle. */
  readonly audits: ReadonlySet<string>;
  /** Milliseconds. */
  readonly auditRetentionMs: number;
}
