/** What can be wrong with the dependencies of a Pipeline or of a Graph, each as a code and a sentence. */

import { dependencyEdges, type OrderedEnvironment } from '../../api/dependency-edges.ts';
import type { GraphSpec } from '../../api/kinds/graph.ts';
import type { Reason } from '../../api/outcome.ts';
import { findCycle, type Waiting } from './order.ts';

const nameless = (nodes: readonly Waiting[], what: string): readonly Reason[] =>
  nodes.flatMap((node, index) =>
    node.id === '' ? [{ code: 'NodeWithoutName', message: `${what} ${index + 1} in the list has no name.` }] : [],
  );

const duplicates = (nodes: readonly Waiting[], what: string): readonly Reason[] => {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { id } of nodes) (seen.has(id) ? twice : seen).add(id);
  return [...twice].map((id) => ({ code: 'DuplicateNode', message: `${what} "${id}" is there more than once; names must be unique.` }));
};

const missing = (nodes: readonly Waiting[], what: string): readonly Reason[] => {
  const known = new Set(nodes.map((node) => node.id));
  return nodes.flatMap((node) =>
    node.dependsOn
      .filter((id) => !known.has(id))
      .map((id) => ({
        code: 'MissingNode',
        message: `${what} "${node.id}" depends on "${id}", which does not exist; there are: ${listed(known)}.`,
      })),
  );
};

const LISTED = 20;
/** Names for a message, cut where it would get too long. */
export const listed = (names: Iterable<string>): string => {
  const all = [...names];
  const shown = all.slice(0, LISTED).join(', ');
  return all.length > LISTED ? `${shown} and ${all.length - LISTED} more` : shown;
};

const cycles = (nodes: readonly Waiting[], what: string): readonly Reason[] => {
  const found: Reason[] = [];
  let left = nodes;
  for (let cycle = findCycle(left); cycle !== undefined; cycle = findCycle(left)) {
    found.push({ code: 'Cycle', message: `${what} dependencies form a cycle: ${cycle.join(' → ')} (each waits for the next).` });
    const members = new Set(cycle);
    left = left.filter((node) => !members.has(node.id));
  }
  return found;
};

const structuralProblems = (nodes: readonly Waiting[], what: string): readonly Reason[] => {
  const identity = [...nameless(nodes, what), ...duplicates(nodes, what)];
  // Dependencies by name mean nothing while a name stands for two nodes.
  return identity.length > 0 ? identity : [...missing(nodes, what), ...cycles(nodes, what)];
};

/** Everything that keeps the environments of a Pipeline from being promoted in any order: names missing or repeated, unknown dependencies, cycles. */
export const graphProblems = (environments: readonly OrderedEnvironment[]): readonly Reason[] =>
  structuralProblems(
    dependencyEdges(environments).map(({ environment, dependsOn }) => ({ id: environment, dependsOn })),
    'Environment',
  );

/** The first thing that is wrong with a Graph, undefined when it can be accepted. `checkCel` returns what is wrong with an expression, if anything. */
export const validateGraph = (spec: GraphSpec, checkCel: (expression: string) => string | undefined): Reason | undefined => {
  const structural = structuralProblems(spec.nodes, 'Node')[0];
  if (structural) return structural;
  for (const node of spec.nodes) {
    for (const field of ['readyWhen', 'propagateWhen'] as const) {
      const expression = node[field];
      const error = expression === undefined ? undefined : checkCel(expression);
      if (error !== undefined) {
        return { code: 'InvalidCEL', message: `Node "${node.id}": ${field} is no valid CEL expression: ${error}` };
      }
    }
  }
  return undefined;
};
