/**
 * Admission: what a Kubernetes API server does to an object before it is stored. Every write of the embedded store passes here, and the
 * generated CustomResourceDefinitions carry the same schemas and rules to a real cluster.
 */

import type { FieldCause } from './field-cause.ts';
import type { Bundle } from './kinds/bundle.ts';
import type { Pipeline } from './kinds/pipeline.ts';
import type { Resource } from './meta.ts';
import { checkMetadata, shapeMetadata } from './metadata-check.ts';
import { checkNative, defaultNative } from './native-check.ts';
import { apiVersionOf, KINDS, type KindInfo, type KindName } from './registry.ts';
import type { Rule } from './rules/rule.ts';
import { brokenRules, type CompiledRule, compileRules } from './rules/run.ts';
import { RULES } from './rules/table.ts';
import { compileSchema, type SchemaCheck, shown } from './schema-check.ts';
import { isObject, type Json, type StructuralSchema, shape } from './structural.ts';
import { bundleWarnings, kindWarnings, pipelineWarnings } from './warnings.ts';

/** A write that asks to be admitted. */
export interface AdmissionRequest<T extends Resource> {
  readonly operation: 'create' | 'update';
  readonly object: T;
  /** The stored object, on updates. */
  readonly old?: T;
  /** A write of status only: rules about the spec are not asked again, so that older objects can still be reported on. */
  readonly subresource?: 'status';
}

/** The end of admission: the object to store, or everything that is wrong with it. */
export type Admitted<T extends Resource> =
  | { readonly ok: true; readonly object: T; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly causes: readonly FieldCause[]; readonly message: string };

/** What is compiled once for each kind, when it is first written. */
interface KindCheck {
  readonly schema: StructuralSchema;
  readonly check: SchemaCheck;
  /** About metadata and spec. */
  readonly rules: readonly CompiledRule[];
  readonly statusRules: readonly CompiledRule[];
}

const TOP_LEVEL: Readonly<Record<string, StructuralSchema>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
};

const compileKind = (info: KindInfo): KindCheck => {
  const properties: Record<string, StructuralSchema> = { ...TOP_LEVEL };
  if (info.specSchema !== undefined) properties['spec'] = info.specSchema;
  if (info.statusSchema !== undefined) properties['status'] = info.statusSchema;
  const schema: StructuralSchema = { type: 'object', properties };
  const rules = RULES[info.kind] ?? [];
  const isStatus = ({ at }: Rule) => at === 'status' || at.startsWith('status.');
  return {
    schema,
    check: compileSchema(schema),
    rules: compileRules(rules.filter((rule) => !isStatus(rule))),
    statusRules: compileRules(rules.filter(isStatus)),
  };
};

/** Compiling is pure: a kind's checks are made when they are first needed and kept. */
const lazily = <Key, Value>(make: (key: Key) => Value): ((key: Key) => Value) => {
  const made = new Map<Key, Value>();
  return (key) => {
    const found = made.get(key);
    if (found !== undefined) return found;
    const value = make(key);
    made.set(key, value);
    return value;
  };
};

const checksOf = lazily((kind: KindName) => compileKind(KINDS[kind]));

const isKind = (kind: unknown): kind is KindName => typeof kind === 'string' && Object.hasOwn(KINDS, kind);

/** Causes in the one sentence of a refusal; all of them are in `causes`. */
const MAX_TOLD = 20;
/** Warnings that one write is answered with. */
const MAX_WARNINGS = 20;

const refusal = (object: unknown, causes: readonly FieldCause[]): { ok: false; causes: readonly FieldCause[]; message: string } => {
  const kind = isObject(object) && typeof object['kind'] === 'string' ? object['kind'] : 'object';
  const metadata = isObject(object) && isObject(object['metadata']) ? object['metadata'] : {};
  const name = metadata['name'] ?? metadata['generateName'];
  const more = causes.length > MAX_TOLD ? [`and ${causes.length - MAX_TOLD} more`] : [];
  const told = causes.slice(0, MAX_TOLD).map((cause) => (cause.field === '' ? cause.message : `${cause.field}: ${cause.message}`));
  const subject = `${kind}${typeof name === 'string' ? ` ${JSON.stringify(name)}` : ''} is invalid`;
  return { ok: false, causes, message: `${subject}: ${told.length === 1 ? told[0] : `[${[...told, ...more].join(', ')}]`}` };
};

const shapeObject = (check: KindCheck, object: Json, onUnknown: (path: string) => void) => {
  const shaped = shape(check.schema, object, { path: '', onUnknown });
  const metadata = isObject(object['metadata']) ? shapeMetadata(object['metadata'], onUnknown) : {};
  return { ...(isObject(shaped) ? shaped : {}), metadata };
};

// The schema has been checked when this is asked, so the casts say no more than what is known.
const warningsOf = (object: Resource): readonly string[] => {
  if (object.kind === 'Pipeline') return pipelineWarnings(object as Pipeline);
  return object.kind === 'Bundle' ? bundleWarnings(object as Bundle) : kindWarnings(object.kind);
};

const fieldsOf = (object: Resource): Json => Object.fromEntries(Object.entries(object));

const admitOurs = <T extends Resource>(info: KindInfo, request: AdmissionRequest<T>): Admitted<T> => {
  const { object, old } = request;
  const check = checksOf(info.kind);
  const unknown: string[] = [];
  const shaped = shapeObject(check, fieldsOf(object), (path) => unknown.push(path));
  const causes = [...checkMetadata(info, shaped.metadata), ...check.check(shaped)];
  if (causes.length > 0) return refusal(object, causes);
  const before = old === undefined ? undefined : shapeObject(check, fieldsOf(old), () => undefined);
  const broken = brokenRules(request.subresource === 'status' ? check.statusRules : check.rules, shaped, before);
  if (broken.length > 0) return refusal(object, broken);
  const admitted = shaped as unknown as T;
  const warnings = unknown.map((path) => `unknown field "${path}"`);
  const all = request.subresource === 'status' ? warnings : [...warnings, ...warningsOf(admitted)];
  return { ok: true, object: admitted, warnings: all.slice(0, MAX_WARNINGS) };
};

const admitNative = <T extends Resource>(info: KindInfo, request: AdmissionRequest<T>): Admitted<T> => {
  const warnings: string[] = [];
  const given = fieldsOf(request.object);
  const metadata = isObject(given['metadata']) ? shapeMetadata(given['metadata'], (path) => warnings.push(`unknown field "${path}"`)) : {};
  const defaulted: Json = { ...defaultNative(given), metadata };
  const old = request.old === undefined ? undefined : fieldsOf(request.old);
  const causes = [...checkMetadata(info, metadata), ...checkNative(defaulted, old)];
  if (causes.length > 0) return refusal(given, causes);
  return { ok: true, object: defaulted as unknown as T, warnings };
};

/**
 * Applies defaults, prunes unknown fields (with a warning for each), and checks schema, rules and metadata. The argument is not changed.
 * Refusals name the field, what was given and what is accepted.
 */
export const admit = <T extends Resource>(request: AdmissionRequest<T>): Admitted<T> => {
  const object: unknown = request.object;
  if (!isObject(object)) return refusal(object, [{ field: '', message: `must be an object; got ${shown(object)}` }]);
  if (!isKind(object['kind'])) {
    return refusal(object, [{ field: 'kind', message: `must be one of ${Object.keys(KINDS).join(', ')}; got ${shown(object['kind'])}` }]);
  }
  const info = KINDS[object['kind']];
  if (object['apiVersion'] !== apiVersionOf(info)) {
    return refusal(object, [{ field: 'apiVersion', message: `must be ${apiVersionOf(info)}; got ${shown(object['apiVersion'])}` }]);
  }
  const metadata = object['metadata'];
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) {
    return refusal(object, [{ field: 'metadata', message: `must be an object; got ${shown(metadata)}` }]);
  }
  return info.specSchema === undefined ? admitNative(info, request) : admitOurs(info, request);
};
