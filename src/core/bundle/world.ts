/** All that the decision about a Bundle depends on. */
import type { Bundle } from '../../api/kinds/bundle.ts';
import type { Graph } from '../../api/kinds/graph.ts';
import type { Pipeline } from '../../api/kinds/pipeline.ts';
import type { PromotionStep } from '../../api/kinds/promotion-step.ts';
import type { GateSet } from '../gate/applies.ts';

export interface BundleWorld {
  readonly bundle: Bundle;
  readonly pipeline: Pipeline | undefined;
  /** Every Bundle whose label names the same Pipeline, this one included. */
  readonly siblings: readonly Bundle[];
  /** The Graph that this very Bundle owns. */
  readonly graph: Graph | undefined;
  /** Whether a Graph of the Bundle's name exists that it does not own. */
  readonly graphTaken: boolean;
  /** The PromotionSteps of this Bundle. */
  readonly steps: readonly PromotionStep[];
  readonly gates: GateSet;
  /** Names of the AuditEvents about this Bundle. */
  readonly audits: ReadonlySet<string>;
  /** Milliseconds. */
  readonly auditRetentionMs: number;
}
