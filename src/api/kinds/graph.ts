import type { Type } from 'typebox';
import { conditionsSchema, type TypedResource } from '../meta.ts';
import { fields, integer, list, optional, record, text } from '../schema.ts';

/** One node of a Graph. */
export const graphNodeSchema = record(
  {
    id: text('Unique within the Graph.', { maxLength: 253 }),
    kind: text('`PromotionStep` or `PolicyGate`.', { maxLength: 63 }),
    environment: text('The environment it belongs to.', { maxLength: 63 }),
    dependsOn: list(text('Node id.', { maxLength: 253 }), 'Nodes that must be ready first.', { maxItems: 512 }),
    readyWhen: optional(text('CEL over `self`: when the node is ready.', { maxLength: 4096 })),
    propagateWhen: optional(text('CEL over `self`: when its successors may start.', { maxLength: 4096 })),
  },
  'A node.',
);

/** Graph.spec. */
export const graphSpecSchema = record(
  {
    pipeline: text('The Pipeline it was generated from.', { maxLength: 253 }),
    bundle: text('The Bundle it carries.', { maxLength: 253 }),
    nodes: list(graphNodeSchema, 'Nodes in topological order.', { maxItems: 2048 }),
  },
  'The dependency graph of one Bundle.',
);

/** Graph.status. */
export const graphStatusSchema = fields(
  { conditions: conditionsSchema, observedGeneration: integer('The generation that this status speaks of.') },
  'Whether the graph is accepted and complete.',
);

export type GraphNode = Type.Static<typeof graphNodeSchema>;
export type GraphSpec = Type.Static<typeof graphSpecSchema>;
export type GraphStatus = Type.Static<typeof graphStatusSchema>;
/** The dependency graph of one Bundle, owned by it and created by the engine only. */
export type Graph = TypedResource<'Graph', GraphSpec, GraphStatus>;
