/** The watch verb: one JSON object a line, until the client, the time limit or the server ends it. */
import type { ServerResponse } from 'node:http';
import type { Resource } from '../api/meta.ts';
import { apiVersionOf } from '../api/registry.ts';
import type { StoreError, WatchEvent } from '../ports/store.ts';
import { type Call, type Context, subjectOf } from './call.ts';
import { type Query, selectionOf } from './query.ts';
import { statusBody, storeRefusal } from './refusal.ts';
import { tableOf } from './table.ts';

/** Where events go; resolves when there is room for more. */
type Send = (event: object) => Promise<void>;

/** What ends a watch, and whether its client reads tables. */
export interface WatchSession {
  readonly signal: AbortSignal;
  readonly table: boolean;
}

const wantsInitial = ({ sendInitialEvents, resourceVersion }: Query): boolean =>
  sendInitialEvents ?? (resourceVersion === undefined || resourceVersion === '0');

const INITIAL_END = { 'k8s.io/initial-events-end': 'true' };

/** Turns events of the store into those of the wire. */
const wireFormat = (context: Context, call: Call, table: boolean) => {
  const objectBody = (object: Resource): object =>
    table
      ? tableOf({
          info: call.info,
          objects: [object],
          metadata: { resourceVersion: object.metadata.resourceVersion },
          include: call.query.includeObject,
          now: context.clock.now(),
        })
      : object;
  return {
    changed: (type: string, object: Resource, resourceVersion: string | undefined): object => ({
      type,
      object: objectBody(resourceVersion === undefined ? object : { ...object, metadata: { ...object.metadata, resourceVersion } }),
    }),
    bookmark: (resourceVersion: string, annotations?: Record<string, string>): object => ({
      type: 'BOOKMARK',
      object: {
        kind: call.info.kind,
        apiVersion: apiVersionOf(call.info),
        metadata: { resourceVersion, creationTimestamp: null, ...(annotations ? { annotations } : {}) },
      },
    }),
    failed: (error: StoreError): object => ({ type: 'ERROR', object: statusBody(storeRefusal(error, subjectOf(call))) }),
  };
};

/** Sends what exists as ADDED events; the version to watch from, or undefined when that failed and the client has been told. */
const sendInitial = async (context: Context, call: Call, send: Send, wire: ReturnType<typeof wireFormat>): Promise<string | undefined> => {
  const page = await context.store.list(call.info.kind, { ...selectionOf(call.query, call.namespace), fresh: true });
  if (!page.ok) {
    await send(wire.failed(page.error));
    return undefined;
  }
  for (const object of page.value.items) await send(wire.changed('ADDED', object, undefined));
  const { sendInitialEvents, allowWatchBookmarks } = call.query;
  if (sendInitialEvents && allowWatchBookmarks) await send(wire.bookmark(page.value.resourceVersion, INITIAL_END));
  return page.value.resourceVersion;
};

const toWire = (event: WatchEvent<Resource>, call: Call, wire: ReturnType<typeof wireFormat>): object | undefined => {
  switch (event.type) {
    case 'ERROR':
      return wire.failed(event.error);
    case 'BOOKMARK':
      return call.query.allowWatchBookmarks ? wire.bookmark(event.resourceVersion) : undefined;
    default:
      return wire.changed(event.type, event.object, event.resourceVersion);
  }
};

const run = async (context: Context, call: Call, session: WatchSession, send: Send): Promise<void> => {
  const wire = wireFormat(context, call, session.table);
  const from = wantsInitial(call.query) ? await sendInitial(context, call, send, wire) : call.query.resourceVersion;
  if (from === undefined && wantsInitial(call.query)) return;
  const events = context.store.watch(call.info.kind, {
    ...selectionOf(call.query, call.namespace),
    ...(from === undefined ? {} : { resourceVersion: from }),
    signal: session.signal,
  });
  for await (const event of events) {
    if (session.signal.aborted) return;
    const line = toWire(event, call, wire);
    if (line) await send(line);
    if (event.type === 'ERROR') return;
  }
};

/** Resolves when the response takes more, or will never take any. */
const drained = (response: ServerResponse, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const go = () => {
      response.off('drain', go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    response.on('drain', go);
    signal.addEventListener('abort', go);
    if (signal.aborted) go();
  });

/** Streams events into the response and ends it. */
export const streamWatch = async (context: Context, call: Call, session: WatchSession, response: ServerResponse): Promise<void> => {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  response.flushHeaders();
  const send: Send = async (event) => {
    if (session.signal.aborted) return;
    if (!response.write(`${JSON.stringify(event)}\n`)) await drained(response, session.signal);
  };
  try {
    await run(context, call, session, send);
  } finally {
    response.end();
  }
};
