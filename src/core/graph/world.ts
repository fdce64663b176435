/** All that the decision about a Graph depends on. */
import type { Bundle } from '../../api/kinds/bundle.ts';
import type { Graph } from '../../api/kinds/graph.ts';
import type { PromotionStep } from '../../api/kinds/promotion-step.ts';
import type { GateSet } from '../gate/applies.ts';

export interface GraphWorld {
  readonly graph: Graph;
  readonly bundle: Bundle | undefined;
  readonly steps: readonly PromotionStep[];
  readonly gates: GateSet;
}
