/** A Git server whose behaviour a test changes while it runs: it stands before the real one and delays, refuses or withholds. */
import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { startGitServer } from '../../src/adapters/git-server/index.ts';

/** The request that a rule is asked about. */
export interface Asked {
  readonly path: string;
  /** Whether it is the body of a push. */
  readonly push: boolean;
  readonly authorization: string | undefined;
}

/**
 * What is done with a request: a status refuses it; a promise holds it before it is forwarded; `withhold` forwards it and
 * never answers; `hangUp` breaks the connection off.
 */
export interface Treatment {
  readonly status?: number;
  readonly before?: Promise<void>;
  readonly withhold?: boolean;
  readonly hangUp?: boolean;
}

/** The server in front. */
export interface GitFront {
  readonly url: string;
  /** Every request so far. */
  readonly asked: readonly Asked[];
  /** Bytes of answers so far. */
  readonly answered: number;
  /** Asked of every request from now on. */
  rule: (asked: Asked) => Treatment;
}

interface Passing {
  readonly upstream: string;
  readonly withhold: boolean;
  readonly count: (bytes: number) => void;
}

const pass = (request: IncomingMessage, response: ServerResponse, options: Passing) => {
  const { upstream, withhold, count } = options;
  const onward = forward(`${upstream}${request.url ?? '/'}`, { method: request.method ?? 'GET', headers: request.headers }, (answer) => {
    if (withhold) {
      answer.resume();
      return;
    }
    answer.on('data', (data: Buffer) => count(data.length));
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  if (!withhold) response.on('close', () => onward.destroy());
  request.pipe(onward);
};

/** Serves the bare repositories below the folder on 127.0.0.1 until the test ends. */
export const startGitFront = async (context: TestContext, root: string, token?: () => string | undefined): Promise<GitFront> => {
  const real = await startGitServer({ root, ...(token ? { token } : {}) });
  const asked: Asked[] = [];
  const front: { url: string; asked: Asked[]; answered: number; rule: GitFront['rule'] } = {
    url: '',
    asked,
    answered: 0,
    rule: () => ({}),
  };
  const count = (bytes: number): void => {
    front.answered += bytes;
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const push = request.method === 'POST' && path.endsWith('/git-receive-pack');
    const one: Asked = { path, push, authorization: request.headers.authorization };
    asked.push(one);
    const { status, before, withhold = false, hangUp = false } = front.rule(one);
    if (hangUp) {
      request.destroy();
      return;
    }
    const go = (): void => {
      if (status === undefined) {
        pass(request, response, { upstream: real.url, withhold, count });
        return;
      }
      response.writeHead(status, status === 401 ? { 'www-authenticate': 'Basic realm="git"' } : {}).end('The rule of this test says no.\n');
    };
    if (before) void before.then(go);
    else go();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  front.url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  context.after(async () => {
    server.closeAllConnections();
    server.close();
    await real.close();
  });
  return front;
};
