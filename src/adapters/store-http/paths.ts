/** Paths of the Kubernetes API. */
import type { KindInfo } from '../../api/registry.ts';

const basePath = ({ group, version }: KindInfo): string => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`);

/** Names that stand for something else in a path; no object can have them. */
const isImpossible = (segment: string): boolean => segment === '' || segment === '.' || segment === '..';

/** Path of a collection; all namespaces when none is given. Undefined when no such namespace can exist. */
export const collectionPath = (info: KindInfo, namespace: string | undefined): string | undefined => {
  if (!info.namespaced || namespace === undefined) return `${basePath(info)}/${info.plural}`;
  if (isImpossible(namespace)) return undefined;
  return `${basePath(info)}/namespaces/${encodeURIComponent(namespace)}/${info.plural}`;
};

/** Path of an object, or of its status. Undefined when no such object can exist. */
export const objectPath = (info: KindInfo, namespace: string, name: string): string | undefined => {
  const collection = collectionPath(info, namespace);
  return collection === undefined || isImpossible(name) ? undefined : `${collection}/${encodeURIComponent(name)}`;
};

/** The path with parameters; those that are undefined are left out. */
export const withQuery = (path: string, parameters: Readonly<Record<string, string | undefined>>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value);
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
};
