/** Order and circles in any directed graph whose nodes name what they wait for. */

/** A node by id and the ids it waits for. */
export interface Waiting {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

/** The nodes with every dependency before its dependents (else in the given order), and those that can never start. */
export interface Order<T extends Waiting> {
  readonly sorted: readonly T[];
  /** Nodes in a circle, or behind one or behind an unknown id. */
  readonly stuck: readonly T[];
}

/** Sorts topologically; among nodes that are free at the same time the order given is kept. Ids must be unique. */
export const topological = <T extends Waiting>(nodes: readonly T[]): Order<T> => {
  const placed = new Set<string>();
  const sorted: T[] = [];
  let stuck: readonly T[] = nodes;
  for (;;) {
    const left: T[] = [];
    for (const node of stuck) {
      if (!node.dependsOn.every((id) => placed.has(id))) {
        left.push(node);
        continue;
      }
      placed.add(node.id);
      sorted.push(node);
    }
    if (left.length === stuck.length) return { sorted, stuck };
    stuck = left;
  }
};

/** Ids along a circle, the first one again at the end; undefined when there is none. Unknown ids are passed over. */
export const findCycle = (nodes: readonly Waiting[]): readonly string[] | undefined => {
  const known = new Set(nodes.map((node) => node.id));
  const { stuck } = topological(nodes.map(({ id, dependsOn }) => ({ id, dependsOn: dependsOn.filter((name) => known.has(name)) })));
  const waiting = new Map(stuck.map((node) => [node.id, node.dependsOn]));
  const path: string[] = [];
  const position = new Map<string, number>();
  let at = stuck[0]?.id;
  while (at !== undefined) {
    const seen = position.get(at);
    if (seen !== undefined) return [...path.slice(seen), at];
    position.set(at, path.length);
    path.push(at);
    at = waiting.get(at)?.find((id) => waiting.has(id));
  }
  return undefined;
};
