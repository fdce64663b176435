/** Objects as text. */
import { stringify } from 'yaml';
import type { KindMap, KindName } from '../api/registry.ts';
import { displayName } from './kind-words.ts';

type AnyObject = KindMap[KindName];

/** The formats besides tables; `name` is `kind/name`. */
export type ObjectFormat = 'json' | 'yaml' | 'name';

/** One object; in YAML, one of several begins with `---`. */
export const printed = (object: AnyObject, format: ObjectFormat, several: boolean): string => {
  if (format === 'name') return `${displayName(object)}\n`;
  if (format === 'json') return `${JSON.stringify(object, undefined, 2)}\n`;
  return `${several ? '---\n' : ''}${stringify(object, { lineWidth: 0 })}`;
};

/** Several objects: as a List, or their names. */
export const listed = (objects: readonly AnyObject[], format: ObjectFormat): string => {
  if (format === 'name') return objects.map((object) => printed(object, 'name', true)).join('');
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  return format === 'json' ? `${JSON.stringify(list, undefined, 2)}\n` : stringify(list, { lineWidth: 0, aliasDuplicateObjects: false });
};
