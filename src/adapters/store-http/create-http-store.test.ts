import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { makeApi } from '../../../test/contract/api-under-test.ts';
import type { ConfigMap } from '../../api/kinds/native.ts';
import { createHttpStore } from './create-http-store.ts';

const configMap = (name: string): ConfigMap => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' } });

/** A server that answers whatever the test says. */
const serving = async (listener: RequestListener) => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = createHttpStore({ baseUrl, timeoutMs: 200 });
  return {
    baseUrl,
    store,
    [Symbol.asyncDispose]: async () => {
      store.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const errorOf = async (result: Promise<{ readonly ok: boolean; readonly error?: { readonly code: string; readonly message: string } }>) => {
  const { ok, error } = await result;
  assert.equal(ok, false);
  return { code: error?.code ?? '', message: error?.message ?? '' };
};

describe('a server that does not do what it should', () => {
  it('that is not there is Unavailable, by name', async () => {
    const under = await serving(() => undefined);
    await under[Symbol.asyncDispose]();
    const store = createHttpStore({ baseUrl: under.baseUrl });
    for (const attempt of [
      store.get('ConfigMap', 'shop', 'a'),
      store.list('ConfigMap'),
      store.create(configMap('a')),
      store.delete('ConfigMap', 'shop', 'a'),
    ]) {
      const { code, message } = await errorOf(attempt);
      assert.equal(code, 'Unavailable');
      assert.match(message, new RegExp(`${under.baseUrl}.*refused`));
    }
    for await (const event of store.watch('ConfigMap', { signal: new AbortController().signal })) {
      assert.ok(event.type === 'ERROR' && event.error.code === 'Unavailable');
    }
    store.close();
  });

  it('that says nothing is given up after a while', async () => {
    await using under = await serving(() => undefined);
    const { code, message } = await errorOf(under.store.get('ConfigMap', 'shop', 'a'));
    assert.equal(code, 'Unavailable');
    assert.match(message, /nothing came for 0\.2 s/);
    for await (const event of under.store.watch('ConfigMap', { resourceVersion: '1', signal: new AbortController().signal })) {
      assert.ok(event.type === 'ERROR' && event.error.code === 'Unavailable');
    }
  });

  it('that breaks off, or answers with something else, is Unavailable', async () => {
    const answers: readonly RequestListener[] = [
      (_, response) => response.writeHead(200, { 'content-length': '100' }).write('{"kind"', () => response.destroy()),
      (_, response) => response.end('<html>'),
      (_, response) => response.end('{"kind":"Pod","metadata":{"name":"a"}}'),
      (_, response) => response.end('[]'),
      (_, response) => response.writeHead(502).end('Bad Gateway'),
      (request) => request.destroy(),
    ];
    for (const answer of answers) {
      await using under = await serving(answer);
      assert.equal((await errorOf(under.store.get('ConfigMap', 'shop', 'a'))).code, 'Unavailable');
    }
  });

  it('is understood by its HTTP status when it explains nothing', async () => {
    for (const [status, code] of [
      [401, 'Forbidden'],
      [403, 'Forbidden'],
      [404, 'NotFound'],
      [409, 'Conflict'],
      [410, 'Expired'],
      [413, 'TooLarge'],
      [429, 'Unavailable'],
      [503, 'Unavailable'],
    ] as const) {
      await using under = await serving((_, response) => response.writeHead(status).end());
      assert.equal((await errorOf(under.store.get('ConfigMap', 'shop', 'a'))).code, code, String(status));
    }
  });

  it('that ends a watch ends the iteration, and one that breaks it off gives an ERROR', async () => {
    const bookmark = '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}\n';
    const types = async (listener: RequestListener): Promise<readonly string[]> => {
      await using under = await serving(listener);
      const seen: string[] = [];
      const signal = new AbortController().signal;
      for await (const event of under.store.watch('ConfigMap', { resourceVersion: '1', signal })) seen.push(event.type);
      return seen;
    };
    assert.deepEqual(await types((_, response) => response.end(bookmark)), ['BOOKMARK']);
    assert.deepEqual(await types((_, response) => response.write(bookmark, () => setTimeout(() => response.destroy(), 20))), [
      'BOOKMARK',
      'ERROR',
    ]);
    assert.deepEqual(await types((_, response) => response.end('{"type":"ADDED"}\n')), ['ERROR']);
    assert.deepEqual(await types((_, response) => response.end('nonsense\n')), ['ERROR']);
  });
});

describe('a server of a real cluster', () => {
  it('may leave kind and apiVersion out of the items of a list', async () => {
    const body = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '5' }, items: [{ metadata: { name: 'a' } }] };
    await using under = await serving((_, response) => response.end(JSON.stringify(body)));
    const page = await under.store.list('ConfigMap');
    assert.ok(page.ok);
    assert.deepEqual(page.value.items, [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }]);
  });

  it('may answer a deletion with a Status', async () => {
    await using under = await serving((request, response) =>
      response.end(
        JSON.stringify(request.method === 'DELETE' ? { kind: 'Status', status: 'Success' } : { ...configMap('a'), data: { as: 'it was' } }),
      ),
    );
    const deleted = await under.store.delete('ConfigMap', 'shop', 'a');
    assert.ok(deleted.ok);
    assert.deepEqual(deleted.object.data, { as: 'it was' });
  });
});

describe('names', () => {
  it('that would change the path cannot be those of objects, and nothing is asked', async () => {
    let asked = 0;
    await using under = await serving((_, response) => {
      asked += 1;
      response.end();
    });
    for (const name of ['', '.', '..']) {
      assert.equal((await errorOf(under.store.get('ConfigMap', 'shop', name))).code, 'NotFound');
      assert.equal((await errorOf(under.store.delete('ConfigMap', name, 'a'))).code, 'NotFound');
    }
    assert.equal(asked, 0);
    await using api = await makeApi();
    const store = createHttpStore(api.access);
    assert.equal((await errorOf(store.get('ConfigMap', 'shop', '../../../version'))).code, 'NotFound');
    assert.equal((await errorOf(store.get('ConfigMap', 'shop', 'a?watch=1'))).code, 'NotFound');
    store.close();
  });
});

describe('the embedded resource API', () => {
  it('is not believed without its authority, and does not let in another token', async () => {
    await using api = await makeApi();
    const stranger = createHttpStore({ baseUrl: api.access.server });
    const untrusted = await errorOf(stranger.list('ConfigMap'));
    assert.equal(untrusted.code, 'Unavailable');
    assert.match(untrusted.message, /certificate is not signed by an authority that is trusted/);
    const trusting = createHttpStore({ ...api.access, token: 'wrong' });
    const refused = await errorOf(trusting.list('ConfigMap'));
    assert.equal(refused.code, 'Forbidden');
    assert.match(refused.message, /does not accept the credentials/);
    stranger.close();
    trusting.close();
  });

  it('hands over warnings and causes', async () => {
    await using api = await makeApi();
    const store = createHttpStore(api.access);
    const bundle = { apiVersion: 'promoter.io/v1alpha1', kind: 'Bundle', metadata: { name: 'a', namespace: 'shop' } } as const;
    const warned = await store.create({ ...bundle, spec: { pipeline: 'web', images: [{ repository: 'a/b', tag: '1' }] } });
    assert.ok(warned.ok);
    assert.match(warned.warnings.join(), /promoter\.io\/pipeline is missing/);
    const refused = await store.create({ ...bundle, metadata: { name: 'b', namespace: 'shop' }, spec: { pipeline: 'web' } });
    assert.ok(!refused.ok);
    assert.equal(refused.error.code, 'Invalid');
    assert.deepEqual(refused.error.causes, [
      { field: 'spec.images', message: "spec.images must contain at least one image when spec.type is 'image'" },
    ]);
    store.close();
  });

  it('ends watches when it closes, and when the store does', async () => {
    const api = await makeApi();
    const store = createHttpStore(api.access);
    const signal = new AbortController().signal;
    const drain = async (from: typeof store) => {
      const seen: string[] = [];
      for await (const event of from.watch('ConfigMap', { resourceVersion: '1', signal })) seen.push(event.type);
      return seen;
    };
    const other = createHttpStore(api.access);
    const mine = drain(store);
    const theirs = drain(other);
    assert.ok((await other.list('ConfigMap')).ok);
    store.close();
    assert.deepEqual(await mine, []);
    await api.server.close();
    await theirs;
    other.close();
    await api[Symbol.asyncDispose]();
  });
});
