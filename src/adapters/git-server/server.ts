/** A small Git server over smart HTTP, for the demonstration and for tests: serves the bare repositories below one folder. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { resolve, sep } from 'node:path';
import { runBackend } from './cgi.ts';

/** What is served, and to whom. */
export interface GitServerOptions {
  /** Folder of the bare repositories. */
  readonly root: string;
  /** Port on 127.0.0.1; any free one by default. */
  readonly port?: number;
  /** Asked of every request as a Basic password or a Bearer token; undefined admits everybody. A function is asked each time. */
  readonly token?: string | (() => string | undefined);
}

/** Requests since the start. */
export interface GitServerRequests {
  readonly all: number;
  /** Answered with 401. */
  readonly unauthorized: number;
  /** Bodies that carried a push. */
  readonly pushes: number;
  /** Bodies that asked for refs or objects. */
  readonly fetches: number;
}

/** A running server. */
export interface GitServer {
  /** Without a slash at the end; a repository `a.git` below root is at `<url>/a.git`. */
  readonly url: string;
  readonly requests: () => GitServerRequests;
  /** Stops listening, cuts what is under way, and resolves when all of it has ended. */
  readonly close: () => Promise<void>;
}

/** Starts the server on 127.0.0.1. Rejects when the port is taken. */
export async function startGitServer(options: GitServerOptions): Promise<GitServer> {
  const counters = { all: 0, unauthorized: 0, pushes: 0, fetches: 0 };
  const running = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    counters.all += 1;
    const task = answer(options, counters, { request, response }).finally(() => running.delete(task));
    running.add(task);
  });
  await listen(server, options.port ?? 0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => ({ ...counters }),
    close: async () => {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await Promise.all([closed, ...running]);
    },
  };
}

async function answer(
  options: GitServerOptions,
  counters: { unauthorized: number; pushes: number; fetches: number },
  exchange: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const { request, response } = exchange;
  const token = typeof options.token === 'function' ? options.token() : options.token;
  if (token !== undefined && !isAdmitted(request.headers.authorization, token)) {
    counters.unauthorized += 1;
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('A token is needed.\n');
    return;
  }
  const target = await findTarget(options.root, request.url ?? '/');
  if (target === undefined) {
    response.writeHead(404).end('There is no such repository.\n');
    return;
  }
  if (request.method === 'POST' && target.path.endsWith('/git-receive-pack')) counters.pushes += 1;
  if (request.method === 'POST' && target.path.endsWith('/git-upload-pack')) counters.fetches += 1;
  await runBackend({ root: options.root, user: token === undefined ? 'anybody' : 'token', ...target }, request, response);
}

/** Only the smart protocol's addresses of repositories that are really below root. */
async function findTarget(root: string, url: string): Promise<{ readonly path: string; readonly query: string } | undefined> {
  const [rawPath = '', query = ''] = url.split('?', 2);
  const path = decode(rawPath);
  const repository = /^(\/.+)\/(?:info\/refs|git-upload-pack|git-receive-pack|HEAD)$/.exec(path)?.[1];
  if (repository === undefined || path.includes('\0') || path.split('/').includes('..')) return undefined;
  const folder = resolve(root, `.${repository}`);
  if (!folder.startsWith(resolve(root) + sep)) return undefined;
  const found = await stat(resolve(folder, 'objects')).catch(() => undefined);
  return found?.isDirectory() ? { path, query } : undefined;
}

/** Compares hashes, so that neither length nor contents show in the time it takes. */
function isAdmitted(header: string | undefined, token: string): boolean {
  const [scheme = '', value = ''] = (header ?? '').split(' ', 2);
  const given = scheme.toLowerCase() === 'basic' ? Buffer.from(value, 'base64').toString('utf8').split(':').slice(1).join(':') : value;
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return /^(basic|bearer)$/i.test(scheme) && timingSafeEqual(hash(given), hash(token));
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '';
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((ready, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', () => ready());
  });
}
