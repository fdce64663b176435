/** Minimal checks of Kubernetes' own kinds: only what this service reads. */
import type { FieldCause } from './field-cause.ts';
import { shown } from './schema-check.ts';
import { isObject } from './structural.ts';

type Json = Readonly<Record<string, unknown>>;
type Report = (field: string, message: string) => void;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DATA_KEY = /^[-._A-Za-z0-9]{1,253}$/;

const checkData = (field: string, data: unknown, check: { readonly base64: boolean; readonly report: Report }): void => {
  if (data === undefined || data === null) return;
  if (!isObject(data)) {
    check.report(field, `must be an object; got ${shown(data)}`);
    return;
  }
  for (const [key, value] of Object.entries(data)) {
    if (!DATA_KEY.test(key)) check.report(field, `key ${shown(key)} must be at most 253 letters, digits, -, _ and dots`);
    // What was given is a secret, perhaps: it is not repeated.
    if (typeof value !== 'string') check.report(`${field}.${key}`, 'must be a string');
    else if (check.base64 && !BASE64.test(value)) check.report(`${field}.${key}`, 'must be base64 (or use stringData for plain text)');
  }
};

const base64 = (text: string): string => btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

const checkPodTemplate = (spec: Json, report: Report): void => {
  const template = spec['template'];
  if (template === undefined || template === null) return;
  const inner = isObject(template) ? template['spec'] : undefined;
  const containers = isObject(inner) ? inner['containers'] : undefined;
  if (!isObject(template)) report('spec.template', `must be an object; got ${shown(template)}`);
  else if (containers !== undefined && !Array.isArray(containers))
    report('spec.template.spec.containers', `must be a list; got ${shown(containers)}`);
  else if (Array.isArray(containers)) {
    containers.forEach((container: unknown, index) => {
      const field = `spec.template.spec.containers[${index}]`;
      if (!isObject(container)) report(field, `must be an object; got ${shown(container)}`);
      else if (typeof container['name'] !== 'string') report(`${field}.name`, `must be a string; got ${shown(container['name'])}`);
      else if (container['image'] !== undefined && typeof container['image'] !== 'string')
        report(`${field}.image`, `must be a string; got ${shown(container['image'])}`);
    });
  }
};

const checkWorkload = (object: Json, report: Report): void => {
  for (const key of ['spec', 'status']) {
    const value = object[key];
    if (value !== undefined && value !== null && !isObject(value)) report(key, `must be an object; got ${shown(value)}`);
  }
  const spec = object['spec'];
  if (!isObject(spec)) return;
  const replicas = spec['replicas'];
  if (replicas !== undefined && (typeof replicas !== 'number' || !Number.isSafeInteger(replicas) || replicas < 0)) {
    report('spec.replicas', `must be a whole number of at least 0; got ${shown(replicas)}`);
  }
  checkPodTemplate(spec, report);
};

const checkImmutable = (object: Json, old: Json | undefined, report: Report): void => {
  if (old?.['immutable'] !== true) return;
  for (const key of ['data', 'binaryData', 'immutable']) {
    if (JSON.stringify(object[key]) !== JSON.stringify(old[key])) report(key, 'must not change, because immutable is true');
  }
};

/** Kubernetes' defaults as far as they are read here: `stringData` of a Secret is folded into `data`. */
export const defaultNative = (object: Json): Json => {
  if (object['kind'] !== 'Secret') return object;
  const { stringData, ...rest } = object;
  const typed = { ...rest, type: rest['type'] ?? 'Opaque' };
  if (!isObject(stringData)) return stringData === undefined || stringData === null ? typed : { ...typed, stringData };
  if (Object.values(stringData).some((value) => typeof value !== 'string')) return { ...typed, stringData };
  const folded = Object.entries(stringData).map(([key, value]) => [key, base64(String(value))]);
  return { ...typed, data: { ...(isObject(rest['data']) ? rest['data'] : {}), ...Object.fromEntries(folded) } };
};

/** All that is wrong with an object of one of Kubernetes' own kinds, apart from its metadata. */
export const checkNative = (object: Json, old: Json | undefined): readonly FieldCause[] => {
  const causes: FieldCause[] = [];
  const report: Report = (field, message) => causes.push({ field, message });
  switch (object['kind']) {
    case 'Secret':
      checkData('data', object['data'], { base64: true, report });
      checkData('stringData', object['stringData'], { base64: false, report });
      checkImmutable(object, old, report);
      break;
    case 'ConfigMap':
      checkData('data', object['data'], { base64: false, report });
      checkData('binaryData', object['binaryData'], { base64: true, report });
      checkImmutable(object, old, report);
      break;
    case 'Deployment':
    case 'Job':
    case 'Lease':
    case 'Namespace':
      checkWorkload(object, report);
      break;
    default:
  }
  return causes;
};
