/** Which fields of an object its schema does not know. */
import type { KindInfo } from '../api/registry.ts';
import { type StructuralSchema, shape } from '../api/structural.ts';

/** Top-level fields of every resource; metadata is judged by admission. */
const ENVELOPE: Readonly<Record<string, StructuralSchema>> = {
  apiVersion: {},
  kind: {},
  metadata: { 'x-kubernetes-preserve-unknown-fields': true },
};

/** Paths such as `spec.imagse`; empty for Kubernetes' own kinds, which are kept as given. */
export const unknownFields = (info: KindInfo, object: object): readonly string[] => {
  if (info.specSchema === undefined) return [];
  const properties: Record<string, StructuralSchema> = { ...ENVELOPE, spec: info.specSchema };
  if (info.statusSchema !== undefined) properties['status'] = info.statusSchema;
  const found: string[] = [];
  shape({ type: 'object', properties }, object, { path: '', onUnknown: (path) => found.push(path) });
  return found;
};
