/** From the body of `POST /api/v1/bundles` to a Bundle, or everything that is wrong with the body. */
import { admit } from '../../api/admission.ts';
import type { Bundle, BundleSpec } from '../../api/kinds/bundle.ts';
import { API_VERSION } from '../../api/meta.ts';
import { bundleName, bundleVersion, isDnsSubdomain } from '../../api/names.ts';
import { PIPELINE_LABEL } from '../../api/warnings.ts';
import { type Fields, isFields, type RequestProblem, readArtifacts } from './artifacts.ts';
import { type Origins, pointerTo, requestPointer } from './pointer.ts';

/** A request that makes sense by itself. */
export interface BundleRequest {
  /** With label and deterministic name; it has no namespace yet. */
  readonly bundle: Bundle;
  readonly spec: BundleSpec;
  readonly pipeline: string;
  readonly version: string;
  /** Undefined when the request names none. */
  readonly namespace: string | undefined;
  /** Fields that are not known, and other things that are most likely not meant. */
  readonly warnings: readonly string[];
  readonly origins: Origins;
}

/** The end of reading. */
export type BundleRequestRead =
  | { readonly ok: true; readonly request: BundleRequest }
  | { readonly ok: false; readonly problems: readonly RequestProblem[] };

const SPEC_FIELDS = ['type', 'pipeline', 'images', 'configRef', 'provenance', 'intent', 'version', 'chart'];
const FIELDS = [...SPEC_FIELDS, 'artifacts', 'namespace', 'labels'];
const INTENT_FIELDS = ['targetEnvironment', 'skipEnvironments', 'skip'];
const RESERVED_LABELS = 'promoter.io/';

const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null;

interface Intent {
  readonly intent: unknown;
  /** Where each entry of skipEnvironments came from. */
  readonly skips: readonly string[];
  readonly problems: readonly RequestProblem[];
}

/** `skip` is another name of `skipEnvironments`; the Bundle gets the one name, with each entry once. */
const readIntent = (intent: unknown): Intent => {
  if (!isFields(intent)) return { intent, skips: [], problems: [] };
  const problems = Object.keys(intent)
    .filter((field) => !INTENT_FIELDS.includes(field))
    .map((field) => ({ pointer: pointerTo('intent', field), detail: `is not known; intent takes ${INTENT_FIELDS.join(', ')}` }));
  const { skip, skipEnvironments, ...others } = intent;
  if (!isAbsent(skip) && !Array.isArray(skip))
    return { intent, skips: [], problems: [...problems, { pointer: '/intent/skip', detail: 'must be a list of environment names' }] };
  const isList = isAbsent(skipEnvironments) || Array.isArray(skipEnvironments);
  if (!isList || (isAbsent(skip) && isAbsent(skipEnvironments))) return { intent, skips: [], problems };
  const merged = new Map<unknown, string>();
  for (const [field, list] of Object.entries({ skipEnvironments, skip })) {
    for (const [index, name] of (Array.isArray(list) ? list : []).entries()) {
      if (!merged.has(name)) merged.set(name, pointerTo('intent', field, String(index)));
    }
  }
  return { intent: { ...others, skipEnvironments: [...merged.keys()] }, skips: [...merged.values()], problems };
};

const labelProblems = (labels: unknown): readonly RequestProblem[] => {
  if (isAbsent(labels)) return [];
  if (!isFields(labels)) return [{ pointer: '/labels', detail: 'must be a map of texts' }];
  return Object.entries(labels).flatMap(([key, value]) => {
    const pointer = pointerTo('labels', key);
    if (typeof value !== 'string') return [{ pointer, detail: 'must be a text' }];
    return key.startsWith(RESERVED_LABELS) ? [{ pointer, detail: `labels under ${RESERVED_LABELS} are set by the service` }] : [];
  });
};

const textProblems = (body: Fields): readonly RequestProblem[] => {
  const problems: RequestProblem[] = [];
  if (!isAbsent(body['namespace']) && typeof body['namespace'] !== 'string')
    problems.push({ pointer: '/namespace', detail: 'must be a text' });
  if (!isAbsent(body['images']) && !Array.isArray(body['images'])) problems.push({ pointer: '/images', detail: 'must be a list' });
  return problems;
};

/** The same image given in both shapes is one image. */
const withoutRepeats = (images: readonly unknown[], origins: readonly string[]) => {
  const seen = new Set<string>();
  const kept = images.flatMap((image, index) => {
    const { repository, tag, digest } = isFields(image) ? image : {};
    const key = isFields(image) ? JSON.stringify([repository, tag ?? '', digest ?? '']) : `position ${index}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ image, origin: origins[index] ?? '' }];
  });
  return { images: kept.map(({ image }) => image), origins: kept.map(({ origin }) => origin) };
};

interface Draft {
  readonly object: Bundle;
  readonly origins: Origins;
  readonly problems: readonly RequestProblem[];
  readonly warnings: readonly string[];
}

const draftOf = (body: Fields): Draft => {
  const artifacts = readArtifacts(body['artifacts']);
  const intent = readIntent(body['intent']);
  const given: readonly unknown[] = Array.isArray(body['images']) ? body['images'] : [];
  const { images, origins } = withoutRepeats(
    [...given, ...artifacts.images],
    [...given.map((_, index) => pointerTo('images', String(index))), ...artifacts.origins],
  );
  const spec = Object.fromEntries(SPEC_FIELDS.filter((field) => !isAbsent(body[field])).map((field) => [field, body[field]]));
  if (images.length > 0) spec['images'] = images;
  if (!isAbsent(intent.intent)) spec['intent'] = intent.intent;
  const labels = isFields(body['labels']) ? body['labels'] : {};
  const pipeline = typeof body['pipeline'] === 'string' ? body['pipeline'] : '';
  const namespace = typeof body['namespace'] === 'string' && body['namespace'] !== '' ? body['namespace'] : 'default';
  const metadata = { name: 'draft', namespace, labels: { ...labels, ...(pipeline === '' ? {} : { [PIPELINE_LABEL]: pipeline }) } };
  const unknown = [...Object.keys(body).filter((field) => !FIELDS.includes(field)), ...artifacts.unknown];
  // Admission checks types and rules of every field next, so the cast only hands it over.
  const object: unknown = { apiVersion: API_VERSION, kind: 'Bundle', metadata, spec };
  return {
    object: object as Bundle,
    origins: { images: origins, skips: intent.skips },
    problems: [...textProblems(body), ...labelProblems(body['labels']), ...artifacts.problems, ...intent.problems],
    warnings: unknown.map((field) => `unknown field "${field.slice(0, 200)}"`),
  };
};

/** Fields are named as the request names them. */
const inRequestWords = (warning: string): string => warning.replace(/^unknown field "spec\./, 'unknown field "');

const MAX_PIPELINE = 63;

/** A name that no Pipeline can have is a mistake in the request; that it is missing is said by admission. */
const pipelineProblems = (pipeline: unknown): readonly RequestProblem[] => {
  if (isAbsent(pipeline) || pipeline === '') return [];
  if (typeof pipeline === 'string' && pipeline.length <= MAX_PIPELINE && isDnsSubdomain(pipeline)) return [];
  const given = JSON.stringify(pipeline).slice(0, 100);
  const accepted = `at most ${MAX_PIPELINE} lower-case letters, digits, "-" and ".", with a letter or digit at both ends`;
  return [{ pointer: '/pipeline', detail: `must be the name of a Pipeline (${accepted}); got ${given}` }];
};

/** Warnings that one request is answered with. */
const MAX_WARNINGS = 20;

const bounded = (warnings: readonly string[]): readonly string[] =>
  warnings.length <= MAX_WARNINGS ? warnings : [...warnings.slice(0, MAX_WARNINGS), `and ${warnings.length - MAX_WARNINGS} more`];

const requestOf = (admitted: Bundle, draft: Draft, namespace: unknown, warnings: readonly string[]): BundleRequest => {
  const spec = admitted.spec ?? {};
  const pipeline = spec.pipeline ?? '';
  const version = bundleVersion(spec);
  const { namespace: _, ...metadata } = draft.object.metadata;
  return {
    bundle: { ...admitted, metadata: { ...metadata, name: bundleName(pipeline, version).name } },
    spec,
    pipeline,
    version,
    namespace: typeof namespace === 'string' && namespace !== '' ? namespace : undefined,
    warnings: bounded([...warnings.map(inRequestWords), ...draft.warnings]),
    origins: draft.origins,
  };
};

/** Reads a parsed body. All problems are named at once, each with a JSON pointer; rules and messages are those of admission. */
export const readBundleRequest = (body: unknown): BundleRequestRead => {
  if (!isFields(body)) return { ok: false, problems: [{ pointer: '', detail: 'the body must be a JSON object' }] };
  const draft = draftOf(body);
  const own = [...draft.problems, ...pipelineProblems(body['pipeline'])];
  if (own.length > 0) return { ok: false, problems: own };
  const admitted = admit({ operation: 'create', object: draft.object });
  if (admitted.ok) return { ok: true, request: requestOf(admitted.object, draft, body['namespace'], admitted.warnings) };
  const problems = admitted.causes.map(({ field, message }) => ({ pointer: requestPointer(field, draft.origins), detail: message }));
  return { ok: false, problems };
};
