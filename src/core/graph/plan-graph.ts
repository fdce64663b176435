/** From the environments of a Pipeline and the intent of a Bundle to the nodes of its Graph. */

import { type Dependencies, dependencyEdges, type OrderedEnvironment } from '../../api/dependency-edges.ts';
import type { GraphNode } from '../../api/kinds/graph.ts';
import type { Reason } from '../../api/outcome.ts';
import { topological } from './order.ts';
import { graphProblems, listed, validateGraph } from './validate-graph.ts';

/** The target of a Bundle that names none. */
export const DEFAULT_TARGET = 'prod';
/** When a PromotionStep is ready and its successors may start: CEL over the PromotionStep as `self`; an error counts as "not yet". */
export const STEP_READY = 'self.status.state == "Verified"';

/** A gate to put in front of an environment. */
export interface GateNode {
  /** Unique among gates and environments. */
  readonly id: string;
  readonly environment: string;
  /** CEL over the gate as `self`. */
  readonly readyWhen?: string;
}

export interface GraphInput {
  readonly environments: readonly OrderedEnvironment[];
  /** `prod` when absent or empty. */
  readonly targetEnvironment?: string;
  readonly skip: readonly string[];
  /** Gates of environments out of scope are left out. */
  readonly gates?: readonly GateNode[];
}

/** Nodes in topological order, or why there can be no Graph. */
export type GraphPlan =
  | { readonly ok: true; readonly nodes: readonly GraphNode[]; readonly warnings: readonly Reason[] }
  | { readonly ok: false; readonly reason: Reason };

type Edges = ReadonlyMap<string, readonly string[]>;

const refused = (code: string, message: string): GraphPlan => ({ ok: false, reason: { code, message } });

/** Those environments and everything they wait for, directly or through others. */
const closure = (edges: Edges, roots: readonly string[]): ReadonlySet<string> => {
  const inside = new Set(roots);
  for (const name of inside) {
    for (const dependency of edges.get(name) ?? []) inside.add(dependency);
  }
  return inside;
};

/** Environments to be promoted to, skipped ones still included. What is in scope brings what it depends on, even if listed after the target. */
const scopeOf = (edges: Edges, target: string): ReadonlySet<string> => {
  const names = [...edges.keys()];
  if (target !== DEFAULT_TARGET) return closure(edges, [target]);
  const last = names.indexOf(DEFAULT_TARGET);
  return closure(edges, last < 0 ? names : names.slice(0, last + 1));
};

/** Dependencies in scope without the skipped ones, whose own dependencies take their place; in the order of the list. */
const inherited = (edges: Edges, scope: ReadonlySet<string>, skip: ReadonlySet<string>): readonly Dependencies[] => {
  const position = new Map([...edges.keys()].map((name, index) => [name, index]));
  const effective = new Map<string, readonly string[]>();
  const nodes = [...scope].map((id) => ({ id, dependsOn: edges.get(id) ?? [] }));
  for (const { id, dependsOn } of topological(nodes).sorted) {
    const names = dependsOn.flatMap((name) => (skip.has(name) ? (effective.get(name) ?? []) : [name]));
    effective.set(
      id,
      [...new Set(names)].sort((a, b) => (position.get(a) ?? 0) - (position.get(b) ?? 0)),
    );
  }
  return [...edges.keys()]
    .filter((name) => scope.has(name) && !skip.has(name))
    .map((environment) => ({ environment, dependsOn: effective.get(environment) ?? [] }));
};

/** The nodes of one environment: its gates wait for what it waits for, and it waits for both. */
const nodesOf = ({ environment, dependsOn }: Dependencies, gates: readonly GateNode[]): readonly GraphNode[] => {
  const own = gates.filter((gate) => gate.environment === environment);
  return [
    ...own.map((gate) => ({
      id: gate.id,
      kind: 'PolicyGate',
      environment,
      dependsOn: [...dependsOn],
      ...(gate.readyWhen === undefined ? {} : { readyWhen: gate.readyWhen, propagateWhen: gate.readyWhen }),
    })),
    {
      id: environment,
      kind: 'PromotionStep',
      environment,
      dependsOn: [...dependsOn, ...own.map((gate) => gate.id)],
      readyWhen: STEP_READY,
      propagateWhen: STEP_READY,
    },
  ];
};

const intentProblem = (edges: Edges, target: string, skip: readonly string[]): GraphPlan | undefined => {
  const names = listed(edges.keys());
  if (target !== DEFAULT_TARGET && !edges.has(target)) {
    return refused('UnknownTarget', `intent.targetEnvironment is "${target}", which the Pipeline does not have; it has: ${names}.`);
  }
  const unknown = skip.filter((name) => !edges.has(name));
  if (unknown.length > 0) {
    return refused(
      'UnknownSkip',
      `intent.skipEnvironments names "${listed(unknown)}", which the Pipeline does not have; it has: ${names}.`,
    );
  }
  return skip.includes(target)
    ? refused('TargetSkipped', `intent.skipEnvironments names "${target}", which is the target; a Bundle cannot skip where it is to end.`)
    : undefined;
};

const skipWarnings = (skip: ReadonlySet<string>, scope: ReadonlySet<string>, target: string): readonly Reason[] =>
  [...skip]
    .filter((name) => !scope.has(name))
    .map((name) => ({
      code: 'SkipOutOfScope',
      message: `intent.skipEnvironments names "${name}", which would not be promoted to anyway, because the target is "${target}".`,
    }));

/** Plans the Graph of one Bundle. */
export const planGraph = (input: GraphInput): GraphPlan => {
  const problem = graphProblems(input.environments)[0];
  if (problem) return { ok: false, reason: problem };
  const edges: Edges = new Map(dependencyEdges(input.environments).map(({ environment, dependsOn }) => [environment, dependsOn]));
  const target = input.targetEnvironment || DEFAULT_TARGET;
  const intent = intentProblem(edges, target, input.skip);
  if (intent) return intent;
  const scope = scopeOf(edges, target);
  const skip = new Set(input.skip);
  const nodes = inherited(edges, scope, skip).flatMap((environment) => nodesOf(environment, input.gates ?? []));
  if (nodes.length === 0) return refused('NothingToPromote', 'Every environment of the Pipeline is skipped, or it has none.');
  // Ids of gates come from outside and could meet the name of an environment.
  const invalid = validateGraph({ pipeline: '', bundle: '', nodes }, () => undefined);
  return invalid
    ? { ok: false, reason: invalid }
    : { ok: true, nodes: topological(nodes).sorted, warnings: skipWarnings(skip, scope, target) };
};
