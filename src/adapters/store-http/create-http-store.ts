/** The store behind a Kubernetes-style API: the embedded one, or a cluster's. */
import { KINDS, type KindMap, type KindName } from '../../api/registry.ts';
import type {
  DeleteOptions,
  ListOptions,
  ReadResult,
  Store,
  StoreError,
  WatchEvent,
  WatchOptions,
  WriteOptions,
  WriteResult,
} from '../../ports/store.ts';
import { collectionPath, objectPath, withQuery } from './paths.ts';
import { bodyOf, objectOf, pageOf, warningsOf } from './replies.ts';
import { type Ask, createTransport, type Endpoint, type Transport } from './transport.ts';
import { watchEvents } from './watch-events.ts';

/** The store and what ends its connections. */
export type HttpStore = Store & { readonly close: () => void };

interface Client {
  readonly transport: Transport;
  readonly baseUrl: string;
  readonly closing: AbortController;
  /** Watches from "now" that do not know yet what now is; writes wait for them, so that such a watch sees all that this client writes later. */
  readonly starting: Set<Promise<unknown>>;
}

type Failed = { readonly ok: false; readonly error: StoreError };

const notFound = (kind: KindName, name: string): Failed => ({
  ok: false,
  error: { code: 'NotFound', message: `${KINDS[kind].plural} ${JSON.stringify(name)} not found` },
});

const isServed = (kind: unknown): kind is KindName => typeof kind === 'string' && Object.hasOwn(KINDS, kind);

const list = async <K extends KindName>(client: Client, kind: K, options: ListOptions) => {
  const path = collectionPath(KINDS[kind], options.namespace);
  if (path === undefined) return notFound(kind, '');
  const query = {
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit?.toString(),
    continue: options.continue,
  };
  const body = bodyOf(await client.transport.ask({ method: 'GET', path: withQuery(path, query) }), client.baseUrl);
  return body.ok ? pageOf(kind, body.value, client.baseUrl) : body;
};

const get = async <K extends KindName>(client: Client, kind: K, namespace: string, name: string): Promise<ReadResult<KindMap[K]>> => {
  const path = objectPath(KINDS[kind], namespace, name);
  if (path === undefined) return notFound(kind, name);
  const body = bodyOf(await client.transport.ask({ method: 'GET', path }), client.baseUrl);
  return body.ok ? objectOf(kind, body.value, client.baseUrl) : body;
};

const DRY_RUN = { dryRun: 'All' };

const send = async <T extends KindMap[KindName]>(client: Client, object: T, ask: Ask): Promise<WriteResult<T>> => {
  await Promise.allSettled(client.starting);
  const reply = await client.transport.ask({ ...ask, body: object });
  const body = bodyOf(reply, client.baseUrl);
  if (!body.ok) return body;
  const written = objectOf(object.kind, body.value, client.baseUrl);
  if (!written.ok) return written;
  // The server answers with an object of the kind that was sent, which objectOf has checked.
  return { ok: true, object: written.value as T, warnings: reply.ok ? warningsOf(reply.headers) : [] };
};

const unserved = (object: KindMap[KindName]): Failed => ({
  ok: false,
  error: { code: 'BadRequest', message: `kind ${JSON.stringify(object.kind)} is not served; served are ${Object.keys(KINDS).join(', ')}` },
});

const create = async <T extends KindMap[KindName]>(client: Client, object: T, options: WriteOptions = {}): Promise<WriteResult<T>> => {
  if (!isServed(object.kind)) return unserved(object);
  const path = collectionPath(KINDS[object.kind], object.metadata.namespace || 'default');
  if (path === undefined) return notFound(object.kind, object.metadata.name);
  return send(client, object, { method: 'POST', path: withQuery(path, options.dryRun ? DRY_RUN : {}) });
};

const replace = async <T extends KindMap[KindName]>(
  client: Client,
  object: T,
  subresource: '' | '/status',
  options: WriteOptions = {},
): Promise<WriteResult<T>> => {
  if (!isServed(object.kind)) return unserved(object);
  const path = objectPath(KINDS[object.kind], object.metadata.namespace || 'default', object.metadata.name);
  if (path === undefined) return notFound(object.kind, object.metadata.name);
  return send(client, object, { method: 'PUT', path: withQuery(`${path}${subresource}`, options.dryRun ? DRY_RUN : {}) });
};

const POLICY = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const;

const deleteBody = ({ uid, resourceVersion, propagation, dryRun }: DeleteOptions) => ({
  kind: 'DeleteOptions',
  apiVersion: 'v1',
  ...(propagation === undefined ? {} : { propagationPolicy: POLICY[propagation] }),
  ...(uid === undefined && resourceVersion === undefined
    ? {}
    : { preconditions: { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) } }),
  ...(dryRun ? { dryRun: ['All'] } : {}),
});

const remove = async <K extends KindName>(
  client: Client,
  kind: K,
  place: { readonly namespace: string; readonly name: string },
  options: DeleteOptions = {},
): Promise<WriteResult<KindMap[K]>> => {
  const path = objectPath(KINDS[kind], place.namespace, place.name);
  if (path === undefined) return notFound(kind, place.name);
  await Promise.allSettled(client.starting);
  // Some servers answer a deletion with a Status and not with the object, so it is read first.
  const before = await get(client, kind, place.namespace, place.name);
  if (!before.ok) return before;
  const reply = await client.transport.ask({ method: 'DELETE', path, body: deleteBody(options) });
  const body = bodyOf(reply, client.baseUrl);
  if (!body.ok) return body;
  const warnings = reply.ok ? warningsOf(reply.headers) : [];
  if (body.value['kind'] === 'Status') return { ok: true, object: before.value, warnings };
  const deleted = objectOf(kind, body.value, client.baseUrl);
  return deleted.ok ? { ok: true, object: deleted.value, warnings } : deleted;
};

/** The version that a watch from now on begins at. */
const currentVersion = async (client: Client, kind: KindName, namespace: string | undefined): Promise<ReadResult<string>> => {
  const page = await list(client, kind, { limit: 1, ...(namespace === undefined ? {} : { namespace }) });
  return page.ok ? { ok: true, value: page.value.resourceVersion } : page;
};

const watch = <K extends KindName>(client: Client, kind: K, options: WatchOptions): AsyncIterable<WatchEvent<KindMap[K]>> => {
  const { namespace, resourceVersion } = options;
  const from: Promise<ReadResult<string>> =
    resourceVersion === undefined ? currentVersion(client, kind, namespace) : Promise.resolve({ ok: true, value: resourceVersion });
  client.starting.add(from);
  from.finally(() => client.starting.delete(from));
  return watchEvents(client.transport, {
    kind,
    baseUrl: client.baseUrl,
    from,
    namespace,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    signal: AbortSignal.any([options.signal, client.closing.signal]),
  });
};

/** Makes the store. Reads always show the latest version. Nothing is retried and no watch is renewed: that is the caller's decision. */
export const createHttpStore = (endpoint: Endpoint): HttpStore => {
  const client: Client = {
    transport: createTransport(endpoint),
    baseUrl: endpoint.baseUrl,
    closing: new AbortController(),
    starting: new Set(),
  };
  return {
    get: (kind, namespace, name) => get(client, kind, namespace, name),
    list: (kind, options = {}) => list(client, kind, options),
    watch: (kind, options) => watch(client, kind, options),
    create: (object, options) => create(client, object, options),
    update: (object, options) => replace(client, object, '', options),
    updateStatus: (object, options) => replace(client, object, '/status', options),
    delete: (kind, namespace, name, options) => remove(client, kind, { namespace, name }, options),
    close: () => {
      client.closing.abort();
      client.transport.close();
    },
  };
};
