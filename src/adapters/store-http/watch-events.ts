/** A watch over HTTP, as events of the port. */
import { KINDS, type KindMap, type KindName } from '../../api/registry.ts';
import type { ReadResult, StoreError, WatchEvent } from '../../ports/store.ts';
import { collectionPath, withQuery } from './paths.ts';
import { bodyOf, objectOf, parseJson, statusError } from './replies.ts';
import type { Transport } from './transport.ts';

/** What is watched and from where. */
export interface WatchRequest<K extends KindName> {
  readonly kind: K;
  readonly baseUrl: string;
  /** The version to start after, once it is known. */
  readonly from: Promise<ReadResult<string>>;
  readonly namespace: string | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  readonly signal: AbortSignal;
}

type Fields = { readonly [key: string]: unknown };
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const versionOf = (object: unknown): string => {
  const metadata = isObject(object) ? object['metadata'] : undefined;
  const version = isObject(metadata) ? metadata['resourceVersion'] : undefined;
  return typeof version === 'string' ? version : '';
};

const unreadable = (baseUrl: string): StoreError => ({
  code: 'Unavailable',
  message: `the server at ${baseUrl} sends an event that cannot be read`,
});

const statusCodeOf = (status: unknown): number => {
  const code = isObject(status) ? status['code'] : undefined;
  return typeof code === 'number' ? code : 500;
};

const eventOf = <K extends KindName>({ kind, baseUrl }: WatchRequest<K>, line: string): WatchEvent<KindMap[K]> => {
  const event = parseJson(line);
  const object = isObject(event) ? event['object'] : undefined;
  const type = isObject(event) ? event['type'] : undefined;
  if (type === 'ERROR') return { type, error: statusError(object, statusCodeOf(object), baseUrl) };
  if (type === 'BOOKMARK') return { type, resourceVersion: versionOf(object) };
  const parsed = objectOf(kind, object, baseUrl);
  if ((type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') || !parsed.ok) return { type: 'ERROR', error: unreadable(baseUrl) };
  return { type, object: parsed.value, resourceVersion: versionOf(parsed.value) };
};

const pathOf = <K extends KindName>(request: WatchRequest<K>, resourceVersion: string): string | undefined => {
  const path = collectionPath(KINDS[request.kind], request.namespace);
  if (path === undefined) return undefined;
  return withQuery(path, {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion,
    labelSelector: request.labelSelector,
    fieldSelector: request.fieldSelector,
  });
};

const failed = (error: StoreError): { readonly type: 'ERROR'; readonly error: StoreError } => ({ type: 'ERROR', error });

/** Yields events until the signal fires, the server ends the stream, or an ERROR event, which a broken connection gives too. */
export const watchEvents = async function* <K extends KindName>(
  transport: Transport,
  request: WatchRequest<K>,
): AsyncGenerator<WatchEvent<KindMap[K]>> {
  const { signal, baseUrl } = request;
  const from = await request.from;
  if (signal.aborted) return;
  if (!from.ok) return yield failed(from.error);
  const path = pathOf(request, from.value);
  if (path === undefined) return yield failed({ code: 'BadRequest', message: 'the namespace of a watch must not be empty' });
  const stream = await transport.open(path, signal);
  if (signal.aborted) return;
  if (!stream.ok) {
    const body = bodyOf(stream.reply, baseUrl);
    return yield failed(body.ok ? unreadable(baseUrl) : body.error);
  }
  for await (const line of stream.lines) {
    const event = line.ok ? eventOf(request, line.text) : failed(line.error);
    yield event;
    if (event.type === 'ERROR') return;
  }
};
