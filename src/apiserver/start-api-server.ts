/** The embedded resource API: Kubernetes' paths and JSON over TLS, for whoever holds the token. */
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { bearerToken, tokenCheck } from './bearer.ts';
import { answerClientError } from './client-error.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { isTooDeep, MAX_DEPTH } from './object-body.ts';
import { JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from './patch.ts';
import { loadOrCreatePki, type Pki } from './pki.ts';
import { readOrCreateToken, writePrivateFile } from './private-file.ts';
import { decodeProtobuf, PROTOBUF } from './protobuf-body.ts';
import { badRequest, NO_SUCH_PATH, type Refusal, tooLarge, UNAUTHORIZED } from './refusal.ts';
import { registerRoutes, sendRefusal } from './routes.ts';

/** Bytes that the body of a request may have. */
export const BODY_LIMIT = 3 * 1024 * 1024;

/** Milliseconds within which a request must have arrived: nobody holds connections open by sending slowly. */
const REQUEST_TIMEOUT = 60_000;

/** What the resource API needs. */
export interface ApiServerOptions {
  readonly store: Store;
  /** Address to listen on; loopback unless somebody asks for more. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Holds `pki/`, `api-token` and `kubeconfig`, each readable by its owner only. */
  readonly dataDir: string;
  readonly log: Log;
  readonly clock: Clock;
}

/** A running resource API. */
export interface ApiServer {
  /** `https://127.0.0.1:8084`, with the port that was taken. */
  readonly url: string;
  readonly kubeconfigPath: string;
  /** Ends watches and connections, and resolves when the port is free. */
  readonly close: () => Promise<void>;
}

const decode = (body: Buffer): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
};

/** An error that Fastify hands to the error handler, with the refusal that it stands for. */
const failure = (refusal: Refusal): FastifyError & { readonly refusal: Refusal } =>
  Object.assign(new Error(refusal.message), { code: 'REFUSED', statusCode: refusal.code, refusal, name: 'Refused' });

const registerBodies = (app: FastifyInstance): void => {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/json', MERGE_PATCH, JSON_PATCH, STRATEGIC_PATCH], { parseAs: 'buffer' }, (request, body, done) => {
    const text = typeof body === 'string' ? body : decode(body);
    if (text === undefined) return done(failure(badRequest('the body is not UTF-8')));
    if (text.trim() === '') return done(null, undefined);
    parse(request, text, (error, value) => {
      if (error) return done(failure(badRequest('the body is not JSON, or has keys such as __proto__')));
      if (isTooDeep(value)) return done(failure(badRequest(`the body nests deeper than ${MAX_DEPTH} levels`)));
      return done(null, value);
    });
  });
};

const registerProtobuf = (app: FastifyInstance): void => {
  app.addContentTypeParser(PROTOBUF, { parseAs: 'buffer' }, (_, body, done) => {
    const decoded = decodeProtobuf(Buffer.from(body));
    return decoded.ok ? done(null, decoded.value) : done(failure(decoded.refusal));
  });
};

const refusalOf = (error: FastifyError): Refusal | undefined => {
  if ('refusal' in error) return error.refusal as Refusal;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge(`the body may have ${BODY_LIMIT} bytes`);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return { code: 415, reason: 'UnsupportedMediaType', message: UNSUPPORTED };
    default:
      return error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
        ? { ...badRequest('the request is malformed'), code: error.statusCode }
        : undefined;
  }
};

const UNSUPPORTED =
  `the body's media type is not understood; accepted are application/json to create, update and delete, ` +
  `${MERGE_PATCH} and ${JSON_PATCH} to patch`;

const INTERNAL: Refusal = { code: 500, reason: 'InternalError', message: 'an internal error occurred; the log of the server says more' };

const registerErrors = (app: FastifyInstance, log: Log): void => {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const refusal = refusalOf(error);
    if (refusal === undefined) {
      log.error('a request to the resource API failed', { method: request.method, path: request.routeOptions.url, error: error.stack });
    }
    return sendRefusal(reply, refusal ?? INTERNAL);
  });
  app.setNotFoundHandler((_, reply) => sendRefusal(reply, NO_SUCH_PATH));
};

const makeApp = (pki: Pki, authenticated: (request: FastifyRequest) => boolean): FastifyInstance => {
  const unauthorized = (reply: FastifyReply) => sendRefusal(reply.header('www-authenticate', 'Bearer'), UNAUTHORIZED);
  // The type of an HTTPS instance differs only in its raw server, which nothing here looks at.
  const app = Fastify({
    https: { key: pki.key, cert: pki.certificate, minVersion: 'TLSv1.2' },
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    requestTimeout: REQUEST_TIMEOUT,
    routerOptions: { maxParamLength: 300 },
    clientErrorHandler: answerClientError,
    frameworkErrors: (_, request, reply) => {
      if (authenticated(request)) sendRefusal(reply, badRequest('the path is malformed'));
      else unauthorized(reply);
    },
  }) as unknown as FastifyInstance;
  app.addHook('onRequest', async (request, reply) => (authenticated(request) ? undefined : unauthorized(reply)));
  return app;
};

const ANY_ADDRESS = new Set(['0.0.0.0', '::', '']);

/** The host under which clients on this machine reach what listens on that address. */
const reachableHost = (host: string): string => {
  if (ANY_ADDRESS.has(host)) return '127.0.0.1';
  return isIPv6(host) ? `[${host}]` : host;
};

const portOf = (app: FastifyInstance): number => {
  const address = app.server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

/** Starts the resource API and writes the kubeconfig once it listens. Throws when the address is taken or the folder cannot be written. */
export const startApiServer = async (options: ApiServerOptions): Promise<ApiServer> => {
  const { store, host, port, dataDir, log, clock } = options;
  const hosts = ANY_ADDRESS.has(host) ? [] : [host];
  const pki = await loadOrCreatePki({ folder: join(dataDir, 'pki'), hosts, now: clock.now() });
  const token = await readOrCreateToken(join(dataDir, 'api-token'));
  const isToken = tokenCheck(token);
  const app = makeApp(pki, (request) => isToken(bearerToken(request.headers.authorization)));
  const closing = new AbortController();
  registerBodies(app);
  registerProtobuf(app);
  registerErrors(app, log);
  registerRoutes(app, { store, clock, log, closing: closing.signal });
  const close = async () => {
    closing.abort();
    await app.close();
  };
  await app.listen({ host, port });
  const url = `https://${reachableHost(host)}:${portOf(app)}`;
  const kubeconfigPath = join(dataDir, 'kubeconfig');
  try {
    await writePrivateFile(kubeconfigPath, kubeconfigText({ url, ca: pki.ca, token }));
  } catch (error) {
    await close();
    throw error;
  }
  log.info('the resource API listens', { url, kubeconfig: kubeconfigPath });
  return { url, kubeconfigPath, close };
};
