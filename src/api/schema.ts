/**
 * The combinators every kind is written with. They produce structural schemas only (no anyOf, const, patternProperties or
 * additionalProperties: false), because one definition has to serve the embedded store, generated CRDs and TypeScript types alike.
 */
import { type TSchema, Type } from 'typebox';

/** Options that any field may carry besides its description. */
export interface FieldOptions {
  readonly default?: unknown;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
}

/** A UTF-8 string. */
export const text = (description: string, options: FieldOptions = {}) => Type.String({ description, ...options });

/** A whole number (int64). */
export const integer = (description: string, options: FieldOptions = {}) => Type.Integer({ description, format: 'int64', ...options });

/** A boolean. */
export const flag = (description: string, options: FieldOptions = {}) => Type.Boolean({ description, ...options });

/** A Go duration such as `1h30m`, `1.5h` or `100ms`; its syntax is checked by an admission rule. */
export const duration = (description: string, options: FieldOptions = {}) => Type.String({ description, maxLength: 64, ...options });

/** An RFC 3339 timestamp. */
export const timestamp = (description: string) => Type.String({ description, maxLength: 64 });

/** A list; `maxItems` bounds the cost of the admission rules that walk it. */
export const list = <T extends TSchema>(items: T, description: string, options: FieldOptions = {}) =>
  Type.Array(items, { description, ...options });

/** A map from string to string. */
export const stringMap = (description: string, options: FieldOptions = {}) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description,
    ...options,
  });

/** An object of which every field may be absent: the form of anything a user writes and an admission rule guards. */
export const fields = <P extends Record<string, TSchema>>(properties: P, description: string, options: FieldOptions = {}) =>
  Type.Partial(Type.Object(properties), { description, ...options });

/** An object of which every field is required: the form of what the engine itself writes. Wrap a field in `optional` where it may be absent. */
export const record = <P extends Record<string, TSchema>>(properties: P, description: string) => Type.Object(properties, { description });

/** Marks a field of a `record` as one that may be absent. */
export const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);

/** An object whose inner fields are not ours to describe (they are kept as given). */
export const opaque = <T>(description: string) =>
  Type.Unsafe<T>({ type: 'object', description, 'x-kubernetes-preserve-unknown-fields': true });
