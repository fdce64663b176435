/** The resource API over a real store, as a client over TLS sees it. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubeAccess, loadKubeconfig } from '../../src/adapters/store-http/kubeconfig.ts';
import { openSqliteStore, type SqliteStore } from '../../src/adapters/store-sqlite/index.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { admit } from '../../src/api/admission.ts';
import { type ApiServer, startApiServer } from '../../src/apiserver/start-api-server.ts';
import type { Log } from '../../src/ports/log.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';
import type { StoreSettings } from './store-fixtures.ts';

const quiet = () => undefined;
/** Says nothing but what must not happen. */
export const quietLog: Log = { debug: quiet, info: quiet, warn: quiet, error: (message, fields) => console.error(message, fields) };

/** An answer, with its body parsed when it is JSON. */
export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  // Tests look into bodies freely; a wrong guess fails the test.
  readonly body: Record<string, unknown>;
  readonly text: string;
}

/** What a test sends. A body that is a text is sent as it is. */
export interface Sent {
  readonly method?: string;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** False leaves the token out. */
  readonly token?: string | false;
}

/** A running resource API. */
export interface ApiUnderTest extends AsyncDisposable {
  readonly server: ApiServer;
  readonly access: KubeAccess;
  readonly store: SqliteStore;
  /** The store's clock. */
  readonly clock: ManualClock;
  readonly dataDir: string;
  readonly send: (path: string, sent?: Sent) => Promise<Answered>;
}

const parse = (text: string): Record<string, unknown> => {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
};

const send = (access: KubeAccess, path: string, sent: Sent): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(access.server);
    const token = sent.token ?? access.token;
    const body = sent.body === undefined || typeof sent.body === 'string' ? sent.body : JSON.stringify(sent.body);
    const asked = request({
      hostname,
      port,
      path,
      agent: false,
      method: sent.method ?? 'GET',
      ...(access.ca === undefined ? {} : { ca: access.ca }),
      headers: {
        ...(token === false ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
        ...sent.headers,
      },
    });
    asked.on('error', reject);
    asked.on('response', async (response) => {
      response.on('error', reject);
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parse(text), text });
    });
    asked.end(body);
  });

/** Starts one. `dataDir` keeps its certificates; a temporary one is made and removed when absent. */
export const makeApi = async (settings: StoreSettings & { readonly dataDir?: string } = {}): Promise<ApiUnderTest> => {
  const directory = mkdtempSync(join(tmpdir(), 'promoter-store-'));
  const dataDir = settings.dataDir ?? mkdtempSync(join(tmpdir(), 'promoter-api-'));
  const clock = manualClock(Date.parse('2026-02-03T04:05:06.789Z'));
  const { dataDir: _, ...bounds } = settings;
  const opened = await openSqliteStore({ directory, clock, admit, ...bounds });
  if (opened.outcome !== 'done') throw new Error(opened.reason.message);
  const store = opened.value;
  const server = await startApiServer({ store, host: '127.0.0.1', port: 0, dataDir, log: quietLog, clock: systemClock });
  const access = await loadKubeconfig(server.kubeconfigPath);
  if (access.outcome !== 'done') throw new Error(access.reason.message);
  return {
    server,
    access: access.value,
    store,
    clock,
    dataDir,
    send: (path, sent = {}) => send(access.value, path, sent),
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
      if (settings.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
};
