/** What happens to a request for a Bundle once it is known to make sense: Pipeline, duplicate, creation. */
import type { Bundle } from '../api/kinds/bundle.ts';
import type { Pipeline } from '../api/kinds/pipeline.ts';
import { bundleName, bundleVersion } from '../api/names.ts';
import type { RequestProblem } from '../core/bundle-request/artifacts.ts';
import { intentProblems } from '../core/bundle-request/intent-problems.ts';
import { NO_ORIGINS, type Origins, requestPointer } from '../core/bundle-request/pointer.ts';
import type { BundleRequest } from '../core/bundle-request/read-bundle-request.ts';
import { equal } from '../core/equal.ts';
import type { Store, StoreError } from '../ports/store.ts';
import type { FindBundle } from './bundle-index.ts';
import type { Grant } from './bundle-tokens.ts';
import type { Problem } from './problem.ts';

/** How it ended. */
export type Creation =
  | { readonly ok: true; readonly bundle: Bundle; readonly version: string; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problem: Problem };

type Step<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

const stop = (problem: Problem): { readonly ok: false; readonly problem: Problem } => ({ ok: false, problem });

/** Errors that one request is answered with. */
const MAX_ERRORS = 20;

/** The problem of a body that cannot be used (400). */
export const invalidBody = (problems: readonly RequestProblem[]): Problem => {
  const errors = problems.slice(0, MAX_ERRORS);
  const told = errors.map(({ pointer, detail }) => `${pointer || 'body'}: ${detail}`);
  if (problems.length > MAX_ERRORS) told.push(`and ${problems.length - MAX_ERRORS} more`);
  return { status: 400, detail: `the body of the request cannot be used: ${told.join('; ')}`, errors };
};

const RETRY_SECONDS = '5';

const fromStore = (error: StoreError, origins: Origins = NO_ORIGINS): Problem => {
  switch (error.code) {
    case 'Invalid':
    case 'BadRequest':
      return invalidBody(
        (error.causes ?? [{ field: '', message: error.message }]).map(({ field, message }) => ({
          pointer: requestPointer(field, origins),
          detail: message,
        })),
      );
    case 'TooLarge':
      return { status: 413, detail: error.message };
    case 'Forbidden':
    case 'Conflict':
      return { status: 409, detail: error.message };
    default:
      return { status: 503, detail: `the store does not answer: ${error.message}`, headers: { 'retry-after': RETRY_SECONDS } };
  }
};

const noPipeline = (name: string, where: string): Problem => ({
  status: 404,
  detail: `there is no Pipeline ${JSON.stringify(name)} ${where}`,
});

const pipelineIn = async (store: Store, namespace: string, name: string): Promise<Step<Pipeline>> => {
  const found = await store.get('Pipeline', namespace, name, { fresh: true });
  if (found.ok) return found;
  return stop(found.error.code === 'NotFound' ? noPipeline(name, `in the namespace ${JSON.stringify(namespace)}`) : fromStore(found.error));
};

const pipelineAnywhere = async (store: Store, name: string): Promise<Step<Pipeline>> => {
  const inDefault = await pipelineIn(store, 'default', name);
  if (inDefault.ok || inDefault.problem.status !== 404) return inDefault;
  const page = await store.list('Pipeline', { fieldSelector: `metadata.name=${name}`, fresh: true });
  if (!page.ok) return stop(fromStore(page.error));
  const [first, ...others] = page.value.items;
  if (!first) return stop(noPipeline(name, 'in any namespace'));
  if (others.length === 0) return { ok: true, value: first };
  const namespaces = page.value.items.map(({ metadata }) => metadata.namespace).join(', ');
  return stop(invalidBody([{ pointer: '/namespace', detail: `must be given, because Pipelines of that name are in ${namespaces}` }]));
};

const findPipeline = (store: Store, request: BundleRequest, grant: Grant): Promise<Step<Pipeline>> => {
  const namespace = request.namespace ?? (grant.scope === 'pipeline' ? grant.namespace : undefined);
  return namespace === undefined ? pipelineAnywhere(store, request.pipeline) : pipelineIn(store, namespace, request.pipeline);
};

/** Whether the token serves the Pipeline that the request names. */
export const serves = (grant: Grant, request: BundleRequest): boolean =>
  grant.scope === 'all' || (grant.pipeline === request.pipeline && (request.namespace ?? grant.namespace) === grant.namespace);

const typeOf = (bundle: Bundle): string => bundle.spec?.type ?? 'image';

/** Same Pipeline, type and version: the same Bundle, whatever its name. */
const isSame = (bundle: Bundle, request: BundleRequest): boolean =>
  bundle.spec?.pipeline === request.pipeline && typeOf(bundle) === typeOf(request.bundle) && bundleVersion(bundle.spec) === request.version;

/** What creation works with. */
export interface CreationContext {
  readonly store: Store;
  readonly find: FindBundle;
}

const duplicate = (existing: Bundle, request: BundleRequest): Problem => {
  const identical = equal(existing.spec, request.spec);
  const { name, namespace } = existing.metadata;
  return {
    status: 409,
    detail: `the Bundle ${namespace}/${name} already has version ${request.version} of Pipeline ${request.pipeline}; its content is ${identical ? 'identical' : 'different'}`,
    more: { existing: { name, namespace, version: request.version }, identical },
  };
};

const findDuplicate = async (find: FindBundle, namespace: string, request: BundleRequest): Promise<Step<Bundle | undefined>> => {
  const found = await find({ namespace, pipeline: request.pipeline, type: typeOf(request.bundle), version: request.version });
  return found.ok ? found : stop(fromStore(found.error));
};

/** What the controller already knows against the Pipeline, so that nobody waits for what cannot come. */
const notReady = (pipeline: Pipeline): readonly string[] =>
  (pipeline.status?.conditions ?? [])
    .filter(({ type, status }) => type === 'Ready' && status === 'False')
    .map(({ message }) => `the Pipeline ${pipeline.metadata.name} is not Ready: ${message}`);

/** Creates under that name; undefined when the name is taken by another Bundle. */
const createAs = async (store: Store, bundle: Bundle, request: BundleRequest): Promise<Creation | undefined> => {
  const created = await store.create(bundle);
  if (created.ok) {
    const warnings = [...new Set([...request.warnings, ...created.warnings])];
    return { ok: true, bundle: created.object, version: request.version, warnings };
  }
  if (created.error.code !== 'AlreadyExists') return stop(fromStore(created.error, request.origins));
  const existing = await store.get('Bundle', bundle.metadata.namespace ?? '', bundle.metadata.name, { fresh: true });
  if (existing.ok && isSame(existing.value, request)) return stop(duplicate(existing.value, request));
  return existing.ok || existing.error.code === 'NotFound' ? undefined : stop(fromStore(existing.error));
};

/**
 * Finds the Pipeline, refuses what is there already and creates the Bundle. The name is deterministic, so of two requests at the same moment the
 * store lets one through and the other is told of it.
 */
export const createBundle = async ({ store, find }: CreationContext, request: BundleRequest, grant: Grant): Promise<Creation> => {
  const pipeline = await findPipeline(store, request, grant);
  if (!pipeline.ok) return pipeline;
  const unfit = intentProblems(request, pipeline.value);
  if (unfit.length > 0) return stop(invalidBody(unfit));
  const namespace = pipeline.value.metadata.namespace ?? 'default';
  const existing = await findDuplicate(find, namespace, request);
  if (!existing.ok) return existing;
  if (existing.value) return stop(duplicate(existing.value, request));
  const names = [request.bundle.metadata.name, bundleName(request.pipeline, request.version, typeOf(request.bundle)).name];
  for (const name of names) {
    const bundle = { ...request.bundle, metadata: { ...request.bundle.metadata, name, namespace } };
    const creation = await createAs(store, bundle, request);
    if (creation?.ok) return { ...creation, warnings: [...notReady(pipeline.value), ...creation.warnings] };
    if (creation) return creation;
  }
  return stop({ status: 409, detail: `the names ${names.join(' and ')} are taken by other Bundles; give another version` });
};
