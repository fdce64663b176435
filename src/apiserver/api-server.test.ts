import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { type Answered, type ApiUnderTest, makeApi } from '../../test/contract/api-under-test.ts';

const PIPELINES = '/apis/promoter.io/v1alpha1/namespaces/shop/pipelines';
const CONFIG_MAPS = '/api/v1/namespaces/shop/configmaps';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };

const pipeline = (name: string, more: object = {}) => ({
  apiVersion: 'promoter.io/v1alpha1',
  kind: 'Pipeline',
  metadata: { name },
  spec: {
    git: { url: 'https://git.example.com/acme/deploy.git', provider: 'host-a', secretRef: { name: 'git' } },
    environments: [{ name: 'dev' }, { name: 'prod' }],
    ...more,
  },
});

const configMap = (name: string, data: Record<string, string> = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined), value);

const names = (answer: Answered): unknown[] => {
  const items = at(answer.body, 'items');
  return Array.isArray(items) ? items.map((item) => at(item, 'metadata', 'name')) : [];
};

describe('the resource API', () => {
  let api: ApiUnderTest;
  before(async () => {
    api = await makeApi();
  });
  after(() => api[Symbol.asyncDispose]());

  const created = async (path: string, body: object): Promise<Answered> => {
    const answer = await api.send(path, { method: 'POST', body });
    assert.equal(answer.status, 201, answer.text);
    return answer;
  };

  describe('access', () => {
    it('keeps keys, token and kubeconfig from everybody else', () => {
      for (const file of ['kubeconfig', 'api-token', 'pki/ca.key', 'pki/server.key', 'pki/ca.crt', 'pki/server.crt']) {
        assert.equal(statSync(join(api.dataDir, file)).mode & 0o777, 0o600, file);
      }
    });

    it('answers what is no HTTP with a Status that says nothing else', async () => {
      const { hostname, port } = new URL(api.server.url);
      const say = (text: string): Promise<string> =>
        new Promise((resolve, reject) => {
          const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => socket.write(text));
          let answer = '';
          socket.on('data', (data) => {
            answer += String(data);
          });
          socket.on('close', () => resolve(answer));
          socket.on('error', reject);
        });
      for (const [text, code] of [
        ['FOO /api HTTP/1.1\r\nHost: a\r\n\r\n', 400],
        [`GET /api HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`, 431],
      ] as const) {
        const [head = '', body = ''] = (await say(text)).split('\r\n\r\n');
        assert.match(head, new RegExp(`^HTTP/1.1 ${code} `));
        const status: unknown = JSON.parse(body);
        assert.deepEqual([at(status, 'kind'), at(status, 'status'), at(status, 'code')], ['Status', 'Failure', code]);
      }
    });

    it('answers nothing but 401 without the token, whatever is asked', async () => {
      for (const [path, method] of [
        ['/api', 'GET'],
        ['/nowhere', 'GET'],
        [CONFIG_MAPS, 'POST'],
        [`${CONFIG_MAPS}?watch=1`, 'GET'],
        ['/api/%zz', 'GET'],
      ] as const) {
        for (const token of [false, 'wrong', `${api.access.token}x`] as const) {
          const answer = await api.send(path, { method, token });
          assert.equal(answer.status, 401, `${method} ${path}`);
          assert.equal(answer.body['reason'], 'Unauthorized');
          assert.equal(answer.body['kind'], 'Status');
        }
      }
    });

    it('is reached by nobody who does not trust its authority', async () => {
      const { port } = new URL(api.server.url);
      await assert.rejects(
        new Promise((resolve, reject) => {
          request({ hostname: '127.0.0.1', port, path: '/api', agent: false }, resolve).on('error', reject).end();
        }),
        { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
      );
    });

    it('does not speak plain HTTP', async () => {
      await assert.rejects(fetch(api.server.url.replace('https', 'http')));
    });
  });

  describe('discovery', () => {
    it('lists versions, groups and resources in the form that Kubernetes clients read', async () => {
      assert.deepEqual((await api.send('/api')).body['versions'], ['v1']);
      const groups = at((await api.send('/apis')).body, 'groups');
      assert.ok(Array.isArray(groups));
      assert.deepEqual(groups.map((group) => at(group, 'preferredVersion', 'groupVersion')).sort(), [
        'apps/v1',
        'batch/v1',
        'coordination.k8s.io/v1',
        'promoter.io/v1alpha1',
      ]);
      assert.equal((await api.send('/apis/promoter.io')).body['kind'], 'APIGroup');
      const list = (await api.send('/apis/promoter.io/v1alpha1')).body;
      assert.equal(list['groupVersion'], 'promoter.io/v1alpha1');
      const resources = at(list, 'resources');
      assert.ok(Array.isArray(resources));
      const bundles = resources.find((resource) => at(resource, 'name') === 'bundles');
      assert.deepEqual(
        [at(bundles, 'kind'), at(bundles, 'namespaced'), at(bundles, 'singularName'), at(bundles, 'shortNames', 0)],
        ['Bundle', true, 'bundle', 'bdl'],
      );
      assert.ok(resources.some((resource) => at(resource, 'name') === 'bundles/status'));
      assert.ok(!resources.some((resource) => at(resource, 'name') === 'auditevents/status'));
      const core = at((await api.send('/api/v1')).body, 'resources');
      assert.ok(Array.isArray(core));
      assert.equal(
        at(
          core.find((resource) => at(resource, 'name') === 'namespaces'),
          'namespaced',
        ),
        false,
      );
      assert.match(String((await api.send('/version')).body['gitVersion']), /^v1\.\d+\.\d+/);
    });

    it('answers unknown paths with a Status', async () => {
      for (const path of ['/apis/example.com', '/apis/promoter.io/v2', '/api/v1/namespaces/shop/pods', '/metrics']) {
        const answer = await api.send(path);
        assert.equal(answer.status, 404, path);
        assert.equal(answer.body['reason'], 'NotFound');
      }
    });
  });

  describe('verbs', () => {
    it('creates, gets, lists, replaces and deletes', async () => {
      const made = await created(PIPELINES, pipeline('verbs'));
      assert.equal(at(made.body, 'metadata', 'namespace'), 'shop');
      const got = await api.send(`${PIPELINES}/verbs`);
      assert.deepEqual(got.body, made.body);
      const replaced = await api.send(`${PIPELINES}/verbs`, {
        method: 'PUT',
        body: { ...got.body, spec: { ...pipeline('verbs').spec, historyLimit: 7 } },
      });
      assert.equal(replaced.status, 200);
      assert.equal(at(replaced.body, 'metadata', 'generation'), 2);
      assert.ok(names(await api.send('/apis/promoter.io/v1alpha1/pipelines')).includes('verbs'));
      const deleted = await api.send(`${PIPELINES}/verbs`, { method: 'DELETE' });
      assert.equal(deleted.status, 200);
      assert.equal(at(deleted.body, 'spec', 'historyLimit'), 7);
      assert.equal((await api.send(`${PIPELINES}/verbs`)).status, 404);
    });

    it('lists by labels, fields and pages, over one namespace and over all', async () => {
      for (const [name, tier] of [
        ['list-a', 'front'],
        ['list-b', 'back'],
        ['list-c', 'front'],
      ] as const) {
        await created('/api/v1/namespaces/lists/configmaps', configMap(name, {}, { labels: { tier } }));
      }
      await created('/api/v1/namespaces/lists-too/configmaps', configMap('list-d', {}, { labels: { tier: 'front' } }));
      const path = '/api/v1/namespaces/lists/configmaps';
      assert.deepEqual(names(await api.send(`${path}?labelSelector=tier%3Dfront`)), ['list-a', 'list-c']);
      assert.deepEqual(names(await api.send(`${path}?fieldSelector=metadata.name%3Dlist-b`)), ['list-b']);
      assert.deepEqual(names(await api.send('/api/v1/configmaps?labelSelector=tier%20in%20(front)')), ['list-a', 'list-c', 'list-d']);
      const page = await api.send(`${path}?limit=2`);
      assert.deepEqual(names(page), ['list-a', 'list-b']);
      const token = encodeURIComponent(String(at(page.body, 'metadata', 'continue')));
      const rest = await api.send(`${path}?limit=2&continue=${token}`);
      assert.deepEqual(names(rest), ['list-c']);
      assert.equal(at(rest.body, 'metadata', 'continue'), undefined);
      assert.equal(rest.body['kind'], 'ConfigMapList');
    });

    it('merges patches, and applies them again when somebody else wrote meanwhile', async () => {
      await created(CONFIG_MAPS, configMap('merge', { a: '1', b: '2' }));
      const merged = await api.send(`${CONFIG_MAPS}/merge`, { method: 'PATCH', headers: MERGE, body: { data: { a: null, c: '3' } } });
      assert.deepEqual(merged.body['data'], { b: '2', c: '3' });
      const patches = Array.from({ length: 6 }, (_, index) =>
        api.send(`${CONFIG_MAPS}/merge`, { method: 'PATCH', headers: MERGE, body: { data: { [`k${index}`]: 'x' } } }),
      );
      assert.deepEqual(
        (await Promise.all(patches)).map(({ status }) => status),
        Array(6).fill(200),
      );
      assert.equal(Object.keys(at((await api.send(`${CONFIG_MAPS}/merge`)).body, 'data') ?? {}).length, 8);
    });

    it('refuses a patch that names an older version', async () => {
      const { body } = await created(CONFIG_MAPS, configMap('pinned'));
      const version = at(body, 'metadata', 'resourceVersion');
      const pinned = () =>
        api.send(`${CONFIG_MAPS}/pinned`, {
          method: 'PATCH',
          headers: MERGE,
          body: { metadata: { resourceVersion: version }, data: { n: String(Math.random()) } },
        });
      assert.equal((await pinned()).status, 200);
      const stale = await pinned();
      assert.equal(stale.status, 409);
      assert.equal(stale.body['reason'], 'Conflict');
      assert.match(String(stale.body['message']), /^Operation cannot be fulfilled on configmaps "pinned": /);
    });

    it('applies JSON patches whole or not at all', async () => {
      await created(CONFIG_MAPS, configMap('json', { a: '1' }));
      const patch = (body: unknown) =>
        api.send(`${CONFIG_MAPS}/json`, { method: 'PATCH', headers: JSON_PATCH, body: JSON.stringify(body) });
      const good = await patch([
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'add', path: '/metadata/annotations', value: {} },
        { op: 'add', path: '/metadata/annotations/example.com~1b', value: '2' },
        { op: 'move', from: '/data/a', path: '/data/d' },
      ]);
      assert.deepEqual(good.body['data'], { d: '1' }, good.text);
      assert.deepEqual(at(good.body, 'metadata', 'annotations'), { 'example.com/b': '2' });
      const failing = await patch([
        { op: 'remove', path: '/data/d' },
        { op: 'test', path: '/metadata/annotations/example.com~1b', value: 'other' },
      ]);
      assert.equal(failing.status, 422);
      assert.deepEqual(at((await api.send(`${CONFIG_MAPS}/json`)).body, 'data'), { d: '1' });
      assert.equal((await patch([{ op: 'grow', path: '/data' }])).status, 400);
      assert.equal((await patch({ op: 'add' })).status, 400);
    });

    it('says which patches it takes when it is sent another', async () => {
      await created(PIPELINES, pipeline('patched'));
      for (const type of ['application/strategic-merge-patch+json', 'application/apply-patch+yaml', 'text/plain']) {
        const answer = await api.send(`${PIPELINES}/patched`, { method: 'PATCH', headers: { 'content-type': type }, body: '{}' });
        assert.equal(answer.status, 415, type);
        assert.match(String(answer.body['message']), /application\/merge-patch\+json/);
      }
      const headers = { 'content-type': 'application/strategic-merge-patch+json' };
      const native = await api.send(`${CONFIG_MAPS}/json`, { method: 'PATCH', headers, body: { data: { z: '1' } } });
      assert.equal(at(native.body, 'data', 'z'), '1');
    });

    it('keeps status and spec apart', async () => {
      const path = `${PIPELINES}/status-apart`;
      await created(PIPELINES, { ...pipeline('status-apart'), status: { lastSequence: 5 } });
      assert.equal(at((await api.send(path)).body, 'status'), undefined);
      const patched = await api.send(`${path}/status`, {
        method: 'PATCH',
        headers: MERGE,
        body: { status: { lastSequence: 3 }, spec: { historyLimit: 2 } },
      });
      assert.equal(at(patched.body, 'status', 'lastSequence'), 3, patched.text);
      assert.equal(at(patched.body, 'spec', 'historyLimit'), 20);
      const put = await api.send(`${path}/status`, { method: 'PUT', body: { ...patched.body, status: { lastSequence: 4 } } });
      assert.equal(at(put.body, 'status', 'lastSequence'), 4);
      const spec = await api.send(path, {
        method: 'PATCH',
        headers: MERGE,
        body: { status: { lastSequence: 9 }, spec: { historyLimit: 3 } },
      });
      assert.equal(at(spec.body, 'status', 'lastSequence'), 4);
      assert.equal(at(spec.body, 'spec', 'historyLimit'), 3);
      assert.equal((await api.send(`${path}/status`)).status, 200);
    });

    it('writes nothing in a dry run', async () => {
      const answer = await api.send(`${CONFIG_MAPS}?dryRun=All`, { method: 'POST', body: configMap('dry') });
      assert.equal(answer.status, 201);
      assert.equal((await api.send(`${CONFIG_MAPS}/dry`)).status, 404);
      await created(CONFIG_MAPS, configMap('kept'));
      assert.equal(
        (await api.send(`${CONFIG_MAPS}/kept`, { method: 'DELETE', body: { kind: 'DeleteOptions', dryRun: ['All'] } })).status,
        200,
      );
      assert.equal((await api.send(`${CONFIG_MAPS}/kept`)).status, 200);
    });

    it('heeds preconditions of deletions', async () => {
      await created(CONFIG_MAPS, configMap('guarded'));
      const other = { preconditions: { uid: '00000000-0000-4000-8000-000000000000' } };
      assert.equal((await api.send(`${CONFIG_MAPS}/guarded`, { method: 'DELETE', body: other })).status, 409);
      assert.equal((await api.send(`${CONFIG_MAPS}/guarded`, { method: 'DELETE', body: { wrong: 1 } })).status, 400);
      assert.equal((await api.send(`${CONFIG_MAPS}/guarded?propagationPolicy=Sideways`, { method: 'DELETE' })).status, 400);
      assert.equal((await api.send(`${CONFIG_MAPS}/guarded?propagationPolicy=Foreground`, { method: 'DELETE' })).status, 200);
    });

    it('deletes what a selector selects', async () => {
      const path = '/api/v1/namespaces/sweep/configmaps';
      for (const name of ['a', 'b']) await created(path, configMap(name, {}, { labels: { sweep: 'yes' } }));
      await created(path, configMap('c'));
      const swept = await api.send(`${path}?labelSelector=sweep%3Dyes`, { method: 'DELETE' });
      assert.deepEqual(names(swept), ['a', 'b']);
      assert.deepEqual(names(await api.send(path)), ['c']);
    });

    it('serves namespaces without a namespace', async () => {
      await created('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
      assert.equal(at((await api.send('/api/v1/namespaces/team')).body, 'status', 'phase'), 'Active');
    });
  });

  describe('tables', () => {
    it('are answered to clients that ask for them', async () => {
      await created('/apis/promoter.io/v1alpha1/namespaces/tables/pipelines', pipeline('tabled'));
      const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
      const table = await api.send('/apis/promoter.io/v1alpha1/namespaces/tables/pipelines', { headers: { accept } });
      assert.equal(table.body['kind'], 'Table');
      const columns = at(table.body, 'columnDefinitions');
      assert.ok(Array.isArray(columns));
      assert.deepEqual(columns.map((column) => at(column, 'name')).slice(0, 2), ['Name', 'Environments']);
      assert.deepEqual([at(table.body, 'rows', 0, 'cells', 0), at(table.body, 'rows', 0, 'cells', 1)], ['tabled', 2]);
      assert.equal(at(table.body, 'rows', 0, 'object', 'kind'), 'PartialObjectMetadata');
    });
  });

  describe('refusals', () => {
    it('are Status objects with reason, code and details', async () => {
      const missing = await api.send('/apis/promoter.io/v1alpha1/namespaces/shop/bundles/x');
      assert.deepEqual(missing.body, {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'bundles.promoter.io "x" not found',
        reason: 'NotFound',
        details: { name: 'x', group: 'promoter.io', kind: 'bundles' },
        code: 404,
      });
      await created(CONFIG_MAPS, configMap('taken'));
      const taken = await api.send(CONFIG_MAPS, { method: 'POST', body: configMap('taken') });
      assert.equal(taken.status, 409);
      assert.equal(taken.body['reason'], 'AlreadyExists');
      assert.equal(taken.body['message'], 'configmaps "taken" already exists');
    });

    it('carry the admission messages of the specification, with the field', async () => {
      const answer = await api.send(PIPELINES, { method: 'POST', body: pipeline('empty', { environments: [] }) });
      assert.equal(answer.status, 422);
      assert.equal(answer.body['reason'], 'Invalid');
      const causes = at(answer.body, 'details', 'causes');
      assert.ok(Array.isArray(causes));
      assert.ok(causes.some((cause) => at(cause, 'message') === 'spec.environments must contain at least one environment'));
      assert.match(String(at(causes[0], 'field')), /^spec/);
    });

    it('name unknown fields as the client asks: in warnings, as an error, or not at all', async () => {
      const body = pipeline('unknown', { historyLimits: 3 });
      const warned = await api.send(`${PIPELINES}?dryRun=All`, { method: 'POST', body });
      assert.equal(warned.headers['warning'], '299 - "unknown field \\"spec.historyLimits\\""');
      const strict = await api.send(`${PIPELINES}?fieldValidation=Strict`, { method: 'POST', body });
      assert.equal(strict.status, 400);
      assert.match(String(strict.body['message']), /^strict decoding error: unknown field "spec\.historyLimits"/);
      const silent = await api.send(`${PIPELINES}?dryRun=All&fieldValidation=Ignore`, { method: 'POST', body });
      assert.equal(silent.headers['warning'], undefined);
      assert.equal(silent.status, 201);
    });

    const bad: readonly [what: string, path: string, body: object | string, status: number][] = [
      ['another kind', CONFIG_MAPS, { ...configMap('x'), kind: 'Secret' }, 400],
      ['no kind', CONFIG_MAPS, { metadata: { name: 'x' } }, 400],
      ['another namespace', CONFIG_MAPS, configMap('x', {}, { namespace: 'elsewhere' }), 400],
      ['broken JSON', CONFIG_MAPS, '{"a":', 400],
      ['a list', CONFIG_MAPS, '[]', 400],
      ['nothing', CONFIG_MAPS, '', 400],
      ['a key __proto__', CONFIG_MAPS, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"__proto__":{"a":1}}', 400],
      ['labels that are no map', CONFIG_MAPS, configMap('x', {}, { labels: 5 }), 400],
      ['metadata that is no object', CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: [] }, 400],
      ['deep nesting', CONFIG_MAPS, `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, 400],
      ['an unknown parameter', `${CONFIG_MAPS}?color=blue`, configMap('x'), 400],
      ['a parameter twice', `${CONFIG_MAPS}?dryRun=All&dryRun=All`, configMap('x'), 400],
      ['a senseless parameter', `${CONFIG_MAPS}?dryRun=Some`, configMap('x'), 400],
      ['no name', CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }, 422],
      ['too much', CONFIG_MAPS, configMap('x', { a: 'x'.repeat(4 * 1024 * 1024) }), 413],
    ];
    for (const [what, path, body, status] of bad) {
      it(`refuse ${what} with ${status}`, async () => {
        const answer = await api.send(path, { method: 'POST', body });
        assert.equal(answer.status, status, answer.text);
        assert.equal(answer.body['kind'], 'Status');
        assert.notEqual(answer.body['message'], '');
        assert.equal((await api.send(`${CONFIG_MAPS}/x`)).status, 404);
      });
    }

    it('refuse a name that differs from the path', async () => {
      await created(CONFIG_MAPS, configMap('renamed'));
      const put = await api.send(`${CONFIG_MAPS}/renamed`, { method: 'PUT', body: configMap('other') });
      assert.equal(put.status, 400);
      const patch = await api.send(`${CONFIG_MAPS}/renamed`, { method: 'PATCH', headers: MERGE, body: { metadata: { name: 'other' } } });
      assert.equal(patch.status, 400);
    });

    it('refuse a body of 10 MB without reading it to the end', async () => {
      const answer = await api
        .send(CONFIG_MAPS, { method: 'POST', body: JSON.stringify(configMap('x', { a: 'x'.repeat(10_000_000) })) })
        .catch((error: NodeJS.ErrnoException) => ({ status: error.code === 'EPIPE' || error.code === 'ECONNRESET' ? 413 : 0 }));
      assert.equal(answer.status, 413);
    });
  });
});
