/** Query parameters of the resource API: what each verb takes, and their values. */
import type { DeleteOptions, ListOptions } from '../ports/store.ts';
import { badRequest, type Parsed, refuse } from './refusal.ts';

/** Parameters as they came; a parameter that is given twice is a list. */
export type RawQuery = Readonly<Record<string, unknown>>;

/** Every parameter that is understood somewhere, with its value. Undefined means not given (or empty). */
export interface Query {
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  readonly limit: number | undefined;
  readonly continue: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
  readonly timeoutSeconds: number | undefined;
  readonly dryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  readonly propagation: Propagation | undefined;
  readonly includeObject: 'None' | 'Metadata' | 'Object';
  readonly pretty: boolean;
}

/** The groups of verbs that take the same parameters. */
export type Verb = 'get' | 'list' | 'write' | 'delete' | 'deletecollection';

const COMMON = ['pretty', 'timeout'];
const SELECT = ['labelSelector', 'fieldSelector', 'limit', 'continue', 'resourceVersion', 'resourceVersionMatch', 'timeoutSeconds'];
const REMOVE = ['dryRun', 'propagationPolicy', 'gracePeriodSeconds'];
const ACCEPTED: Readonly<Record<Verb, readonly string[]>> = {
  get: [...COMMON, 'resourceVersion', 'includeObject'],
  list: [...COMMON, ...SELECT, 'watch', 'allowWatchBookmarks', 'sendInitialEvents', 'includeObject'],
  write: [...COMMON, 'dryRun', 'fieldManager', 'fieldValidation', 'force'],
  delete: [...COMMON, ...REMOVE],
  deletecollection: [...COMMON, ...SELECT, ...REMOVE],
};

type Read<T> = (value: string) => T | undefined;

const flag: Read<boolean> = (value) => {
  if (/^(?:1|t|true|)$/i.test(value)) return true;
  return /^(?:0|f|false)$/i.test(value) ? false : undefined;
};
const whole: Read<number> = (value) => (/^\d{1,9}$/.test(value) ? Number(value) : undefined);
const anyText: Read<string> = (value) => value;
const oneOf =
  <T extends string>(...words: readonly T[]): Read<T> =>
  (value) =>
    words.find((word) => word === value);

/** What becomes of owned objects. */
export type Propagation = NonNullable<DeleteOptions['propagation']>;

const PROPAGATION: Readonly<Record<string, Propagation>> = { Background: 'background', Foreground: 'foreground', Orphan: 'orphan' };
/** Kubernetes' word for what becomes of owned objects, in the store's words; undefined for any other word. */
export const parsePropagation = (word: string): Propagation | undefined =>
  Object.hasOwn(PROPAGATION, word) ? PROPAGATION[word] : undefined;

/** Collects values and remembers the first problem. */
const reader = (raw: RawQuery) => {
  let problem: string | undefined;
  const read = <T>(name: string, parse: Read<T>, accepted: string): T | undefined => {
    const value = raw[name];
    if (value === undefined) return undefined;
    const parsed = typeof value === 'string' ? parse(value) : undefined;
    if (parsed === undefined) {
      const given = typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : 'more than one value';
      problem ??= `query parameter ${name}: got ${given}, accepted is ${accepted}`;
    }
    return parsed;
  };
  return { read, problem: () => problem };
};

const readAll = (raw: RawQuery): { readonly query: Query; readonly problem: string | undefined } => {
  const { read, problem } = reader(raw);
  const boolean = (name: string) => read(name, flag, 'true or false');
  const number = (name: string) => read(name, whole, 'a whole number, 0 or more');
  const text = (name: string) => read(name, anyText, 'one text');
  // Checked, but without effect here: nothing is slow to delete or has managed fields, and lists always show the latest version.
  number('gracePeriodSeconds');
  text('fieldManager');
  text('timeout');
  boolean('force');
  read('resourceVersionMatch', oneOf('NotOlderThan'), 'NotOlderThan (older versions are not kept for lists)');
  const query: Query = {
    labelSelector: text('labelSelector') || undefined,
    fieldSelector: text('fieldSelector') || undefined,
    limit: number('limit') || undefined,
    continue: text('continue') || undefined,
    resourceVersion: text('resourceVersion') || undefined,
    watch: boolean('watch') ?? false,
    allowWatchBookmarks: boolean('allowWatchBookmarks') ?? false,
    sendInitialEvents: boolean('sendInitialEvents'),
    timeoutSeconds: number('timeoutSeconds') || undefined,
    dryRun: read('dryRun', oneOf('All'), 'All') !== undefined,
    fieldValidation: read('fieldValidation', oneOf('Ignore', 'Warn', 'Strict'), 'Ignore, Warn or Strict') ?? 'Warn',
    propagation: read('propagationPolicy', parsePropagation, 'Background, Foreground or Orphan'),
    includeObject: read('includeObject', oneOf('None', 'Metadata', 'Object'), 'None, Metadata or Object') ?? 'Metadata',
    pretty: boolean('pretty') ?? false,
  };
  return { query, problem: problem() };
};

/** Reads the parameters of a request; one that the verb does not take, or a value that makes no sense, is refused. */
export const parseQuery = (verb: Verb, raw: RawQuery): Parsed<Query> => {
  const unknown = Object.keys(raw).find((name) => !ACCEPTED[verb].includes(name));
  if (unknown !== undefined) {
    const shown = JSON.stringify(unknown.slice(0, 100));
    return refuse(badRequest(`query parameter ${shown} is not known here; accepted are ${ACCEPTED[verb].join(', ')}`));
  }
  const { query, problem } = readAll(raw);
  return problem === undefined ? { ok: true, value: query } : refuse(badRequest(problem));
};

/** What the store needs to know to select objects. */
export const selectionOf = (query: Query, namespace: string | undefined): Omit<ListOptions, 'limit' | 'continue' | 'fresh'> => ({
  ...(namespace === undefined ? {} : { namespace }),
  ...(query.labelSelector === undefined ? {} : { labelSelector: query.labelSelector }),
  ...(query.fieldSelector === undefined ? {} : { fieldSelector: query.fieldSelector }),
});

/** What the store needs to know to list one page, at the latest version. */
export const listOptionsOf = (query: Query, namespace: string | undefined): ListOptions => ({
  ...selectionOf(query, namespace),
  ...(query.limit === undefined ? {} : { limit: query.limit }),
  ...(query.continue === undefined ? {} : { continue: query.continue }),
  fresh: true,
});
