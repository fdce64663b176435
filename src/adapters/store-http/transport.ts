/** HTTP to one server: requests whose failure is a value, and streams of lines. */
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { StoreError } from '../../ports/store.ts';

/** Where the server is and how it is spoken to. */
export interface Endpoint {
  /** Such as `https://127.0.0.1:8084`; a path is kept in front of every request's. */
  readonly baseUrl: string;
  /** Certificate authority in PEM; the system's when absent. */
  readonly ca?: string;
  /** Bearer token. */
  readonly token?: string;
  /** Client certificate and key in PEM. */
  readonly client?: { readonly certificate: string; readonly key: string };
  /** Believes any certificate. Off unless asked for. */
  readonly insecureSkipTlsVerify?: boolean;
  /** Milliseconds without any byte after which a request (not a watch) is given up; 30,000 when absent. */
  readonly timeoutMs?: number;
}

/** One request. The path begins with `/` and is already encoded. */
export interface Ask {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

/** What came back, or why nothing did. */
export type Reply =
  | { readonly ok: true; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }
  | { readonly ok: false; readonly error: StoreError };

/** A line of a stream, or why there will be no more. */
export type Line = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: StoreError };

/** An open stream of lines, or a reply that is none. */
export type Stream = { readonly ok: true; readonly lines: AsyncIterable<Line> } | { readonly ok: false; readonly reply: Reply };

/** A client of one server. */
export interface Transport {
  readonly ask: (request: Ask) => Promise<Reply>;
  /** Opens a GET whose answer is read line by line, until it ends, the signal fires or the connection breaks (which is the last line). */
  readonly open: (path: string, signal: AbortSignal) => Promise<Stream>;
  /** Ends all connections. */
  readonly close: () => void;
}

const MAX_REPLY = 256 * 1024 * 1024;
const MAX_LINE = 16 * 1024 * 1024;
const DEFAULT_TIMEOUT = 30_000;
const KEEP_ALIVE_PROBE = 30_000;

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused; is the controller running?',
  ECONNRESET: 'the connection was closed',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be looked up now',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  EPROTO: 'the server does not speak TLS',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by an authority that is trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by an authority that is trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by an authority that is trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is not signed by an authority that is trusted',
  CERT_SIGNATURE_FAILURE: 'its certificate is not signed by the authority of the kubeconfig',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  CERT_HAS_EXPIRED: 'its certificate has expired',
};

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '');

/** The error for a server that gave no answer. */
export const unreachable = (baseUrl: string, error: unknown): StoreError => {
  const code = codeOf(error);
  const cause = Object.hasOwn(CAUSES, code) ? CAUSES[code] : code || 'the connection broke';
  return { code: 'Unavailable', message: `no answer from the server at ${baseUrl}: ${cause}` };
};

interface Wire {
  readonly endpoint: Endpoint;
  readonly base: URL;
  readonly agent: HttpAgent | HttpsAgent;
}

const start = ({ endpoint, base, agent }: Wire, ask: Ask, body: string | undefined): ClientRequest => {
  const options: RequestOptions = {
    agent,
    method: ask.method,
    hostname: base.hostname.replace(/^\[|\]$/g, ''),
    port: base.port,
    path: `${base.pathname.replace(/\/+$/, '')}${ask.path}`,
    headers: {
      accept: 'application/json',
      'user-agent': 'promoter',
      ...(endpoint.token === undefined ? {} : { authorization: `Bearer ${endpoint.token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    },
  };
  return base.protocol === 'https:' ? httpsRequest(options) : httpRequest(options);
};

const readAll = async (response: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > MAX_REPLY) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const responseOf = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
  });

const timeoutError = (milliseconds: number): Error => Object.assign(new Error(), { code: `nothing came for ${milliseconds / 1000} s` });

const once = async (wire: Wire, ask: Ask): Promise<{ readonly reply: Reply; readonly stale: boolean }> => {
  const body = ask.body === undefined ? undefined : JSON.stringify(ask.body);
  const request = start(wire, ask, body);
  const timeout = wire.endpoint.timeoutMs ?? DEFAULT_TIMEOUT;
  request.setTimeout(timeout, () => request.destroy(timeoutError(timeout)));
  try {
    const arrived = responseOf(request);
    request.end(body);
    const response = await arrived;
    const text = await readAll(response);
    if (text === undefined) {
      const message = `the server at ${wire.endpoint.baseUrl} answers with more than ${MAX_REPLY} bytes; ask for less with a limit`;
      return { reply: { ok: false, error: { code: 'TooLarge', message } }, stale: false };
    }
    return { reply: { ok: true, status: response.statusCode ?? 0, headers: response.headers, body: text }, stale: false };
  } catch (error) {
    // A connection that was kept may have been closed by the server at the very moment it was used again.
    const stale = request.reusedSocket && codeOf(error) === 'ECONNRESET';
    return { reply: { ok: false, error: unreachable(wire.endpoint.baseUrl, error) }, stale };
  }
};

const ask = async (wire: Wire, request: Ask): Promise<Reply> => {
  const first = await once(wire, request);
  return first.stale && request.method === 'GET' ? (await once(wire, request)).reply : first.reply;
};

/** Cuts a text into complete lines and what follows the last of them. */
const cutLines = (text: string): { readonly lines: readonly string[]; readonly rest: string } => {
  const end = text.lastIndexOf('\n') + 1;
  return {
    lines: text
      .slice(0, end)
      .split('\n')
      .filter((line) => line.trim() !== ''),
    rest: text.slice(end),
  };
};

const linesOf = async function* ({ endpoint }: Wire, response: IncomingMessage, signal: AbortSignal): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  let pending = '';
  try {
    for await (const chunk of response) {
      const { lines, rest } = cutLines(pending + decoder.decode(chunk, { stream: true }));
      pending = rest;
      for (const text of lines) {
        if (signal.aborted) return;
        yield { ok: true, text };
      }
      if (pending.length > MAX_LINE) {
        return yield {
          ok: false,
          error: { code: 'TooLarge', message: `the server at ${endpoint.baseUrl} sends an event that is too large` },
        };
      }
    }
  } catch (error) {
    if (!signal.aborted) yield { ok: false, error: unreachable(endpoint.baseUrl, error) };
  } finally {
    response.destroy();
  }
};

const open = async (wire: Wire, path: string, signal: AbortSignal): Promise<Stream> => {
  const request = start(wire, { method: 'GET', path }, undefined);
  const stop = () => request.destroy();
  signal.addEventListener('abort', stop, { once: true });
  request.on('close', () => signal.removeEventListener('abort', stop));
  // A peer that vanished without a word is noticed by the kernel's probes.
  request.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_PROBE));
  if (signal.aborted) stop();
  const timeout = wire.endpoint.timeoutMs ?? DEFAULT_TIMEOUT;
  const timer = setTimeout(() => request.destroy(timeoutError(timeout)), timeout);
  try {
    const arrived = responseOf(request);
    request.end();
    const response = await arrived.finally(() => clearTimeout(timer));
    if (response.statusCode === 200) return { ok: true, lines: linesOf(wire, response, signal) };
    const body = (await readAll(response)) ?? '';
    return { ok: false, reply: { ok: true, status: response.statusCode ?? 0, headers: response.headers, body } };
  } catch (error) {
    return { ok: false, reply: { ok: false, error: unreachable(wire.endpoint.baseUrl, error) } };
  }
};

const agentFor = (endpoint: Endpoint, base: URL): HttpAgent | HttpsAgent => {
  if (base.protocol !== 'https:') return new HttpAgent({ keepAlive: true });
  return new HttpsAgent({
    keepAlive: true,
    minVersion: 'TLSv1.2',
    ...(endpoint.ca === undefined ? {} : { ca: endpoint.ca }),
    ...(endpoint.client ? { cert: endpoint.client.certificate, key: endpoint.client.key } : {}),
    ...(endpoint.insecureSkipTlsVerify ? { rejectUnauthorized: false } : {}),
  });
};

/** Makes a client of one server; the base URL must be http or https (a programmer's or a checked kubeconfig's). */
export const createTransport = (endpoint: Endpoint): Transport => {
  const base = new URL(endpoint.baseUrl);
  const wire: Wire = { endpoint, base, agent: agentFor(endpoint, base) };
  return {
    ask: (request) => ask(wire, request),
    open: (path, signal) => open(wire, path, signal),
    close: () => wire.agent.destroy(),
  };
};
