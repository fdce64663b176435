/** `POST /api/v1/bundles`, and the address where a Bundle's fate can be asked for. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type BundleRequestRead, readBundleRequest } from '../core/bundle-request/read-bundle-request.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { type CreationContext, createBundle, invalidBody, serves } from './bundle-creation.ts';
import { createBundleIndex } from './bundle-index.ts';
import { type BundleTokens, createBundleTokens, type Grant } from './bundle-tokens.ts';
import { type Problem, sendProblem } from './problem.ts';
import { createTokenBuckets, type TakeToken } from './token-bucket.ts';

/** Bytes that a request may have. */
export const BUNDLE_BODY_LIMIT = 1024 * 1024;
/** The path of the endpoint. */
export const BUNDLES_PATH = '/api/v1/bundles';

/** What the endpoint needs. */
export interface BundleEndpointOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly bundleApiToken: string;
  /** For each token; 0 is no limit. */
  readonly rateLimitPerMinute: number;
  /** The base of links; the request's Host when absent. */
  readonly externalUrl?: string;
  /** Fires when the server closes. */
  readonly closing: AbortSignal;
}

interface Caller {
  readonly token: string;
  readonly grant: Grant;
}

interface Endpoint extends CreationContext {
  readonly options: BundleEndpointOptions;
  readonly tokens: BundleTokens;
  /** Failed authentication, for each address. */
  readonly failures: TakeToken;
  readonly callers: WeakMap<FastifyRequest, Caller>;
}

const UNAUTHORIZED: Problem = {
  status: 401,
  detail: 'a valid token is needed: Authorization: Bearer <token>',
  headers: { 'www-authenticate': 'Bearer' },
};

const ENCODED: Problem = {
  status: 415,
  detail: 'content encodings are not taken: send the body as it is, without Content-Encoding',
  headers: { 'accept-encoding': 'identity' },
};

const tooMany = (detail: string, retryAfterSeconds: number): Problem => ({
  status: 429,
  detail,
  headers: { 'retry-after': String(retryAfterSeconds) },
});

const bearer = (request: FastifyRequest): string | undefined => /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];

/** Lets the caller in, or says why not. A right token always passes, so that a stranger behind the same address cannot lock anybody out. */
const authenticate = async ({ tokens, failures }: Endpoint, request: FastifyRequest): Promise<Caller | Problem> => {
  const token = bearer(request);
  let permit = undefined as ReturnType<TakeToken> | undefined;
  const allowed = () => {
    permit ??= failures(request.ip);
    return permit.ok;
  };
  const checked = token === undefined ? ({ result: 'refused' } as const) : await tokens.check(token, allowed);
  if (checked.result === 'granted' && token !== undefined) return { token, grant: checked.grant };
  if (checked.result === 'unavailable') return { status: 503, detail: 'the store does not answer, so the token cannot be checked' };
  allowed();
  return permit === undefined || permit.ok ? UNAUTHORIZED : tooMany('too many requests without a valid token', permit.retryAfterSeconds);
};

const isCaller = (value: Caller | Problem): value is Caller => 'grant' in value;

/** The hook that runs before the body is read: authentication, then the rate limit. */
const gate = (endpoint: Endpoint, limit: TakeToken) => async (request: FastifyRequest, reply: FastifyReply) => {
  const caller = await authenticate(endpoint, request);
  if (!isCaller(caller)) return sendProblem(reply, caller);
  const permit = limit(caller.grant.key);
  if (!permit.ok) return sendProblem(reply, tooMany('the rate limit of this token is exceeded', permit.retryAfterSeconds));
  endpoint.callers.set(request, caller);
  return undefined;
};

const signatureHolds = (header: string, body: Buffer, key: string): boolean => {
  const given = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(header.trim())?.[1];
  if (given === undefined) return false;
  return timingSafeEqual(Buffer.from(given, 'hex'), createHmac('sha256', key).update(body).digest());
};

/** What is wrong with a text that was not taken as JSON, in the parser's words. */
const whyNotJson = (text: string): string => {
  try {
    JSON.parse(text);
    return 'keys such as __proto__ are not taken';
  } catch (error) {
    return `the body is not JSON: ${error instanceof Error ? error.message.slice(0, 200) : ''}`;
  }
};

const parseBody = (app: FastifyInstance, request: FastifyRequest, body: Buffer): Promise<BundleRequestRead> => {
  const refuse = (detail: string): BundleRequestRead => ({ ok: false, problems: [{ pointer: '', detail }] });
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    return Promise.resolve(refuse(`Content-Type must be application/json; got ${JSON.stringify(type ?? '')}`));
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return Promise.resolve(refuse('the body is not UTF-8'));
  }
  const parse = app.getDefaultJsonParser('error', 'error');
  return new Promise((resolve) => {
    parse(request, text, (error, value) => resolve(error ? refuse(whyNotJson(text)) : readBundleRequest(value)));
  });
};

const SAFE_HOST = /^(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?$/;

const baseUrl = ({ externalUrl }: BundleEndpointOptions, request: FastifyRequest): string => {
  if (externalUrl) return externalUrl.replace(/\/+$/, '');
  return SAFE_HOST.test(request.host) ? `${request.protocol}://${request.host}` : '';
};

const pathOf = (namespace: string, name: string): string => `${BUNDLES_PATH}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;

const post = async (app: FastifyInstance, endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
  const caller = endpoint.callers.get(request);
  if (!caller) return sendProblem(reply, UNAUTHORIZED);
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const signature = request.headers['x-promoter-signature'];
  if (signature !== undefined && !signatureHolds(String(signature), body, caller.token)) {
    return sendProblem(reply, {
      status: 401,
      detail: 'X-Promoter-Signature is not the HMAC-SHA256 (hex) of the body under the bearer token',
    });
  }
  const encoding = request.headers['content-encoding']?.trim();
  if (encoding && encoding.toLowerCase() !== 'identity') return sendProblem(reply, ENCODED);
  const read = await parseBody(app, request, body);
  if (!read.ok) return sendProblem(reply, invalidBody(read.problems));
  if (!serves(caller.grant, read.request))
    return sendProblem(reply, { ...UNAUTHORIZED, detail: 'this token does not serve that Pipeline' });
  const creation = await createBundle(endpoint, read.request, caller.grant);
  if (!creation.ok) return sendProblem(reply, creation.problem);
  const { name, namespace = 'default' } = creation.bundle.metadata;
  const path = pathOf(namespace, name);
  const { version, warnings } = creation;
  return reply
    .code(201)
    .header('location', path)
    .send({
      name,
      namespace,
      version,
      statusUrl: `${baseUrl(endpoint.options, request)}${path}`,
      ...(warnings.length === 0 ? {} : { warnings }),
    });
};

const textOf = (params: unknown, name: string): string => {
  const value: unknown = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined;
  return typeof value === 'string' ? value : '';
};

const show = async ({ options, callers }: Endpoint, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
  const [namespace, name] = [textOf(request.params, 'namespace'), textOf(request.params, 'name')];
  const found = await options.store.get('Bundle', namespace, name);
  const grant = callers.get(request)?.grant;
  if (!found.ok && found.error.code !== 'NotFound') return sendProblem(reply, { status: 503, detail: 'the store does not answer' });
  const bundle = found.ok ? found.value : undefined;
  // A token of one Pipeline learns nothing about the Bundles of others, not even that they exist.
  const visible = grant?.scope === 'all' || (grant?.namespace === namespace && grant.pipeline === bundle?.spec?.pipeline);
  if (!bundle || !visible) return sendProblem(reply, { status: 404, detail: `there is no Bundle ${namespace}/${name}` });
  const { phase = 'Available', version, environments = [], conditions = [] } = bundle.status ?? {};
  return reply.send({ name, namespace, pipeline: bundle.spec?.pipeline, version, phase, environments, conditions });
};

/** Registers the endpoint. */
export const registerBundleEndpoint = async (server: FastifyInstance, options: BundleEndpointOptions): Promise<void> => {
  const endpoint: Endpoint = {
    options,
    store: options.store,
    find: createBundleIndex(options.store, options.closing),
    tokens: createBundleTokens(options.store, options.bundleApiToken),
    failures: createTokenBuckets(options.rateLimitPerMinute || DEFAULT_FAILURES, options.clock),
    callers: new WeakMap(),
  };
  const limit = () => createTokenBuckets(options.rateLimitPerMinute, options.clock);
  await server.register(async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
    app.route({
      method: 'POST',
      url: BUNDLES_PATH,
      bodyLimit: BUNDLE_BODY_LIMIT,
      onRequest: gate(endpoint, limit()),
      handler: (request, reply) => post(app, endpoint, request, reply),
    });
    app.route({
      method: 'GET',
      url: `${BUNDLES_PATH}/:namespace/:name`,
      onRequest: gate(endpoint, limit()),
      handler: (request, reply) => show(endpoint, request, reply),
    });
  });
};

/** Failed attempts a minute for each address when requests themselves are not limited. */
const DEFAULT_FAILURES = 60;
