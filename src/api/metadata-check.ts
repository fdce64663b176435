/** Checks of metadata, as a Kubernetes API server makes them. */
import type { FieldCause } from './field-cause.ts';
import { isDnsLabel, isDnsSubdomain, isLabelValue } from './names.ts';
import type { KindInfo } from './registry.ts';
import { shown } from './schema-check.ts';
import { isObject } from './structural.ts';

/** The label that names the environments of a gate; the embedded API takes the specification's comma form in it. */
export const APPLIES_TO = 'promoter.io/applies-to';

const KEPT: ReadonlySet<string> = new Set([
  ...['name', 'namespace', 'generateName', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'],
  ...['labels', 'annotations', 'ownerReferences', 'finalizers'],
]);
/** Fields of Kubernetes that mean nothing here; clients send them back as they got them elsewhere. */
const DROPPED: ReadonlySet<string> = new Set(['managedFields', 'selfLink', 'deletionGracePeriodSeconds']);

const QUALIFIED_NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const ANNOTATIONS_MAX = 256 * 1024;

const isQualifiedName = (key: string): boolean => {
  const slash = key.indexOf('/');
  if (slash < 0) return QUALIFIED_NAME.test(key);
  return isDnsSubdomain(key.slice(0, slash)) && QUALIFIED_NAME.test(key.slice(slash + 1));
};

const KEY = 'an optional DNS prefix and /, then at most 63 letters, digits, -, _ and dots, with a letter or digit at both ends';
const LABEL = 'a label value: at most 63 letters, digits, -, _ and dots, with a letter or digit at both ends';
const NAME = 'at most 253 of a-z, 0-9, - and dots, with a letter or digit at both ends of each part';

const isAppliesTo = (value: string): boolean => value.length <= 4096 && value.split(',').every((part) => isLabelValue(part.trim()));

/** Fields that are kept, nulls dropped; unknown ones are reported. */
export const shapeMetadata = (metadata: Readonly<Record<string, unknown>>, onUnknown: (path: string) => void): Record<string, unknown> => {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(metadata)) {
    if (!KEPT.has(key)) {
      if (!DROPPED.has(key)) onUnknown(`metadata.${key}`);
    } else if (value !== null && value !== undefined) out[key] = value;
  }
  return out;
};

type Report = (field: string, message: string) => void;

const checkName = (info: KindInfo, metadata: Readonly<Record<string, unknown>>, report: Report): void => {
  const { name, generateName } = metadata;
  if (generateName !== undefined && (typeof generateName !== 'string' || !isDnsSubdomain(`${generateName.slice(0, 247)}x`))) {
    report('metadata.generateName', `must be the beginning of a name: ${NAME}; got ${shown(generateName)}`);
  }
  if (name === undefined || name === '') {
    if (generateName === undefined) report('metadata.name', 'must not be empty, unless metadata.generateName is given');
    return;
  }
  const label = info.kind === 'Namespace';
  if (typeof name !== 'string' || !(label ? isDnsLabel(name) : isDnsSubdomain(name))) {
    report('metadata.name', `must be ${label ? 'a DNS label of at most 63 characters' : NAME}; got ${shown(name)}`);
  }
};

const checkNamespace = (info: KindInfo, namespace: unknown, report: Report): void => {
  if (namespace === undefined || namespace === '') return;
  if (!info.namespaced)
    report('metadata.namespace', `must be absent, because a ${info.kind} belongs to no namespace; got ${shown(namespace)}`);
  else if (typeof namespace !== 'string' || !isDnsLabel(namespace)) {
    report('metadata.namespace', `must be a DNS label of at most 63 characters; got ${shown(namespace)}`);
  }
};

const checkMap = (field: string, map: unknown, report: Report): Readonly<Record<string, string>> => {
  if (map === undefined) return {};
  if (!isObject(map)) {
    report(field, `must be an object; got ${shown(map)}`);
    return {};
  }
  const good: Record<string, string> = {};
  for (const [key, value] of Object.entries(map)) {
    if (!isQualifiedName(key)) report(field, `key ${shown(key)} must be ${KEY}`);
    else if (typeof value !== 'string') report(`${field}.${key}`, `must be a string; got ${shown(value)}`);
    else good[key] = value;
  }
  return good;
};

const checkLabels = (labels: unknown, report: Report): void => {
  for (const [key, value] of Object.entries(checkMap('metadata.labels', labels, report))) {
    const good = key === APPLIES_TO ? isAppliesTo(value) : isLabelValue(value);
    if (!good)
      report(`metadata.labels.${key}`, `must be ${LABEL}${key === APPLIES_TO ? ', or several joined by commas' : ''}; got ${shown(value)}`);
  }
};

const checkAnnotations = (annotations: unknown, report: Report): void => {
  const entries = Object.entries(checkMap('metadata.annotations', annotations, report));
  const size = entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (size > ANNOTATIONS_MAX) report('metadata.annotations', `must be at most ${ANNOTATIONS_MAX} characters together; got ${size}`);
};

const checkOwners = (owners: unknown, report: Report): void => {
  if (owners === undefined) return;
  if (!Array.isArray(owners)) {
    report('metadata.ownerReferences', `must be a list; got ${shown(owners)}`);
    return;
  }
  owners.forEach((owner: unknown, index) => {
    for (const key of ['apiVersion', 'kind', 'name', 'uid']) {
      const value = isObject(owner) ? owner[key] : undefined;
      if (typeof value !== 'string' || value === '')
        report(`metadata.ownerReferences[${index}].${key}`, `must be a string that is not empty; got ${shown(value)}`);
    }
  });
};

const checkFinalizers = (finalizers: unknown, report: Report): void => {
  if (finalizers === undefined) return;
  if (!Array.isArray(finalizers)) {
    report('metadata.finalizers', `must be a list; got ${shown(finalizers)}`);
    return;
  }
  finalizers.forEach((value: unknown, index) => {
    if (typeof value !== 'string' || !isQualifiedName(value))
      report(`metadata.finalizers[${index}]`, `must be ${KEY}; got ${shown(value)}`);
  });
};

/** All that is wrong with the metadata of a resource. */
export const checkMetadata = (info: KindInfo, metadata: Readonly<Record<string, unknown>>): readonly FieldCause[] => {
  const causes: FieldCause[] = [];
  const report: Report = (field, message) => causes.push({ field, message });
  checkName(info, metadata, report);
  checkNamespace(info, metadata['namespace'], report);
  checkLabels(metadata['labels'], report);
  checkAnnotations(metadata['annotations'], report);
  checkOwners(metadata['ownerReferences'], report);
  checkFinalizers(metadata['finalizers'], report);
  return causes;
};
