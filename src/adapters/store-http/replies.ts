/** From what a Kubernetes-style server answers to the port's values. */
import type { IncomingHttpHeaders } from 'node:http';
import { apiVersionOf, KINDS, type KindMap, type KindName } from '../../api/registry.ts';
import type { FieldCause, Page, ReadResult, StoreError, StoreErrorCode } from '../../ports/store.ts';
import type { Reply } from './transport.ts';

type JsonObject = { readonly [key: string]: unknown };

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The value of a JSON text; undefined when it is none. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const BY_REASON: Readonly<Record<string, StoreErrorCode>> = {
  NotFound: 'NotFound',
  AlreadyExists: 'AlreadyExists',
  Conflict: 'Conflict',
  Invalid: 'Invalid',
  BadRequest: 'BadRequest',
  Forbidden: 'Forbidden',
  Unauthorized: 'Forbidden',
  Expired: 'Expired',
  Gone: 'Expired',
  RequestEntityTooLarge: 'TooLarge',
};

const BY_STATUS: Readonly<Record<number, StoreErrorCode>> = {
  400: 'BadRequest',
  401: 'Forbidden',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'BadRequest',
  409: 'Conflict',
  410: 'Expired',
  413: 'TooLarge',
  415: 'BadRequest',
  422: 'Invalid',
};

const causesOf = (status: JsonObject): readonly FieldCause[] => {
  const details = status['details'];
  const causes = isObject(details) ? details['causes'] : undefined;
  if (!Array.isArray(causes)) return [];
  return causes.filter(isObject).map((cause) => ({ field: textOf(cause['field']) ?? '', message: textOf(cause['message']) ?? '' }));
};

const UNAUTHORIZED = 'does not accept the credentials of the kubeconfig';

/** The error that a Status object stands for; `status` is the HTTP status that it came with (or its own code). */
export const statusError = (body: unknown, status: number, baseUrl: string): StoreError => {
  const byStatus = BY_STATUS[status] ?? 'Unavailable';
  if (status === 401) return { code: 'Forbidden', message: `the server at ${baseUrl} ${UNAUTHORIZED}` };
  if (!isObject(body) || body['kind'] !== 'Status') {
    return { code: byStatus, message: `the server at ${baseUrl} answers with status ${status} and no explanation` };
  }
  const reason = textOf(body['reason']) ?? '';
  const causes = causesOf(body);
  return {
    code: Object.hasOwn(BY_REASON, reason) ? (BY_REASON[reason] ?? byStatus) : byStatus,
    message: textOf(body['message']) ?? `the server at ${baseUrl} answers with status ${status}`,
    ...(causes.length === 0 ? {} : { causes }),
  };
};

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** The JSON object that a successful reply carries, or the error that any other reply stands for. */
export const bodyOf = (reply: Reply, baseUrl: string): ReadResult<JsonObject> => {
  if (!reply.ok) return reply;
  const body = parseJson(reply.body);
  if (!isSuccess(reply.status)) return { ok: false, error: statusError(body, reply.status, baseUrl) };
  if (isObject(body)) return { ok: true, value: body };
  return { ok: false, error: { code: 'Unavailable', message: `the server at ${baseUrl} answers with something that is not JSON` } };
};

const isResource = (value: unknown): value is JsonObject & { readonly metadata: JsonObject } =>
  isObject(value) && isObject(value['metadata']) && textOf(value['metadata']['name']) !== undefined;

const notOne = (kind: KindName, baseUrl: string): StoreError => ({
  code: 'Unavailable',
  message: `the server at ${baseUrl} answers with something that is no ${kind}`,
});

/** Reads an object of the kind. Items of lists may leave out kind and apiVersion. */
export const objectOf = <K extends KindName>(kind: K, value: unknown, baseUrl: string): ReadResult<KindMap[K]> => {
  if (!isResource(value) || (value['kind'] !== undefined && value['kind'] !== kind)) return { ok: false, error: notOne(kind, baseUrl) };
  const object: unknown = { ...value, apiVersion: apiVersionOf(KINDS[kind]), kind };
  return { ok: true, value: object as KindMap[K] };
};

/** Reads a list of the kind. */
export const pageOf = <K extends KindName>(kind: K, body: JsonObject, baseUrl: string): ReadResult<Page<KindMap[K]>> => {
  const metadata = isObject(body['metadata']) ? body['metadata'] : {};
  const resourceVersion = textOf(metadata['resourceVersion']);
  const given = body['items'] ?? [];
  if (body['kind'] !== `${kind}List` || resourceVersion === undefined || !Array.isArray(given))
    return { ok: false, error: notOne(kind, baseUrl) };
  const items: KindMap[K][] = [];
  for (const entry of given) {
    const item = objectOf(kind, entry, baseUrl);
    if (!item.ok) return item;
    items.push(item.value);
  }
  const token = textOf(metadata['continue']);
  return { ok: true, value: { items, resourceVersion, ...(token === undefined ? {} : { continue: token }) } };
};

/** The texts of `Warning: 299 - "…"` headers, quotes and backslashes unescaped. */
export const warningsOf = (headers: IncomingHttpHeaders): readonly string[] => {
  const header = headers['warning'];
  const joined = Array.isArray(header) ? header.join(', ') : (header ?? '');
  return [...joined.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) => (match[1] ?? '').replace(/\\(.)/g, '$1'));
};
