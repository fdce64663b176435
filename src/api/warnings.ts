/** What is admitted but most likely not meant: said as a warning at once, and by a condition later. */

import { dependencyEdges } from './dependency-edges.ts';
import type { Bundle } from './kinds/bundle.ts';
import type { Environment, Pipeline } from './kinds/pipeline.ts';

/** The label that ties a Bundle to its Pipeline. */
export const PIPELINE_LABEL = 'promoter.io/pipeline';

const dependencies = (environments: readonly Environment[]): ReadonlyMap<string, readonly string[]> => {
  const ordered = environments.map(({ name = '', dependsOn = [], wave = 0 }) => ({
    name,
    dependsOn: dependsOn.length === 0 ? undefined : dependsOn,
    wave,
  }));
  return new Map(dependencyEdges(ordered).map(({ environment, dependsOn }) => [environment, dependsOn]));
};

/** One cycle among the dependencies, from `dependsOn`, waves and the order of the list, as the names along it (the first again at the end); undefined when there is none. */
export const dependencyCycle = (environments: readonly Environment[]): readonly string[] | undefined => {
  const edges = dependencies(environments);
  const done = new Set<string>();
  const walk = (name: string, path: readonly string[]): readonly string[] | undefined => {
    const start = path.indexOf(name);
    if (start >= 0) return [...path.slice(start), name];
    if (done.has(name)) return undefined;
    for (const next of edges.get(name) ?? []) {
      const found = walk(next, [...path, name]);
      if (found !== undefined) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const name of edges.keys()) {
    const found = walk(name, []);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Warnings about a Pipeline: dependencies that do not exist or run in a circle. */
export const pipelineWarnings = (pipeline: Pipeline): readonly string[] => {
  const environments = pipeline.spec?.environments ?? [];
  const names = new Set(environments.map((environment) => environment.name));
  const warnings = environments.flatMap((environment, index) =>
    [...new Set(environment.dependsOn)]
      .filter((name) => !names.has(name))
      .map(
        (name) =>
          `spec.environments[${index}].dependsOn: environment ${JSON.stringify(environment.name)} depends on ${JSON.stringify(name)}, which is not in this Pipeline; no Bundle can be promoted until it is`,
      ),
  );
  const cycle = dependencyCycle(environments);
  if (cycle !== undefined) {
    warnings.push(
      `spec.environments: the dependencies run in a circle (${cycle.join(' -> ')}); no Bundle can be promoted until that is changed`,
    );
  }
  return warnings;
};

const labelWarnings = (bundle: Bundle): readonly string[] => {
  const label = bundle.metadata.labels?.[PIPELINE_LABEL];
  if (label === undefined)
    return [`metadata.labels: the label ${PIPELINE_LABEL} is missing; the Bundle stays Available until it names the Pipeline`];
  if (label === bundle.spec?.pipeline) return [];
  return [
    `metadata.labels: the label ${PIPELINE_LABEL} is ${JSON.stringify(label)} but spec.pipeline is ${JSON.stringify(bundle.spec?.pipeline)}; the Bundle stays Available until they are the same`,
  ];
};

/** Warnings about a Bundle: a label that keeps the controller from acting on it, and a type that this version cannot promote. */
export const bundleWarnings = (bundle: Bundle): readonly string[] => {
  const type = bundle.spec?.type;
  if (type !== 'config' && type !== 'mixed') return labelWarnings(bundle);
  return [...labelWarnings(bundle), `spec.type: this version merges no configuration: a Bundle of type ${type} is not promoted`];
};

/** Kinds that are stored and that nothing in this version acts on. */
const INERT: Readonly<Partial<Record<string, string>>> = {
  Subscription: 'this version polls no registry and no repository: no Bundle will be created from this Subscription',
  MetricCheck: 'this version asks no metrics provider: this MetricCheck gets no value',
  ScheduleClock: 'this version evaluates no gates, so that nothing happens at the ticks of this ScheduleClock',
  PolicyGate: 'this version does not evaluate PolicyGates: a gate holds every promotion into the environments that it applies to',
};

/** What the controller of this version does not do about a kind, so that nobody waits for it. */
export const kindWarnings = (kind: string): readonly string[] => {
  const warning = INERT[kind];
  return warning === undefined ? [] : [warning];
};
