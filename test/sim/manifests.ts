/** Manifests of the simulated repositories: how they begin, and which images they name. */
import { parse } from 'yaml';
import type { Environment } from '../../src/api/kinds/pipeline.ts';
import type { PlannedPipeline, Scenario } from './scenario.ts';

/** Tag of what ran before the first Bundle. */
export const FIRST_TAG = 'v0';

const kustomization = (images: readonly string[]): string =>
  `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - ../../base\nimages:\n${images
    .map((image) => `  - name: ${image} # set by promotions\n    newTag: ${FIRST_TAG}\n`)
    .join('')}`;

const values = (image: string): string =>
  `# Values of the chart\nimage:\n  repository: ${image}\n  tag: ${FIRST_TAG} # set by promotions\n`;

const isChart = (environment: Environment): boolean => environment.update?.strategy === 'chart';
const folder = (environment: Environment): string => environment.path ?? `environments/${environment.name ?? ''}`;

/** Every environment that a Pipeline ever has, with edits; each name once. */
export const allEnvironments = (planned: PlannedPipeline): readonly Environment[] => {
  const all = [...(planned.pipeline.spec?.environments ?? []), ...(planned.edit?.spec.environments ?? [])];
  return all.filter((environment, index) => all.findIndex((other) => other.name === environment.name) === index);
};

/** The files of a repository before anything is promoted. */
export const firstFiles = (scenario: Scenario, url: string): ReadonlyMap<string, string> => {
  const files = new Map([['README.md', '# Manifests\n']]);
  for (const planned of scenario.pipelines.filter((candidate) => candidate.url === url)) {
    for (const environment of allEnvironments(planned)) {
      if (isChart(environment)) files.set(`${folder(environment)}/values.yaml`, values(planned.images[0] ?? ''));
      else files.set(`${folder(environment)}/kustomization.yaml`, kustomization(planned.images));
    }
  }
  return files;
};

const parsed = new WeakMap<ReadonlyMap<string, string>, Map<string, unknown>>();
const parseFile = (files: ReadonlyMap<string, string>, path: string): unknown => {
  const known = parsed.get(files) ?? new Map<string, unknown>();
  parsed.set(files, known);
  if (!known.has(path)) known.set(path, parse(files.get(path) ?? ''));
  return known.get(path);
};

const at = (value: unknown, ...keys: readonly (string | number)[]): unknown =>
  keys.reduce<unknown>((inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined), value);

const reference = (repository: string, tag: unknown, digest: unknown): string =>
  `${repository}${tag === undefined ? '' : `:${String(tag)}`}${digest === undefined ? '' : `@${String(digest)}`}`;

/** The image references that an environment's manifests name, in the order of `images`. */
export const imagesAt = (files: ReadonlyMap<string, string>, environment: Environment, images: readonly string[]): readonly string[] => {
  if (isChart(environment)) {
    const document = parseFile(files, `${folder(environment)}/values.yaml`);
    return images.slice(0, 1).map((image) => reference(image, at(document, 'image', 'tag'), undefined));
  }
  const entries = at(parseFile(files, `${folder(environment)}/kustomization.yaml`), 'images');
  return images.map((image) => {
    const entry: unknown = Array.isArray(entries) ? entries.find((candidate: unknown) => at(candidate, 'name') === image) : undefined;
    return reference(image, at(entry, 'newTag'), at(entry, 'digest'));
  });
};

/** Sets the images below a folder to something that no Bundle has. */
export const overwriteImages = (files: Map<string, string>, path: string, tag: string): void => {
  for (const name of ['kustomization.yaml', 'values.yaml']) {
    const text = files.get(`${path}${name}`);
    if (text !== undefined) files.set(`${path}${name}`, text.replaceAll(/^(\s*)(newTag|tag): \S+/gm, `$1$2: ${tag}`));
  }
};
