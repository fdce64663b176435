/** Which path and method leads to which verb. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { KINDS, type KindInfo } from '../api/registry.ts';
import type { Answer, Call, Context } from './call.ts';

import { coreVersions, groupDocument, groupList, resourceList, servedVersions, versionDocument } from './discovery.ts';
import { openApiDocument, openApiIndex } from './openapi.ts';
import { parseQuery, type RawQuery, type Verb } from './query.ts';
import { getObject, listObjects } from './read.ts';
import { type Refusal, type Subject, statusBody } from './refusal.ts';
import { deleteCollection, deleteObject } from './remove.ts';
import { tableFor, wantsTable } from './table.ts';
import { streamWatch } from './watch.ts';
import { acceptedTypes, createObject, patchObject, updateObject } from './write.ts';

/** The routes' surroundings: what requests use, and the signal that ends every watch. */
export interface Surroundings extends Context {
  readonly closing: AbortSignal;
}

type Handler = (context: Context, call: Call) => Promise<Answer>;

/** One way to reach a kind: by collection or by name, in a namespace or over all. */
interface Route {
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly verb: Verb;
  readonly handle: Handler;
  readonly status?: true;
}

const basePath = ({ group, version }: Pick<KindInfo, 'group' | 'version'>): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

const collectionRoutes = (path: string): readonly Route[] => [
  { path, method: 'GET', verb: 'list', handle: listObjects },
  { path, method: 'POST', verb: 'write', handle: createObject },
  { path, method: 'DELETE', verb: 'deletecollection', handle: deleteCollection },
];

const objectRoutes = (path: string): readonly Route[] => [
  { path, method: 'GET', verb: 'get', handle: getObject },
  { path, method: 'PUT', verb: 'write', handle: updateObject },
  { path, method: 'PATCH', verb: 'write', handle: patchObject },
  { path, method: 'DELETE', verb: 'delete', handle: deleteObject },
];

const statusRoutes = (path: string): readonly Route[] => [
  { path, method: 'GET', verb: 'get', handle: getObject },
  { path, method: 'PUT', verb: 'write', handle: updateObject, status: true },
  { path, method: 'PATCH', verb: 'write', handle: patchObject, status: true },
];

const routesOf = (info: KindInfo): readonly Route[] => {
  const base = basePath(info);
  const collection = info.namespaced ? `${base}/namespaces/:namespace/${info.plural}` : `${base}/${info.plural}`;
  return [
    ...collectionRoutes(collection),
    ...objectRoutes(`${collection}/:name`),
    ...(info.statusSubresource ? statusRoutes(`${collection}/:name/status`) : []),
    ...(info.namespaced ? [{ path: `${base}/${info.plural}`, method: 'GET', verb: 'list', handle: listObjects } as const] : []),
  ];
};

const textOf = (params: unknown, name: string): string | undefined => {
  const value: unknown = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined;
  return typeof value === 'string' ? value : undefined;
};

/** The media type without its parameters. */
const mediaType = (request: FastifyRequest): string => (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/** Sends an object as JSON. */
export const sendJson = (reply: FastifyReply, code: number, body: object, pretty = false): FastifyReply =>
  reply
    .code(code)
    .header('content-type', 'application/json')
    .header('cache-control', 'no-cache, private')
    .send(pretty ? `${JSON.stringify(body, undefined, 2)}\n` : JSON.stringify(body));

/** Sends a refusal as a Status. */
export const sendRefusal = (reply: FastifyReply, refusal: Refusal, subject?: Subject): FastifyReply =>
  sendJson(reply, refusal.code, statusBody(refusal, subject));

/** Header fields carry printable ASCII; quotes and backslashes are escaped. */
const warningHeader = (warning: string): string =>
  `299 - "${warning
    .slice(0, 1000)
    .replace(/[^\x20-\x7e]/g, '?')
    .replace(/["\\]/g, '\\$&')}"`;

const MAX_WARNINGS = 16;

/** A request and its reply. */
interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

const sendAnswer = (context: Context, call: Call, { request, reply }: Exchange, end: Answer): FastifyReply => {
  if (!end.ok) return sendRefusal(reply, end.refusal, end.subject);
  if (end.warnings.length > 0) reply.header('warning', end.warnings.slice(0, MAX_WARNINGS).map(warningHeader));
  const table = request.method === 'GET' && wantsTable(request.headers.accept);
  const body = table ? tableFor(call.info, end.body, { include: call.query.includeObject, now: context.clock.now() }) : end.body;
  return sendJson(reply, end.code, body, call.query.pretty);
};

const watchSignal = (surroundings: Surroundings, call: Call, reply: FastifyReply): AbortSignal => {
  const gone = new AbortController();
  reply.raw.on('close', () => gone.abort());
  reply.raw.on('error', () => gone.abort());
  const seconds = call.query.timeoutSeconds;
  if (seconds !== undefined) {
    const cancel = surroundings.clock.at(surroundings.clock.now() + seconds * 1000, () => gone.abort());
    gone.signal.addEventListener('abort', cancel);
  }
  return AbortSignal.any([gone.signal, surroundings.closing]);
};

const watch = async (surroundings: Surroundings, call: Call, { request, reply }: Exchange): Promise<void> => {
  const session = { signal: watchSignal(surroundings, call, reply), table: wantsTable(request.headers.accept) };
  reply.hijack();
  await streamWatch(surroundings, call, session, reply.raw).catch((error: unknown) => {
    surroundings.log.error('a watch failed', { kind: call.info.kind, error: String(error) });
  });
};

const unsupportedType = (given: string, accepted: readonly string[]): Refusal => ({
  code: 415,
  reason: 'UnsupportedMediaType',
  message: `the body of the request has the media type ${JSON.stringify(given.slice(0, 100))}; accepted are ${accepted.join(', ')}`,
});

const serve = async (surroundings: Surroundings, info: KindInfo, route: Route, exchange: Exchange) => {
  const { request, reply } = exchange;
  const query = parseQuery(route.verb, request.query as RawQuery);
  const name = textOf(request.params, 'name');
  const subject = { info, name: name ?? '' };
  if (!query.ok) return sendRefusal(reply, query.refusal, subject);
  const contentType = mediaType(request);
  if (route.verb === 'write' && !acceptedTypes(route.method, info).includes(contentType)) {
    return sendRefusal(reply, unsupportedType(contentType, acceptedTypes(route.method, info)), subject);
  }
  const call: Call = {
    info,
    namespace: textOf(request.params, 'namespace'),
    name,
    status: route.status === true,
    query: query.value,
    body: request.body,
    contentType,
  };
  if (route.verb === 'list' && call.query.watch) return watch(surroundings, call, exchange);
  return sendAnswer(surroundings, call, exchange, await route.handle(surroundings, call));
};

const registerDiscovery = (app: FastifyInstance): void => {
  const document = (path: string, body: object) => app.get(path, (_, reply) => sendJson(reply, 200, body));
  document('/api', coreVersions());
  document('/apis', groupList());
  document('/version', versionDocument());
  document('/openapi/v3', openApiIndex(servedVersions()));
  for (const { group, version } of servedVersions()) {
    document(basePath({ group, version }), resourceList(group, version));
    document(`/openapi/v3${basePath({ group, version })}`, openApiDocument({ group, version }));
    if (group !== '') document(`/apis/${group}`, groupDocument(group));
  }
};

/** Registers discovery and every kind. */
export const registerRoutes = (app: FastifyInstance, surroundings: Surroundings): void => {
  registerDiscovery(app);
  for (const info of Object.values(KINDS)) {
    for (const route of routesOf(info)) {
      app.route({
        method: route.method,
        url: route.path,
        handler: (request, reply) => serve(surroundings, info, route, { request, reply }),
      });
    }
  }
};
