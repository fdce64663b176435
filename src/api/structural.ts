/** Structural schemas as plain data, and what a Kubernetes API server does to an object by them: pruning, nulls, defaults. */

/** The part of JSON Schema that our combinators produce. */
export interface StructuralSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly required?: readonly string[];
  readonly items?: StructuralSchema;
  readonly additionalProperties?: StructuralSchema;
  readonly default?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object. */
export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Takes the path of a field that was pruned, such as `spec.git.ulr`. */
export type OnUnknown = (path: string) => void;

const joined = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

const shapeMap = (schema: StructuralSchema, value: Json): Json => {
  // A null in a map of values that cannot be null is dropped, like any other null without a default.
  if (!Object.values(value).includes(null)) return value;
  const entries = Object.entries(value).map(([key, child]): [string, unknown] => [key, child ?? schema.default]);
  return Object.fromEntries(entries.filter(([, child]) => child !== undefined));
};

const shapeProperties = (properties: Readonly<Record<string, StructuralSchema>>, value: Json, at: Place): Json => {
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (schema === undefined) {
      at.onUnknown(joined(at.path, key));
      continue;
    }
    const child = value[key];
    if (child !== null && child !== undefined) out[key] = shape(schema, child, { path: joined(at.path, key), onUnknown: at.onUnknown });
  }
  for (const [key, schema] of Object.entries(properties)) {
    if (schema.default !== undefined && out[key] === undefined) out[key] = structuredClone(schema.default);
  }
  return out;
};

interface Place {
  readonly path: string;
  readonly onUnknown: OnUnknown;
}

/**
 * A copy of the value with unknown fields pruned (each is reported), nulls of fields dropped, and defaults filled in where their parent is
 * there. Values of the wrong type are left for validation to refuse. The argument is not changed.
 */
export const shape = (schema: StructuralSchema, value: unknown, at: Place): unknown => {
  if (schema['x-kubernetes-preserve-unknown-fields']) return value;
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined) return value;
    return value.map((child: unknown, index) => shape(items, child, { path: `${at.path}[${index}]`, onUnknown: at.onUnknown }));
  }
  if (!isObject(value)) return value;
  if (schema.properties !== undefined) return shapeProperties(schema.properties, value, at);
  return schema.additionalProperties === undefined ? value : shapeMap(schema.additionalProperties, value);
};
