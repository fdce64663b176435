/** Kubernetes' label and field selectors: parsing, where a refusal is a value, and matching. */
import type { Resource } from './meta.ts';
import { GROUP } from './meta.ts';
import { KINDS, type KindName } from './registry.ts';

/** One requirement of a label selector. `values` is empty for `exists` and `absent`. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | 'absent';
  readonly values: readonly string[];
}
/** Requirements that must all hold; empty selects everything. `a=b` is `a in (b)`. */
export type LabelSelector = readonly LabelRequirement[];

/** One requirement of a field selector. */
export interface FieldRequirement {
  /** As written, such as `spec.pipeline`. */
  readonly field: string;
  readonly path: readonly string[];
  readonly equal: boolean;
  readonly value: string;
}
/** Requirements that must all hold; empty selects everything. */
export type FieldSelector = readonly FieldRequirement[];

/** A parsed selector, or what is wrong with it. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Whether the text may be the key of a label: a name of up to 63 characters, optionally after a DNS prefix and a slash. */
export const isLabelKey = (text: string): boolean => {
  const slash = text.indexOf('/');
  return slash < 0 ? NAME.test(text) : PREFIX.test(text.slice(0, slash)) && NAME.test(text.slice(slash + 1));
};

/** Whether the text may be the value of a label: empty, or up to 63 letters, digits, `-`, `_`, `.` that begin and end with a letter or digit. */
export const isLabelValue = (text: string): boolean => text === '' || NAME.test(text);

const refuse = (message: string): { readonly ok: false; readonly message: string } => ({ ok: false, message });

/** Cuts at commas that stand outside parentheses; undefined when the parentheses do not match. */
const splitOutsideParentheses = (text: string): readonly string[] | undefined => {
  const parts: string[] = [];
  let open = false;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '(' || character === ')') {
      if (open === (character === '(')) return undefined;
      open = !open;
    } else if (character === ',' && !open) {
      parts.push(text.slice(start, index).trim());
      start = index + 1;
    }
  }
  return open ? undefined : [...parts, text.slice(start).trim()];
};

const SET = /^([^\s()!=,]+)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUALITY = /^([^\s()!=,]+)\s*(==|=|!=)\s*([^\s()!=,]*)$/;
const EXISTENCE = /^(!?)\s*([^\s()!=,]+)$/;

const readRequirement = (text: string): LabelRequirement | undefined => {
  const set = SET.exec(text);
  if (set) {
    return {
      key: set[1] ?? '',
      operator: set[2] === 'in' ? 'in' : 'notin',
      values: (set[3] ?? '').split(',').map((value) => value.trim()),
    };
  }
  const equality = EQUALITY.exec(text);
  if (equality) return { key: equality[1] ?? '', operator: equality[2] === '!=' ? 'notin' : 'in', values: [equality[3] ?? ''] };
  const existence = EXISTENCE.exec(text);
  return existence ? { key: existence[2] ?? '', operator: existence[1] === '!' ? 'absent' : 'exists', values: [] } : undefined;
};

/** Reads `a=b,c!=d,e in (f,g),h notin (i),j,!k`; the empty text selects everything. */
export const parseLabelSelector = (text: string): Parsed<LabelSelector> => {
  if (text.trim() === '') return { ok: true, value: [] };
  const parts = splitOutsideParentheses(text);
  if (!parts) return refuse(`label selector ${JSON.stringify(text)}: parentheses do not match`);
  const requirements: LabelRequirement[] = [];
  for (const part of parts) {
    const requirement = readRequirement(part);
    if (!requirement) {
      return refuse(
        `label selector ${JSON.stringify(text)}: ${JSON.stringify(part)} is none of key=value, key!=value, key in (a,b), key notin (a,b), key, !key`,
      );
    }
    if (!isLabelKey(requirement.key))
      return refuse(`label selector ${JSON.stringify(text)}: ${JSON.stringify(requirement.key)} is not a label key`);
    const wrong = requirement.values.find((value) => !isLabelValue(value));
    if (wrong !== undefined) return refuse(`label selector ${JSON.stringify(text)}: ${JSON.stringify(wrong)} is not a label value`);
    requirements.push(requirement);
  }
  return { ok: true, value: requirements };
};

/** Whether labels meet every requirement; a missing label meets `!=`, `notin` and `!`. */
export const matchesLabels = (selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean =>
  selector.every(({ key, operator, values }) => {
    const value = labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
    const listed = value !== undefined && values.includes(value);
    return { in: listed, notin: !listed, exists: value !== undefined, absent: value === undefined }[operator];
  });

/** Fields of Kubernetes' own kinds that can be selected, besides metadata.name and metadata.namespace. */
const NATIVE_FIELDS: Partial<Record<KindName, readonly string[]>> = {
  Secret: ['type'],
  Namespace: ['status.phase'],
  Event: ['involvedObject.kind', 'involvedObject.namespace', 'involvedObject.name', 'involvedObject.uid', 'reason', 'type'],
};

const isSelectable = (kind: KindName, field: string): boolean =>
  field === 'metadata.name' ||
  field === 'metadata.namespace' ||
  (NATIVE_FIELDS[kind]?.includes(field) ?? false) ||
  (KINDS[kind].group === GROUP && /^(?:spec|status)(?:\.[A-Za-z0-9_-]+)+$/.test(field));

const FIELD = /^([^=!\\]+?)\s*(==|=|!=)((?:[^=\\]|\\[,=\\])*)$/;

/** Cuts at commas without a backslash before them. */
const splitFields = (text: string): readonly string[] => text.match(/(?:[^\\,]|\\.?)+/gs) ?? [];

/**
 * Reads `metadata.name=a,spec.pipeline!=b`; `\,`, `\=` and `\\` stand for the character itself. For our own kinds every scalar of spec and
 * status can be selected, for the others metadata.name, metadata.namespace and what Kubernetes offers.
 */
export const parseFieldSelector = (text: string, kind: KindName): Parsed<FieldSelector> => {
  const requirements: FieldRequirement[] = [];
  for (const part of splitFields(text.trim())) {
    const match = FIELD.exec(part.trim());
    if (!match) {
      return refuse(`field selector ${JSON.stringify(text)}: ${JSON.stringify(part)} is none of field=value, field==value, field!=value`);
    }
    const field = match[1] ?? '';
    if (!isSelectable(kind, field))
      return refuse(`field selector ${JSON.stringify(text)}: ${kind} cannot be selected by ${JSON.stringify(field)}`);
    const value = (match[3] ?? '').replace(/\\(.)/gs, '$1');
    requirements.push({ field, path: field.split('.'), equal: match[2] !== '!=', value });
  }
  return { ok: true, value: requirements };
};

const scalarAt = (object: unknown, path: readonly string[]): string => {
  let value: unknown = object;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return '';
    value = Reflect.get(value, key);
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};

/** Whether an object meets every requirement; a missing field counts as empty. */
export const matchesFields = (selector: FieldSelector, object: Resource): boolean =>
  selector.every(({ path, equal, value }) => (scalarAt(object, path) === value) === equal);
