/** The rules that hold for the metadata of every kind. */
import type { Resource } from './meta.ts';
import type { KindInfo } from './registry.ts';
import { isLabelKey, isLabelValue } from './selector.ts';

interface Cause {
  readonly field: string;
  readonly message: string;
}

const SUBDOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
/** Bytes that all annotations together may have. */
const ANNOTATION_LIMIT = 256 * 1024;
/** The one label whose value is a list: the gate's environments. */
const LIST_LABEL = 'promoter.io/applies-to';

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

const quoted = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
};

const nameCauses = (name: unknown, kind: string): readonly Cause[] => {
  const field = 'metadata.name';
  if (typeof name !== 'string' || name === '') return [{ field, message: 'is required' }];
  if (kind === 'Namespace') {
    return name.length <= 63 && DNS_LABEL.test(name)
      ? []
      : [
          {
            field,
            message: `${quoted(name)} is not a DNS label: up to 63 lower-case letters, digits and "-", letter or digit at both ends`,
          },
        ];
  }
  return name.length <= 253 && SUBDOMAIN.test(name)
    ? []
    : [
        {
          field,
          message: `${quoted(name)} is not a DNS name: up to 253 lower-case letters, digits, "-" and ".", letter or digit at both ends`,
        },
      ];
};

const namespaceCauses = (namespace: unknown, namespaced: boolean): readonly Cause[] => {
  const field = 'metadata.namespace';
  if (!namespaced) return namespace ? [{ field, message: 'must be absent, this kind has no namespace' }] : [];
  return typeof namespace === 'string' && namespace.length <= 63 && DNS_LABEL.test(namespace)
    ? []
    : [
        {
          field,
          message: `${quoted(namespace)} is not a DNS label: up to 63 lower-case letters, digits and "-", letter or digit at both ends`,
        },
      ];
};

const isLabel = (key: string, value: unknown): boolean =>
  typeof value === 'string' && (key === LIST_LABEL ? value.split(',').every((part) => isLabelValue(part.trim())) : isLabelValue(value));

const labelCauses = (labels: unknown): readonly Cause[] => {
  if (labels === undefined) return [];
  if (!isRecord(labels)) return [{ field: 'metadata.labels', message: 'must be a map from text to text' }];
  return Object.entries(labels).flatMap(([key, value]) => {
    const field = `metadata.labels[${quoted(key)}]`;
    if (!isLabelKey(key))
      return [{ field, message: 'is not a label key: up to 63 letters, digits, "-", "_" and ".", optionally after a DNS prefix and "/"' }];
    return isLabel(key, value)
      ? []
      : [{ field, message: `${quoted(value)} is not a label value: up to 63 letters, digits, "-", "_" and "."` }];
  });
};

const annotationCauses = (annotations: unknown): readonly Cause[] => {
  if (annotations === undefined) return [];
  const field = 'metadata.annotations';
  if (!isRecord(annotations)) return [{ field, message: 'must be a map from text to text' }];
  const wrong = Object.entries(annotations).find(([key, value]) => typeof value !== 'string' || !isLabelKey(key.toLowerCase()));
  if (wrong) return [{ field: `${field}[${quoted(wrong[0])}]`, message: 'must be text under a key like that of a label' }];
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + String(value).length, 0);
  return size > ANNOTATION_LIMIT ? [{ field, message: `have ${size} characters together, ${ANNOTATION_LIMIT} are allowed` }] : [];
};

const ownerCauses = (owners: unknown): readonly Cause[] => {
  if (owners === undefined) return [];
  if (!Array.isArray(owners)) return [{ field: 'metadata.ownerReferences', message: 'must be a list' }];
  const causes = owners.flatMap((owner: unknown, index): readonly Cause[] =>
    ['apiVersion', 'kind', 'name', 'uid'].flatMap((key) => {
      const value = isRecord(owner) ? owner[key] : undefined;
      return typeof value === 'string' && value !== ''
        ? []
        : [{ field: `metadata.ownerReferences[${index}].${key}`, message: 'is required' }];
    }),
  );
  const controllers = owners.filter((owner: unknown) => isRecord(owner) && owner['controller'] === true).length;
  return controllers > 1 ? [...causes, { field: 'metadata.ownerReferences', message: 'only one owner can be the controller' }] : causes;
};

const finalizerCauses = (finalizers: unknown): readonly Cause[] => {
  if (finalizers === undefined) return [];
  if (!Array.isArray(finalizers)) return [{ field: 'metadata.finalizers', message: 'must be a list' }];
  return finalizers.flatMap((finalizer: unknown, index) =>
    typeof finalizer === 'string' && isLabelKey(finalizer)
      ? []
      : [{ field: `metadata.finalizers[${index}]`, message: `${quoted(finalizer)} is not a qualified name such as example.com/cleanup` }],
  );
};

/** What is wrong with the metadata of an object; empty when nothing is. */
export const metadataCauses = (object: Resource, info: KindInfo): readonly Cause[] => [
  ...nameCauses(object.metadata.name, object.kind),
  ...namespaceCauses(object.metadata.namespace, info.namespaced),
  ...labelCauses(object.metadata.labels),
  ...annotationCauses(object.metadata.annotations),
  ...ownerCauses(object.metadata.ownerReferences),
  ...finalizerCauses(object.metadata.finalizers),
];
