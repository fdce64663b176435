import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { type ApiUnderTest, makeApi } from '../../test/contract/api-under-test.ts';

const PATH = '/api/v1/namespaces/shop/configmaps';

const configMap = (name: string, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
});

interface Event {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly metadata: { readonly name?: string; readonly resourceVersion: string; readonly annotations?: Record<string, string> };
    readonly code?: number;
    readonly reason?: string;
  };
}

/** Opens a watch; `next` gives the next event, undefined at the end. */
const watch = async (api: ApiUnderTest, query: string, accept = 'application/json') => {
  const { hostname, port } = new URL(api.access.server);
  const asked = request({
    hostname,
    port,
    path: `${PATH}?watch=1&${query}`,
    agent: false,
    ...(api.access.ca ? { ca: api.access.ca } : {}),
    headers: { authorization: `Bearer ${api.access.token}`, accept },
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.on('response', resolve).on('error', reject).end();
  });
  const lines = (async function* () {
    let rest = '';
    for await (const chunk of response.setEncoding('utf8')) {
      rest += chunk;
      const parts = rest.split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) yield JSON.parse(part) as Event;
    }
  })();
  return {
    next: async () => (await lines.next()).value as Event | undefined,
    [Symbol.dispose]: () => asked.destroy(),
  };
};

const told = (event: Event | undefined) => `${event?.type} ${event?.object.metadata.name ?? ''}`.trim();

describe('a watch', () => {
  let api: ApiUnderTest;
  before(async () => {
    api = await makeApi({ historySize: 30 });
  });
  after(() => api[Symbol.asyncDispose]());

  const create = (name: string, labels?: Record<string, string>) => api.send(PATH, { method: 'POST', body: configMap(name, labels) });
  const remove = (name: string) => api.send(`${PATH}/${name}`, { method: 'DELETE' });
  const version = async () => {
    const metadata = (await api.send(PATH)).body['metadata'];
    return String(typeof metadata === 'object' && metadata !== null && Reflect.get(metadata, 'resourceVersion'));
  };

  it('from a version tells what happened after it', async () => {
    using events = await watch(api, `resourceVersion=${await version()}`);
    await create('a');
    await remove('a');
    assert.equal(told(await events.next()), 'ADDED a');
    const deleted = await events.next();
    assert.equal(told(deleted), 'DELETED a');
    assert.equal(deleted?.object.metadata.resourceVersion, await version());
  });

  it('without a version begins with what there is', async () => {
    await create('there', { in: 'yes' });
    using events = await watch(api, 'labelSelector=in%3Dyes');
    assert.equal(told(await events.next()), 'ADDED there');
    await create('later', { in: 'yes' });
    assert.equal(told(await events.next()), 'ADDED later');
  });

  it('can mark where the beginning ends', async () => {
    using events = await watch(
      api,
      'labelSelector=in%3Dyes&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan',
    );
    assert.deepEqual([told(await events.next()), told(await events.next())], ['ADDED later', 'ADDED there']);
    const mark = await events.next();
    assert.equal(mark?.type, 'BOOKMARK');
    assert.deepEqual(mark?.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
  });

  it('sends bookmarks to those who ask for them, and to nobody else', async () => {
    const from = await version();
    using asking = await watch(api, `resourceVersion=${from}&allowWatchBookmarks=true`);
    using other = await watch(api, `resourceVersion=${from}`);
    // The watch is in place once its headers are here.
    api.clock.advance(10 * 60_000);
    const mark = await asking.next();
    assert.deepEqual([mark?.type, mark?.object.kind, mark?.object.metadata.resourceVersion], ['BOOKMARK', 'ConfigMap', from]);
    await create('after-bookmark');
    assert.equal(told(await other.next()), 'ADDED after-bookmark');
  });

  it('of a version that is too old ends with an ERROR of status 410', async () => {
    const from = await version();
    for (let count = 0; count < 60; count++) await create(`flood-${count}`);
    using events = await watch(api, `resourceVersion=${from}`);
    const error = await events.next();
    assert.deepEqual([error?.type, error?.object.kind, error?.object.code, error?.object.reason], ['ERROR', 'Status', 410, 'Expired']);
    assert.equal(await events.next(), undefined);
  });

  it('ends when its time is over', { timeout: 60_000 }, async () => {
    using events = await watch(api, `resourceVersion=${await version()}&timeoutSeconds=1`);
    assert.equal(await events.next(), undefined);
  });

  it('shows tables to clients that read them', async () => {
    using events = await watch(api, `resourceVersion=${await version()}`, 'application/json;as=Table;v=v1;g=meta.k8s.io');
    await create('tabled');
    assert.equal((await events.next())?.object.kind, 'Table');
  });
});

describe('closing', () => {
  // Far more than it takes, and far less than a watch lasts.
  it('ends watches and connections at once', { timeout: 60_000 }, async () => {
    const api = await makeApi();
    const events = await watch(api, 'resourceVersion=1');
    const idle = await watch(api, '');
    await api.server.close();
    const rest = await Promise.allSettled([events.next(), idle.next()]);
    assert.ok(rest.every((end) => end.status === 'rejected' || end.value === undefined));
    await assert.rejects(api.send('/api'), { code: 'ECONNREFUSED' });
    await api[Symbol.asyncDispose]();
  });

  it('and starting again keeps token and certificates, so that kubeconfigs stay valid', async () => {
    await using first = await makeApi();
    const { token, ca } = first.access;
    await first.server.close();
    await using second = await makeApi({ dataDir: first.dataDir });
    assert.deepEqual([second.access.token, second.access.ca], [token, ca]);
  });
});
