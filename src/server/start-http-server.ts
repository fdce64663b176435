/** The HTTP surface: bundle endpoint and health. */
import { isIPv6 } from 'node:net';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { noteAllowedMethods } from './allowed-methods.ts';
import { BUNDLE_BODY_LIMIT, BUNDLES_PATH, registerBundleEndpoint } from './bundle-endpoint.ts';
import { answerClientError } from './client-error.ts';
import { type Problem, sendProblem } from './problem.ts';

/** Whether the service does its work, and if not, why. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

/** What the HTTP surface needs. */
export interface HttpServerOptions {
  readonly store: Store;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The bundle endpoint is on only when it is given and not empty. */
  readonly bundleApiToken?: string;
  /** Requests a minute for each token; 0 is no limit. */
  readonly rateLimitPerMinute: number;
  /** The base of links; the request's Host when absent. */
  readonly externalUrl?: string;
  /** Asked by `/readyz`; always ready when absent. */
  readonly readiness?: () => Readiness;
  readonly log: Log;
  readonly clock: Clock;
}

/** A running HTTP surface. */
export interface HttpServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const problemOf = (error: FastifyError): Problem | undefined => {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return { status: 413, detail: `the body may have ${BUNDLE_BODY_LIMIT} bytes` };
  const status = error.statusCode ?? 500;
  return status >= 400 && status < 500 ? { status, detail: 'the request is malformed' } : undefined;
};

/** Milliseconds within which a request must have arrived: nobody holds connections open by sending slowly. */
const REQUEST_TIMEOUT = 30_000;

const INTERNAL: Problem = { status: 500, detail: 'an internal error occurred; the log of the server says more' };

const registerErrors = (app: FastifyInstance, log: Log): void => {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const problem = problemOf(error);
    if (!problem) log.error('a request failed', { method: request.method, path: request.routeOptions.url, error: error.stack });
    return sendProblem(reply, problem ?? INTERNAL);
  });
  const allowedAt = noteAllowedMethods(app);
  app.setNotFoundHandler((request, reply) => {
    const allow = allowedAt(request.url).join(', ');
    if (allow === '') return sendProblem(reply, { status: 404, detail: 'there is nothing at this path' });
    return sendProblem(reply, { status: 405, detail: `this path takes ${allow}`, headers: { allow } });
  });
};

const registerHealth = (app: FastifyInstance, readiness: () => Readiness): void => {
  app.get('/healthz', (_, reply) => reply.type('text/plain').send('ok\n'));
  app.get('/readyz', (_, reply) => {
    const state = readiness();
    return state.ready ? reply.type('text/plain').send('ok\n') : sendProblem(reply, { status: 503, detail: state.reason });
  });
};

const urlOf = (app: FastifyInstance, host: string): string => {
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const shown = host === '0.0.0.0' || host === '::' || host === '' ? '127.0.0.1' : host;
  return `http://${isIPv6(shown) ? `[${shown}]` : shown}:${port}`;
};

/** Starts the HTTP surface. Throws when the address cannot be listened on. */
export const startHttpServer = async (options: HttpServerOptions): Promise<HttpServer> => {
  const { store, host, port, bundleApiToken, rateLimitPerMinute, externalUrl, log, clock } = options;
  const app = Fastify({
    forceCloseConnections: true,
    requestTimeout: REQUEST_TIMEOUT,
    bodyLimit: BUNDLE_BODY_LIMIT,
    routerOptions: { maxParamLength: 300 },
    clientErrorHandler: answerClientError,
    frameworkErrors: (_, __, reply) => {
      sendProblem(reply, { status: 400, detail: 'the path is malformed' });
    },
  });
  const closing = new AbortController();
  registerErrors(app, log);
  registerHealth(app, options.readiness ?? (() => ({ ready: true })));
  if (!bundleApiToken) {
    const off = 'the bundle endpoint is off: the controller was started without --bundle-api-token (or PROMOTER_BUNDLE_TOKEN)';
    const answer = async (_: unknown, reply: FastifyReply) => sendProblem(reply, { status: 404, detail: off });
    // Before the body is looked at: whatever it is, nobody takes it.
    app.all(BUNDLES_PATH, { onRequest: answer }, answer);
  } else {
    const link = externalUrl === undefined ? {} : { externalUrl };
    await registerBundleEndpoint(app, { store, clock, bundleApiToken, rateLimitPerMinute, closing: closing.signal, ...link });
  }
  await app.listen({ host, port });
  const url = urlOf(app, host);
  log.info('the HTTP server listens', { url, bundleEndpoint: Boolean(bundleApiToken) });
  const close = async () => {
    closing.abort();
    await app.close();
  };
  return { url, close };
};
