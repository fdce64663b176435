import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { quietLog } from '../../test/contract/api-under-test.ts';
import { type ManualClock, manualClock } from '../../test/contract/manual-clock.ts';
import { openSqliteStore } from '../adapters/store-sqlite/index.ts';
import { admit } from '../api/admission.ts';
import type { Bundle } from '../api/kinds/bundle.ts';
import type { Secret } from '../api/kinds/native.ts';
import type { Pipeline } from '../api/kinds/pipeline.ts';
import { API_VERSION } from '../api/meta.ts';
import type { Store } from '../ports/store.ts';
import { type HttpServerOptions, startHttpServer } from './start-http-server.ts';

const TOKEN = 'the-token-of-the-flag';
const IMAGE = { repository: 'ghcr.io/acme/web', tag: '1.0' };

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

interface Sent {
  readonly token?: string | false;
  readonly body?: object | string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
}

interface Under extends AsyncDisposable {
  readonly url: string;
  readonly store: Store;
  readonly clock: ManualClock;
  readonly post: (sent?: Sent) => Promise<Answered>;
  readonly ask: (path: string, sent?: Sent) => Promise<Answered>;
}

const pipeline = (name: string, namespace: string): Pipeline => ({
  apiVersion: API_VERSION,
  kind: 'Pipeline',
  metadata: { name, namespace },
  spec: {
    git: { url: 'https://git.example.com/acme/deploy.git', provider: 'host-a', secretRef: { name: 'git' } },
    environments: [{ name: 'dev' }, { name: 'prod' }],
  },
});

const tokenSecret = (name: string, namespace: string, serves: string, token: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace, labels: { 'promoter.io/pipeline': serves } },
  type: 'promoter.io/bundle-token',
  data: { token: Buffer.from(token).toString('base64') },
});

const put = async (store: Store, object: Pipeline | Secret | Bundle): Promise<void> => {
  const result = await store.create(object);
  assert.ok(result.ok, JSON.stringify(result));
};

const makeServer = async (options: Partial<HttpServerOptions> = {}): Promise<Under> => {
  const directory = mkdtempSync(join(tmpdir(), 'promoter-http-'));
  const clock = manualClock(Date.parse('2026-02-03T04:05:06Z'));
  const opened = await openSqliteStore({ directory, clock, admit });
  if (opened.outcome !== 'done') throw new Error(opened.reason.message);
  const store = opened.value;
  await put(store, pipeline('web', 'default'));
  const server = await startHttpServer({
    store,
    host: '127.0.0.1',
    port: 0,
    bundleApiToken: TOKEN,
    rateLimitPerMinute: 60,
    log: quietLog,
    clock,
    ...options,
  });
  const ask = async (path: string, sent: Sent = {}): Promise<Answered> => {
    const token = sent.token ?? TOKEN;
    const body = sent.body === undefined || typeof sent.body === 'string' ? sent.body : JSON.stringify(sent.body);
    const response = await fetch(`${server.url}${path}`, {
      method: sent.method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(token === false ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...sent.headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : { text },
    };
  };
  return {
    url: server.url,
    store,
    clock,
    ask,
    post: (sent = {}) => ask('/api/v1/bundles', { body: { pipeline: 'web', images: [IMAGE] }, method: 'POST', ...sent }),
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

const bundles = async (store: Store): Promise<readonly Bundle[]> => {
  const page = await store.list('Bundle');
  assert.ok(page.ok);
  return page.value.items;
};

const isProblem = (answer: Answered, status: number): void => {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.headers.get('content-type'), 'application/problem+json');
  assert.equal(answer.body['status'], status);
  assert.equal(typeof answer.body['title'], 'string');
  assert.notEqual(answer.body['detail'], '');
};

const pointersOf = (answer: Answered): unknown[] => {
  const errors = answer.body['errors'];
  return Array.isArray(errors) ? errors.map((error: { pointer: string }) => error.pointer) : [];
};

describe('POST /api/v1/bundles', () => {
  it('makes a Bundle that is durable and says where it is', async () => {
    await using under = await makeServer();
    const answer = await under.post();
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.deepEqual(answer.body, {
      name: 'web-1.0',
      namespace: 'default',
      version: '1.0',
      statusUrl: `${under.url}/api/v1/bundles/default/web-1.0`,
    });
    assert.equal(answer.headers.get('location'), '/api/v1/bundles/default/web-1.0');
    const [bundle] = await bundles(under.store);
    assert.deepEqual(bundle?.spec, { type: 'image', pipeline: 'web', images: [IMAGE] });
    assert.deepEqual(bundle?.metadata.labels, { 'promoter.io/pipeline': 'web' });
    const shown = await under.ask('/api/v1/bundles/default/web-1.0');
    assert.deepEqual([shown.status, shown.body['phase']], [200, 'Available']);
  });

  it('takes the base of links from --external-url', async () => {
    await using under = await makeServer({ externalUrl: 'https://promoter.example.com/base/' });
    assert.equal((await under.post()).body['statusUrl'], 'https://promoter.example.com/base/api/v1/bundles/default/web-1.0');
  });

  it('names unknown fields in warnings', async () => {
    await using under = await makeServer();
    const answer = await under.post({ body: { pipeline: 'web', images: [IMAGE], note: 'x' } });
    assert.deepEqual(answer.body['warnings'], ['unknown field "note"']);
  });

  it('warns when the controller knows that the Pipeline cannot be promoted', async () => {
    await using under = await makeServer();
    const found = await under.store.get('Pipeline', 'default', 'web');
    assert.ok(found.ok);
    const condition = {
      type: 'Ready',
      status: 'False',
      reason: 'Unsupported',
      message: 'environment prod: it cannot be done',
      lastTransitionTime: '2026-02-03T04:05:06Z',
    };
    assert.ok((await under.store.updateStatus({ ...found.value, status: { conditions: [condition] } })).ok);
    const answer = await under.post();
    assert.equal(answer.status, 201);
    assert.deepEqual(answer.body['warnings'], ['the Pipeline web is not Ready: environment prod: it cannot be done']);
  });

  it('is not there when no token is configured', async () => {
    await using under = await makeServer({ bundleApiToken: '' });
    for (const body of [undefined, '{"broken', 'x'.repeat(2_000_000)]) {
      const answer = await under.post(body === undefined ? {} : { body, headers: { 'content-type': 'text/x' } });
      isProblem(answer, 404);
      assert.match(String(answer.body['detail']), /^the bundle endpoint is off: .*--bundle-api-token/);
    }
    isProblem(await under.ask('/api/v1/bundles'), 404);
    isProblem(await under.ask('/api/v1/bundles/default/web-1.0'), 404);
    assert.deepEqual(await bundles(under.store), []);
  });

  it('takes POST only, and each other path what it says', async () => {
    await using under = await makeServer();
    const paths: [path: string, allow: string, methods: readonly string[]][] = [
      ['/api/v1/bundles', 'POST', ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'SEARCH']],
      ['/api/v1/bundles/default/web-1.0', 'GET, HEAD', ['POST', 'PUT', 'OPTIONS', 'LINK']],
      ['/healthz', 'GET, HEAD', ['POST', 'OPTIONS', 'DELETE']],
      ['/readyz?x=1', 'GET, HEAD', ['POST', 'PURGE']],
    ];
    for (const [path, allow, methods] of paths) {
      for (const method of methods) {
        const answer = await under.ask(path, { method });
        assert.equal(answer.status, 405, `${method} ${path}`);
        assert.equal(answer.headers.get('allow'), allow, `${method} ${path}`);
        if (method !== 'HEAD') isProblem(answer, 405);
      }
    }
    isProblem(await under.ask('/api/v1/bundles/', { method: 'OPTIONS' }), 404);
    isProblem(await under.ask('/api/v1/bundles/a/b/c', { method: 'POST' }), 404);
  });

  it('answers what is no HTTP with a problem, too', async () => {
    await using under = await makeServer();
    const { hostname, port } = new URL(under.url);
    const say = (text: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => socket.write(text));
        let answer = '';
        socket.on('data', (data) => {
          answer += String(data);
        });
        socket.on('close', () => resolve(answer));
        socket.on('error', reject);
      });
    const foo = await say('FOO /api/v1/bundles HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.match(foo, /^HTTP\/1.1 400 Bad Request\r\n/);
    assert.match(foo, /content-type: application\/problem\+json\r\n/i);
    assert.equal(JSON.parse(foo.split('\r\n\r\n')[1] ?? '').status, 400);
    const long = await say(`GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`);
    assert.match(long, /^HTTP\/1.1 431 /);
    assert.equal(JSON.parse(long.split('\r\n\r\n')[1] ?? '').status, 431);
    assert.equal((await under.ask('/healthz')).status, 200);
  });

  describe('checks in order', () => {
    it('the token before anything else', async () => {
      await using under = await makeServer({ rateLimitPerMinute: 1 });
      for (const token of [false, 'wrong', `${TOKEN}x`] as const) {
        const answer = await under.post({ token, body: '{"broken', headers: { 'x-forwarded-for': '10.0.0.1' } });
        assert.ok(answer.status === 401 || answer.status === 429);
      }
      assert.equal((await under.post()).status, 201);
      assert.equal((await bundles(under.store)).length, 1);
    });

    it('the rate limit before the body', async () => {
      await using under = await makeServer({ rateLimitPerMinute: 2 });
      isProblem(await under.post({ body: '{"broken' }), 400);
      isProblem(await under.post({ body: '{"broken' }), 400);
      const limited = await under.post({ body: '{"broken' });
      isProblem(limited, 429);
      assert.equal(limited.headers.get('retry-after'), '30');
      under.clock.advance(30_000);
      assert.equal((await under.post()).status, 201);
    });

    it('the body before the Pipeline', async () => {
      await using under = await makeServer();
      const answer = await under.post({ body: { pipeline: 'nowhere', images: [] } });
      isProblem(answer, 400);
      assert.deepEqual(pointersOf(answer), ['/images']);
    });

    it('the Pipeline before the duplicate', async () => {
      await using under = await makeServer();
      assert.equal((await under.post()).status, 201);
      isProblem(await under.post({ body: { pipeline: 'nowhere', images: [IMAGE] } }), 404);
      isProblem(await under.post({ body: { pipeline: 'web', namespace: 'elsewhere', images: [IMAGE] } }), 404);
      isProblem(await under.post({ body: { pipeline: 'web', images: [IMAGE], intent: { targetEnvironment: 'uat' } } }), 400);
      isProblem(await under.post(), 409);
    });
  });

  describe('refuses', () => {
    it('a wrong media type and malformed JSON with 400, and too much with 413', async () => {
      await using under = await makeServer();
      isProblem(await under.post({ headers: { 'content-type': 'text/plain' } }), 400);
      isProblem(await under.post({ headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'pipeline=web' }), 400);
      const cut = await under.post({ body: '{"pipeline":"web",\n"images":[' });
      assert.match(String(cut.body['detail']), /body: the body is not JSON: Unexpected end of JSON input/);
      const broken = await under.post({ body: '{"pipeline":"web",\n"images":[}' });
      assert.match(String(broken.body['detail']), /body: the body is not JSON: Unexpected token '}'/);
      const hostile = await under.post({ body: '{"__proto__":{"x":1},"pipeline":"web"}' });
      assert.match(String(hostile.body['detail']), /body: keys such as __proto__ are not taken/);
      for (const body of ['', '{', 'null', '"web"', '{"__proto__":{"x":1},"pipeline":"web"}', '\u0000'])
        isProblem(await under.post({ body }), 400);
      isProblem(await under.post({ body: { pipeline: 'web', images: [IMAGE], note: 'x'.repeat(1_100_000) } }), 413);
      assert.deepEqual(await bundles(under.store), []);
    });

    it('a body in a content encoding with 415', async () => {
      await using under = await makeServer();
      const body = JSON.stringify({ pipeline: 'web', images: [IMAGE] });
      for (const encoding of ['gzip', 'br', 'identity, gzip', 'x']) {
        const answer = await under.post({ body, headers: { 'content-encoding': encoding } });
        isProblem(answer, 415);
        assert.equal(answer.headers.get('accept-encoding'), 'identity');
      }
      assert.equal((await under.post({ body, headers: { 'content-encoding': 'Identity' } })).status, 201);
    });

    it('the same repository twice, before it takes the place of what is in flight', async () => {
      await using under = await makeServer();
      const answer = await under.post({ body: { pipeline: 'web', images: [IMAGE, { ...IMAGE, tag: '2.0' }] } });
      isProblem(answer, 400);
      assert.deepEqual(pointersOf(answer), ['/images']);
      assert.match(String(answer.body['detail']), /'ghcr.io\/acme\/web' is given more than once/);
      assert.deepEqual(await bundles(under.store), []);
    });

    it('with a bounded number of words, however much is wrong', async () => {
      await using under = await makeServer();
      const answer = await under.post({ body: { pipeline: 'web', artifacts: { images: Array(5000).fill(1) } } });
      isProblem(answer, 400);
      assert.equal(pointersOf(answer).length, 20);
      assert.match(String(answer.body['detail']), /; and 4980 more$/);
    });

    it('what cannot be used, naming each field', async () => {
      await using under = await makeServer();
      const answer = await under.post({
        body: { pipeline: 'web', images: [{ repository: 'a/b' }, { tag: 'x y', repository: 'c/d' }], intent: { until: 1 } },
      });
      isProblem(answer, 400);
      assert.deepEqual(pointersOf(answer), ['/intent/until']);
      const images = await under.post({ body: { pipeline: 'web', images: [{ repository: 'a/b' }, { tag: 'x y', repository: 'c/d' }] } });
      assert.deepEqual(pointersOf(images), ['/images/0/tag', '/images/1/tag']);
    });

    it('environments that are not there, and skipping the target', async () => {
      await using under = await makeServer();
      const answer = await under.post({ body: { pipeline: 'web', images: [IMAGE], intent: { skip: ['prod', 'uat'] } } });
      isProblem(answer, 400);
      assert.deepEqual(pointersOf(answer), ['/intent/skip/0', '/intent/skip/1']);
    });
  });

  describe('duplicates', () => {
    it('are told with the existing Bundle and whether it is the same', async () => {
      await using under = await makeServer();
      await under.post();
      const same = await under.post();
      isProblem(same, 409);
      assert.deepEqual(same.body['existing'], { name: 'web-1.0', namespace: 'default', version: '1.0' });
      assert.equal(same.body['identical'], true);
      const other = await under.post({ body: { pipeline: 'web', images: [{ ...IMAGE, repository: 'ghcr.io/acme/other' }] } });
      isProblem(other, 409);
      assert.equal(other.body['identical'], false);
    });

    it('are found whatever their name', async () => {
      await using under = await makeServer();
      const metadata = { name: 'by-hand', namespace: 'default', labels: { 'promoter.io/pipeline': 'web' } };
      await put(under.store, { apiVersion: API_VERSION, kind: 'Bundle', metadata, spec: { pipeline: 'web', images: [IMAGE] } });
      const answer = await under.post();
      isProblem(answer, 409);
      assert.deepEqual(answer.body['existing'], { name: 'by-hand', namespace: 'default', version: '1.0' });
    });

    it('are found when they come by another way later, and are none once they are deleted', async () => {
      await using under = await makeServer();
      const body = (tag: string) => ({ body: { pipeline: 'web', images: [{ ...IMAGE, tag }] } });
      assert.equal((await under.post(body('1.0'))).status, 201);
      const metadata = { name: 'by-hand', namespace: 'default', labels: { 'promoter.io/pipeline': 'web' } };
      await put(under.store, {
        apiVersion: API_VERSION,
        kind: 'Bundle',
        metadata,
        spec: { pipeline: 'web', images: [{ ...IMAGE, tag: '2.0' }] },
      });
      isProblem(await under.post(body('2.0')), 409);
      await under.store.delete('Bundle', 'default', 'by-hand');
      const again = await under.post(body('2.0'));
      assert.deepEqual([again.status, again.body['name']], [201, 'web-2.0']);
      isProblem(await under.post(body('2.0')), 409);
      await under.store.delete('Bundle', 'default', 'web-1.0');
      assert.equal((await under.post(body('1.0'))).status, 201);
    });

    it('at the same moment: one is created, the others are told', async () => {
      await using under = await makeServer();
      const answers = await Promise.all(Array.from({ length: 12 }, () => under.post()));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(11).fill(409)]);
      assert.equal((await bundles(under.store)).length, 1);
    });

    it('are not Bundles of another type or Pipeline whose name would be the same', async () => {
      await using under = await makeServer();
      await put(under.store, pipeline('web-1', 'default'));
      const configRef = { gitRepo: 'https://git.example.com/acme/config.git', commitSHA: 'abcdef1234' };
      const answers = [
        await under.post({ body: { pipeline: 'web', images: [{ ...IMAGE, tag: '1-2' }] } }),
        await under.post({ body: { pipeline: 'web-1', images: [{ ...IMAGE, tag: '2' }] } }),
        await under.post({ body: { pipeline: 'web', type: 'config', configRef, version: '1-2' } }),
      ];
      assert.deepEqual(
        answers.map(({ status }) => status),
        [201, 201, 201],
      );
      const names = answers.map(({ body }) => String(body['name']));
      assert.equal(names[0], 'web-1-2');
      assert.match(names[1] ?? '', /^web-1-2-[0-9a-f]{8}$/);
      assert.equal(new Set(names).size, 3);
      isProblem(await under.post({ body: { pipeline: 'web-1', images: [{ ...IMAGE, tag: '2' }] } }), 409);
    });
  });

  describe('the namespace', () => {
    it('is the one that is given, else default, else the only one with such a Pipeline', async () => {
      await using under = await makeServer();
      await put(under.store, pipeline('api', 'team'));
      await put(under.store, pipeline('web', 'team'));
      const in_ = async (body: object) => (await under.post({ body: { images: [IMAGE], ...body } })).body['namespace'];
      assert.equal(await in_({ pipeline: 'api' }), 'team');
      assert.equal(await in_({ pipeline: 'web' }), 'default');
      assert.equal(await in_({ pipeline: 'web', namespace: 'team' }), 'team');
    });

    it('must be given when there are several', async () => {
      await using under = await makeServer();
      await put(under.store, pipeline('api', 'one'));
      await put(under.store, pipeline('api', 'two'));
      const answer = await under.post({ body: { pipeline: 'api', images: [IMAGE] } });
      isProblem(answer, 400);
      assert.deepEqual(pointersOf(answer), ['/namespace']);
      assert.match(String(answer.body['detail']), /one, two/);
    });
  });

  describe('the signature', () => {
    const body = JSON.stringify({ pipeline: 'web', images: [IMAGE] });
    const sign = (key: string) => createHmac('sha256', key).update(body).digest('hex');

    it('may be left out, and must verify when it is there', async () => {
      await using under = await makeServer();
      for (const signature of ['', 'nonsense', sign('another key'), `sha1=${sign(TOKEN)}`, sign(TOKEN).slice(1)]) {
        isProblem(await under.post({ body, headers: { 'x-promoter-signature': signature } }), 401);
      }
      assert.equal((await under.post({ body, headers: { 'x-promoter-signature': `sha256=${sign(TOKEN)}` } })).status, 201);
      isProblem(await under.post({ body, headers: { 'x-promoter-signature': sign(TOKEN).toUpperCase() } }), 409);
    });

    it('is checked before the body is read', async () => {
      await using under = await makeServer();
      isProblem(await under.post({ body: '{"broken', headers: { 'x-promoter-signature': sign(TOKEN) } }), 401);
    });
  });

  describe('a token of one Pipeline', () => {
    it('serves that Pipeline in its namespace and no other', async () => {
      await using under = await makeServer();
      await put(under.store, pipeline('api', 'team'));
      await put(under.store, pipeline('api', 'default'));
      await put(under.store, tokenSecret('ci', 'team', 'api', 'team-token\n'));
      const token = 'team-token';
      const answer = await under.post({ token, body: { pipeline: 'api', images: [IMAGE] } });
      assert.deepEqual([answer.status, answer.body['namespace']], [201, 'team']);
      isProblem(await under.post({ token, body: { pipeline: 'web', images: [IMAGE] } }), 401);
      isProblem(await under.post({ token, body: { pipeline: 'api', namespace: 'default', images: [IMAGE] } }), 401);
      assert.equal((await under.ask('/api/v1/bundles/team/api-1.0', { token })).status, 200);
      await under.post();
      isProblem(await under.ask('/api/v1/bundles/default/web-1.0', { token }), 404);
    });

    it('stops working when its Secret is deleted', async () => {
      await using under = await makeServer();
      await put(under.store, tokenSecret('ci', 'default', 'web', 'team-token'));
      assert.equal((await under.post({ token: 'team-token' })).status, 201);
      await under.store.delete('Secret', 'default', 'ci');
      isProblem(await under.post({ token: 'team-token' }), 401);
    });

    it('is not taken from Secrets of other types', async () => {
      await using under = await makeServer();
      await put(under.store, { ...tokenSecret('ci', 'default', 'web', 'team-token'), type: 'Opaque' });
      isProblem(await under.post({ token: 'team-token' }), 401);
    });

    it('has a rate limit of its own', async () => {
      await using under = await makeServer({ rateLimitPerMinute: 1 });
      await put(under.store, tokenSecret('ci', 'default', 'web', 'team-token'));
      assert.equal((await under.post({ token: 'team-token' })).status, 201);
      isProblem(await under.post({ token: 'team-token' }), 429);
      isProblem(await under.post(), 409);
    });
  });

  it('limits failed authentication for each address, without locking out who has a right token', async () => {
    await using under = await makeServer({ rateLimitPerMinute: 3 });
    const statuses = [];
    for (let count = 0; count < 4; count++) statuses.push((await under.post({ token: `guess-${count}` })).status);
    assert.deepEqual(statuses, [401, 401, 401, 429]);
    assert.equal((await under.post()).status, 201);
  });

  it('has no limit when the rate is 0', async () => {
    await using under = await makeServer({ rateLimitPerMinute: 0 });
    await under.post();
    const answers = await Promise.all(Array.from({ length: 80 }, () => under.post()));
    assert.ok(answers.every(({ status }) => status === 409));
  });
});

describe('health', () => {
  it('is ok while the process answers, and ready when the service says so', async () => {
    let ready = false;
    await using under = await makeServer({ readiness: () => (ready ? { ready } : { ready, reason: 'the store is being opened' }) });
    assert.deepEqual((await under.ask('/healthz', { token: false })).body, { text: 'ok\n' });
    const waiting = await under.ask('/readyz', { token: false });
    isProblem(waiting, 503);
    assert.equal(waiting.body['detail'], 'the store is being opened');
    ready = true;
    assert.equal((await under.ask('/readyz', { token: false })).status, 200);
  });

  it('unknown and malformed paths are problems', async () => {
    await using under = await makeServer();
    isProblem(await under.ask('/nowhere'), 404);
    isProblem(await under.ask('/%zz'), 400);
  });

  // Far more than it takes, and less than connections that are idle are kept.
  it('closes without waiting for open connections', { timeout: 40_000 }, async () => {
    const under = await makeServer();
    await under.ask('/healthz');
    const { hostname, port } = new URL(under.url);
    const idle = connect(Number(port), hostname);
    const ended = once(idle, 'close');
    await once(idle, 'connect');
    await under[Symbol.asyncDispose]();
    await ended;
  });
});
