/** Validation against a schema, with refusals that name the field, what was given and what is accepted. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FieldCause } from './field-cause.ts';

const MAX_CAUSES = 20;

/** `/spec/environments/0/name` as `spec.environments[0].name`. */
const fieldOf = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^[0-9]+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '');

/** What was given, short enough for a message. */
export const shown = (value: unknown): string => {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
};

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
};

const lengthOf = (value: unknown): number => (typeof value === 'string' || Array.isArray(value) ? value.length : 0);

const sentence = (error: ErrorObject): string => {
  const params: Readonly<Record<string, unknown>> = error.params;
  const limit = String(params['limit']);
  switch (error.keyword) {
    case 'type':
      return `must be ${TYPE_WORDS[String(params['type'])] ?? String(params['type'])}; got ${shown(error.data)}`;
    case 'required':
      return 'must be given';
    case 'maxLength':
      return `must be at most ${limit} characters; got ${lengthOf(error.data)}`;
    case 'maxItems':
      return `must have at most ${limit} entries; got ${lengthOf(error.data)}`;
    case 'minimum':
      return `must be at least ${limit}; got ${shown(error.data)}`;
    case 'maximum':
      return `must be at most ${limit}; got ${shown(error.data)}`;
    default:
      return error.message ?? 'is not accepted';
  }
};

const causeOf = (error: ErrorObject): FieldCause => {
  const field = fieldOf(error.instancePath);
  if (error.keyword !== 'required') return { field, message: sentence(error) };
  const missing = String(error.params['missingProperty']);
  return { field: field === '' ? missing : `${field}.${missing}`, message: sentence(error) };
};

/** Checks one value and gives all that is wrong with it, at most 20 entries. */
export type SchemaCheck = (value: unknown) => readonly FieldCause[];

/** Compiles a schema. */
export const compileSchema = (schema: object): SchemaCheck => {
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, validateFormats: false, ownProperties: true });
  const validate: ValidateFunction = ajv.compile(schema);
  return (value) => (validate(value) ? [] : (validate.errors ?? []).slice(0, MAX_CAUSES).map(causeOf));
};
