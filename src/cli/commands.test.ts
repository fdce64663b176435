/** Commands over a real store, in this process. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClusterReader } from '../adapters/cluster-store.ts';
import { openSqliteStore } from '../adapters/store-sqlite/index.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { admit } from '../api/admission.ts';
import type { Bundle, BundleStatus } from '../api/kinds/bundle.ts';
import type { Pipeline } from '../api/kinds/pipeline.ts';
import type { PromotionStep, PromotionStepStatus } from '../api/kinds/promotion-step.ts';
import { done, type Outcome, terminal as refused } from '../api/outcome.ts';
import type { Store } from '../ports/store.ts';
import { runCli } from './index.ts';
import type { Connection, ControllerOptions, Wiring } from './wiring.ts';

/** What a command did. */
interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Desk {
  readonly store: Store;
  readonly run: (line: string, input?: string) => Promise<Ran>;
  /** Options that reached the controller. */
  readonly started: ControllerOptions[];
}

const PIPELINE = `
apiVersion: promoter.io/v1alpha1
kind: Pipeline
metadata: {name: web}
spec:
  git: {url: https://git.example/acme/env.git, provider: git}
  environments: [{name: test}, {name: prod}]
`;

const desk = async (context: TestContext): Promise<Desk> => {
  const directory = await mkdtemp(join(tmpdir(), 'promoter-cli-'));
  const opened = await openSqliteStore({ directory, clock: systemClock, admit });
  assert.equal(opened.outcome, 'done');
  const store = opened.outcome === 'done' ? opened.value : assert.fail();
  context.after(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });
  const started: ControllerOptions[] = [];
  const run = async (line: string, input = ''): Promise<Ran> => {
    let out = '';
    let err = '';
    const connection: Connection = {
      store,
      cluster: createClusterReader(store),
      namespace: 'default',
      server: 'memory',
      close: async () => {},
    };
    const wiring: Wiring = {
      version: '9.9.9',
      clock: systemClock,
      terminal: {
        out: (text) => {
          out += text;
        },
        err: (text) => {
          err += text;
        },
        colour: false,
        interactive: false,
        readInput: async () => input,
      },
      connect: async ({ kubeconfig }): Promise<Outcome<Connection>> =>
        kubeconfig === undefined ? done(connection) : refused('NoServer', `nothing at ${kubeconfig}`),
      runController: async (options) => {
        started.push(options);
        return done(undefined);
      },
      runDemo: async () => done(undefined),
    };
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map((word) => word[1] ?? word[2] ?? '');
    const code = await runCli(words, wiring);
    return { code, out, err };
  };
  return { store, run, started };
};

const withStatus = async (store: Store, name: string, status: BundleStatus): Promise<Bundle> => {
  const got = await store.get('Bundle', 'default', name);
  assert.ok(got.ok);
  const written = await store.updateStatus<Bundle>({ ...got.value, status });
  assert.ok(written.ok, JSON.stringify(written));
  return written.object;
};

const addStep = async (store: Store, bundle: string, environment: string, status: PromotionStepStatus): Promise<void> => {
  const created = await store.create<PromotionStep>({
    apiVersion: 'promoter.io/v1alpha1',
    kind: 'PromotionStep',
    metadata: {
      name: `${bundle}-${environment}`,
      namespace: 'default',
      labels: { 'promoter.io/pipeline': 'web', 'promoter.io/bundle': bundle, 'promoter.io/environment': environment },
    },
    spec: { pipeline: 'web', bundle, environment },
  });
  assert.ok(created.ok, JSON.stringify(created));
  assert.ok((await store.updateStatus<PromotionStep>({ ...created.object, status })).ok);
};

test('version, help and mistakes have their exit codes', async (context) => {
  const { run } = await desk(context);
  assert.deepEqual(await run('version'), { code: 0, out: 'promoter 9.9.9\n', err: '' });
  assert.equal((await run('--help')).code, 0);
  assert.equal((await run('get --help')).code, 0);
  assert.equal((await run('')).code, 2);
  for (const wrong of ['gte bundles', 'get', 'get bundles --nonsense', 'apply', 'create bundle', 'get bundels', 'get bundles -o wide']) {
    const { code, err, out } = await run(wrong);
    assert.equal(code, 2, wrong);
    assert.notEqual(err, '', wrong);
    assert.equal(out, '', wrong);
  }
  assert.match((await run('gte bundles')).err, /Did you mean get\?/);
  assert.match((await run('constructor')).err, /unknown command/);
});

test('a server that is not there is one line and exit code 1', async (context) => {
  const { run } = await desk(context);
  assert.deepEqual(await run('get bundles --kubeconfig x'), { code: 1, out: '', err: 'error: nothing at x\n' });
});

test('apply creates, leaves alone and changes', async (context) => {
  const { run, store } = await desk(context);
  assert.deepEqual(await run('apply -f -', PIPELINE), { code: 0, out: 'pipeline/web created\n', err: '' });
  assert.equal((await run('apply -f -', PIPELINE)).out, 'pipeline/web unchanged\n');
  assert.equal((await run('apply -f -', PIPELINE.replace('{name: prod}', '{name: live}'))).out, 'pipeline/web configured\n');
  const stored = await store.get('Pipeline', 'default', 'web');
  assert.deepEqual(stored.ok && stored.value.spec?.environments?.map((environment) => environment.name), ['test', 'live']);
});

test('apply keeps labels that others gave', async (context) => {
  const { run, store } = await desk(context);
  await run('apply -f -', PIPELINE.replace('{name: web}', '{name: web, labels: {a: "1"}}'));
  await run('apply -f -', PIPELINE.replace('{name: web}', '{name: web, labels: {b: "2"}}'));
  const stored = await store.get('Pipeline', 'default', 'web');
  assert.deepEqual(stored.ok && stored.value.metadata.labels, { a: '1', b: '2' });
});

test('apply says what was refused, applies the rest, and a dry run writes nothing', async (context) => {
  const { run, store } = await desk(context);
  const empty = PIPELINE.replace('name: web', 'name: empty').replace(/environments: .*/, 'environments: []');
  const both = await run('apply -f -', `${empty}---${PIPELINE}`);
  assert.equal(both.code, 1);
  assert.match(both.err, /pipeline\/empty \(standard input:\d+\): .*spec\.environments must contain at least one environment/);
  assert.match(both.err, /1 of 2 objects were refused/);
  assert.equal(both.out, 'pipeline/web created\n');
  const dry = await run('apply -f - --dry-run', PIPELINE.replace('name: web', 'name: other'));
  assert.equal(dry.out, 'pipeline/other created (dry run)\n');
  assert.equal((await store.get('Pipeline', 'default', 'other')).ok, false);
});

test('apply tells every document and file that cannot be read, and applies the others', async (context) => {
  const { run, store } = await desk(context);
  const ran = await run('apply -f -', `kind: Pipline\n---\n${PIPELINE}---\nnonsense\n`);
  assert.equal(ran.code, 1);
  assert.equal(ran.out, 'pipeline/web created\n');
  assert.match(ran.err, /^error: standard input:1: there is no kind "Pipline"/);
  assert.match(ran.err, /\nerror: standard input:\d+: expected a resource/);
  assert.match(ran.err, /\nerror: 2 could not be read; the others are applied\.\n$/);
  assert.ok((await store.get('Pipeline', 'default', 'web')).ok);
  const nothing = await run('apply -f -', 'kind: Pipline\n---\nnonsense\n');
  assert.equal(nothing.code, 1);
  assert.match(nothing.err, /\nerror: 2 could not be read; nothing was applied\.\n$/);
  const bomb = await run('apply -f -', 'apiVersion: v1\nkind: Secret\nmetadata: &m {name: self, labels: *m}\n');
  assert.deepEqual([bomb.code, bomb.out], [1, '']);
  assert.match(bomb.err, /^error: standard input:3: the alias \*m stands inside of what it names\.\n$/);
});

test('a namespace that is given with -n is where objects without one go', async (context) => {
  const { run, store } = await desk(context);
  assert.equal((await run('apply -f -', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n')).code, 0);
  assert.equal((await run('apply -n team -f -', PIPELINE)).code, 0);
  assert.ok((await store.get('Pipeline', 'team', 'web')).ok);
  const here = await run('explain web');
  assert.equal(here.code, 1);
  assert.match(here.err, /namespace team: add -n team/);
});

test('create bundle makes the same Bundle once', async (context) => {
  const { run, store } = await desk(context);
  await run('apply -f -', PIPELINE);
  const line = 'create bundle web --image acme/web:1.0 --author Ada --label hotfix=true --target test --version 1.0-rc';
  assert.equal((await run(`${line} --dry-run`)).out, 'bundle/web-1.0-rc created (dry run)\n');
  assert.deepEqual(await run(line), { code: 0, out: 'bundle/web-1.0-rc created\n', err: '' });
  const stored = await store.get('Bundle', 'default', 'web-1.0-rc');
  assert.ok(stored.ok);
  assert.equal(stored.value.metadata.labels?.['promoter.io/pipeline'], 'web');
  assert.equal(stored.value.spec?.intent?.targetEnvironment, 'test');
  const again = await run(line);
  assert.equal(again.code, 1);
  assert.match(again.err, /Bundle web-1\.0-rc already carries version 1\.0-rc of web, with the same content/);
  const other = await run('create bundle web --image acme/web:2.0 --version 1.0-rc');
  assert.match(other.err, /with other content/);
});

test('create bundle asks for a pipeline that exists', async (context) => {
  const { run } = await desk(context);
  await run('apply -f -', PIPELINE);
  const missing = await run('create bundle wbe --image acme/web:1.0');
  assert.equal(missing.code, 1);
  assert.match(missing.err, /There is no pipeline "wbe" in namespace default\. Did you mean web\?/);
});

test('create bundle refuses a target and skips that the pipeline does not have, before anything is written', async (context) => {
  const { run, store } = await desk(context);
  await run('apply -f -', PIPELINE);
  const refused = async (flags: string): Promise<string> => {
    const ran = await run(`create bundle web --image acme/web:1 ${flags}`);
    assert.deepEqual([ran.code, ran.out], [2, ''], flags);
    return ran.err;
  };
  assert.match(
    await refused('--target nope'),
    /^error: --target: "nope" is no environment; the environments of the Pipeline are test, prod\.\n$/,
  );
  assert.match(await refused('--skip tset'), /^error: --skip: "tset" is no environment/);
  assert.match(await refused('--skip test,prod'), /^error: --skip: "prod" is the target and cannot be skipped/);
  assert.match(await refused('--type bogus'), /--type.*image, config, mixed/);
  const list = await store.list('Bundle');
  assert.equal(list.ok && list.value.items.length, 0);
});

test('a namespace that cannot be one is refused before it is asked for', async (context) => {
  const { run } = await desk(context);
  for (const line of ["get bundles -n 'A B'", "apply -f - -n ''", 'explain web -n A', 'history web -n -x']) {
    const ran = await run(line, PIPELINE);
    assert.deepEqual([ran.code, ran.out], [2, ''], line);
    assert.match(ran.err, /namespace/, line);
  }
});

test('explain names the Bundles that wait for a Pipeline that is gone', async (context) => {
  const { run } = await desk(context);
  await run('apply -f -', PIPELINE);
  await run('create bundle web --image acme/web:1');
  await run('delete pipeline web');
  const { code, err } = await run('explain web');
  assert.equal(code, 1);
  assert.match(err, /^error: There is no pipeline "web" in namespace default\..* 1 Bundle waits for it: web-1 \(Available\)\.\n$/);
});

test('a name that is taken by another Bundle is not in the way', async (context) => {
  const { run, store } = await desk(context);
  await run('apply -f -', PIPELINE);
  await run('create bundle web --config-repo https://git.example/x --config-commit 12345678 --version 7');
  const image = await run('create bundle web --image acme/web:7');
  assert.equal(image.code, 0, image.err);
  assert.match(image.out, /^bundle\/web-7-[0-9a-f]{8} created\n$/);
  const list = await store.list('Bundle');
  assert.equal(list.ok && list.value.items.length, 2);
});

test('get bundles shows exactly BUNDLE, PHASE, ENV and AGE, newest first', async (context) => {
  const { run, store } = await desk(context);
  await run('apply -f -', PIPELINE);
  assert.deepEqual(await run('get bundles'), { code: 0, out: '', err: 'No bundles in namespace default.\n' });
  await run('create bundle web --image acme/web:1');
  await run('create bundle web --image acme/web:2');
  await withStatus(store, 'web-1', { phase: 'Superseded', version: '1', sequence: 1 });
  await withStatus(store, 'web-2', { phase: 'Promoting', version: '2', sequence: 2 });
  await addStep(store, 'web-2', 'test', { state: 'Verified', outputs: { 'git.commit': 'c'.repeat(40), 'git.branch': 'main' } });
  await addStep(store, 'web-2', 'prod', { state: 'HealthChecking', message: 'waits for health' });
  for (const words of ['get bundles web', 'get bundle', 'get bdl web']) {
    const lines = (await run(words)).out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/\s{2,}/));
    assert.deepEqual(lines[0], ['BUNDLE', 'PHASE', 'ENV', 'AGE'], words);
    assert.deepEqual(
      lines.slice(1).map((line) => line.slice(0, 3)),
      [
        ['web-2', 'Promoting', 'prod'],
        ['web-1', 'Superseded', '-'],
      ],
      words,
    );
  }
  assert.equal((await run('get bundles web-1 -o name')).out, 'bundle/web-1\n');
  assert.equal((await run('get bundles -l promoter.io/pipeline=other')).out, '');
  const missing = await run('get bundles nothing');
  assert.equal(missing.code, 1);
});

test('a server that does not answer is not taken for one that has nothing', async (context) => {
  const { run, store } = await desk(context);
  await run('apply -f -', PIPELINE);
  context.mock.method(store, 'list', async () => ({ ok: false, error: { code: 'Unavailable', message: 'no answer' } }));
  for (const line of ['get bundles web', 'get steps web', 'get pipeline web', 'get bundles web -w']) {
    const ran = await run(line);
    assert.equal(ran.code, 1, line);
    assert.match(ran.err, /^error: no answer\. /, line);
  }
});

test('objects are printed as JSON and YAML', async (context) => {
  const { run } = await desk(context);
  await run('apply -f -', PIPELINE);
  const one: unknown = JSON.parse((await run('get pipeline web -o json')).out);
  assert.equal((one as { kind: string }).kind, 'Pipeline');
  const list: unknown = JSON.parse((await run('get pipelines -A -o json')).out);
  assert.equal((list as { items: unknown[] }).items.length, 1);
  assert.match((await run('get pl web -o yaml')).out, /^apiVersion: promoter\.io\/v1alpha1\nkind: Pipeline\n/);
  assert.match((await run('get pl -A')).out, /^NAMESPACE +PIPELINE +ENVIRONMENTS +READY +REPOSITORY +AGE\ndefault +web +test, prod/);
});

test('get steps lists environments without a step as Pending with what they wait for', async (context) => {
  const { run, store } = await desk(context);
  await run('apply -f -', PIPELINE);
  await run('create bundle web --image acme/web:1');
  await withStatus(store, 'web-1', { phase: 'Promoting', version: '1', sequence: 1 });
  await addStep(store, 'web-1', 'test', { state: 'Promoting', message: 'busy' });
  const graph = await store.create({
    apiVersion: 'promoter.io/v1alpha1',
    kind: 'Graph',
    metadata: { name: 'web-1', namespace: 'default', labels: { 'promoter.io/pipeline': 'web' } },
    spec: {
      pipeline: 'web',
      bundle: 'web-1',
      nodes: [
        { id: 'test', kind: 'PromotionStep', environment: 'test', dependsOn: [] },
        { id: 'prod', kind: 'PromotionStep', environment: 'prod', dependsOn: ['test'] },
      ],
    },
  });
  assert.ok(graph.ok, JSON.stringify(graph));
  const { out } = await run('get steps web');
  assert.match(out, /web-1 +test +Promoting +\S+ +busy\n/);
  assert.match(out, /- +web-1 +prod +Pending +- +waits for test \(Promoting\)\n/);
  await run('create bundle web --image acme/web:0');
  await addStep(store, 'web-0', 'test', { state: 'Verified' });
  const bundles = (await run('get steps web')).out
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ {2,}/)[1]);
  assert.deepEqual(bundles.toSorted(), ['web-0', 'web-1', 'web-1']);
  assert.ok(bundles[0] === 'web-0' || bundles[2] === 'web-0', 'rows of one Bundle stay together');
});

test('history shows Bundles newest first with the commit of each environment', async (context) => {
  const { run, store } = await desk(context);
  await run('apply -f -', PIPELINE);
  await run('create bundle web --image acme/web:1');
  await withStatus(store, 'web-1', {
    phase: 'Verified',
    version: '1',
    sequence: 1,
    environments: [
      { name: 'test', state: 'Verified', message: '', commit: 'a'.repeat(40), verifiedAt: '2026-01-01T00:00:00Z', transitions: [] },
      { name: 'prod', state: 'Verified', message: '', commit: 'b'.repeat(40), verifiedAt: '2026-01-01T00:10:00Z', transitions: [] },
    ],
  });
  const { out } = await run('history web');
  assert.match(out, /^BUNDLE +VERSION +PHASE +ENV +STATE +COMMIT +SINCE\n/);
  assert.match(out, /web-1 +1 +Verified +test +Verified +aaaaaaaaaaaa +2026-01-01 00:00:00Z/);
  assert.match(out, /\n +prod +Verified +bbbbbbbbbbbb/);
  const json: unknown = JSON.parse((await run('history web -o json')).out);
  assert.equal((json as { environments: { commit: string }[] }[])[0]?.environments[1]?.commit, 'b'.repeat(40));
  assert.equal((await run('history nothing')).code, 1);
});

test('explain ends with a RESULT line and refuses an unknown environment', async (context) => {
  const { run } = await desk(context);
  await run('apply -f -', PIPELINE);
  assert.match((await run('explain web')).out, /\nRESULT: .*no Bundle yet.*\n$/);
  await run('create bundle web --image acme/web:1');
  const { out, code } = await run('explain web');
  assert.equal(code, 0);
  assert.match(out, /Bundle +web-1, version/);
  assert.match(out, /\nRESULT: [^\n]+\n$/);
  const wrong = await run('explain web --env prdo');
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /no environment "prdo"\. Did you mean prod\?/);
  const nothing = await run('explain wbe');
  assert.equal(nothing.code, 1);
  assert.match(nothing.err, /Did you mean web\?/);
});

test('what a replaced Bundle was doing is not shown as going on', async (context) => {
  const { run, store } = await desk(context);
  await run('apply -f -', PIPELINE);
  await run('create bundle web --image acme/web:1');
  const record = (name: string, state: string) => ({ name, state, message: '', transitions: [] });
  const environments = [record('test', 'Verified'), record('prod', 'HealthChecking')];
  await withStatus(store, 'web-1', { phase: 'Superseded', version: '1', sequence: 1, environments });
  const { out } = await run('history web');
  assert.match(out, /Superseded +test +Verified/);
  assert.match(out, /\n +prod +Superseded/);
});

test('a Bundle that names a pipeline without carrying its label is told of', async (context) => {
  const { run, store } = await desk(context);
  await run('apply -f -', PIPELINE);
  assert.equal((await run('explain web')).err, '');
  for (const [name, pipeline] of [
    ['lost', 'web'],
    ['other', 'shop'],
  ]) {
    const metadata = { name: name ?? '', namespace: 'default' };
    const spec = { type: 'image', pipeline: pipeline ?? '', images: [{ repository: 'acme/web', tag: '1' }] };
    const made = await store.create<Bundle>({ apiVersion: 'promoter.io/v1alpha1', kind: 'Bundle', metadata, spec });
    assert.ok(made.ok, JSON.stringify(made));
  }
  for (const line of ['explain web', 'get bundles web', 'get bundles web -A']) {
    const { code, err } = await run(line);
    assert.equal(code, 0, line);
    assert.match(err, /warning: lost names pipeline web and has not the label promoter\.io\/pipeline=web;/, line);
    assert.doesNotMatch(err, /other/, line);
  }
  assert.doesNotMatch((await run('get bundles')).err, /warning/);
});

test('what is known against a pipeline is said when it is used', async (context) => {
  const { run, store } = await desk(context);
  await run('apply -f -', PIPELINE);
  const got = await store.get('Pipeline', 'default', 'web');
  assert.ok(got.ok);
  const at = '2026-01-01T00:00:00Z';
  const ready = { type: 'Ready', status: 'False', reason: 'Unsupported', message: 'environment prod: no', lastTransitionTime: at };
  const mark = (observedGeneration: number) => ({ ...got.value, status: { conditions: [{ ...ready, observedGeneration }] } });
  const marked = await store.updateStatus<Pipeline>(mark(got.value.metadata.generation ?? 0));
  assert.ok(marked.ok, JSON.stringify(marked));
  const told = /^warning: pipeline web is not Ready: Unsupported: environment prod: no\n/;
  assert.match((await run('create bundle web --image acme/web:1')).err, told);
  assert.match((await run('explain web')).err, told);
  assert.match((await run('get pipelines')).out, /test, prod +False/);
  await run('apply -f -', PIPELINE.replace('{name: prod}', '{name: production}'));
  assert.equal((await run('explain web')).err, '', 'the condition speaks of an older generation');
});

test('delete removes one and says so when there is none', async (context) => {
  const { run, store } = await desk(context);
  await run('apply -f -', PIPELINE);
  assert.deepEqual(await run('delete pipeline web'), { code: 0, out: 'pipeline/web deleted\n', err: '' });
  assert.equal((await store.get('Pipeline', 'default', 'web')).ok, false);
  assert.equal((await run('delete pipeline web')).code, 1);
});

test('the controller takes its flags, refuses bad ones, and only standalone works', async (context) => {
  const { run, started } = await desk(context);
  assert.equal((await run('controller --data-dir d --http-address 127.0.0.1:0 --bundle-rate-limit 0 --allow-local-git')).code, 0);
  const { dataDir, httpAddress, apiAddress, bundleRateLimit, allowLocalGit, concurrency } = started[0] ?? assert.fail();
  assert.deepEqual([dataDir, httpAddress, apiAddress], ['d', '127.0.0.1:0', '127.0.0.1:8084']);
  assert.deepEqual([bundleRateLimit, allowLocalGit, concurrency], [0, true, 1]);
  assert.equal(started[0]?.auditRetentionMs, 2160 * 3_600_000);
  assert.equal((await run('controller --audit-retention 36h')).code, 0);
  assert.equal(started[1]?.auditRetentionMs, 36 * 3_600_000);
  const wrong = [
    '--http-address 8083',
    '--audit-retention 90',
    '--audit-retention 90d',
    '--audit-retention -1h',
    '--audit-retention 59m',
    '--concurrency 0',
    '--concurrency x',
    '--log-level loud',
    '--external-url ftp://x',
    '--policy-namespace A_b',
  ];
  for (const flags of wrong) assert.equal((await run(`controller ${flags}`)).code, 2, flags);
  const distributed = await run('controller --mode distributed');
  assert.equal(distributed.code, 2);
  assert.match(distributed.err, /--mode distributed is not there yet/);
  assert.equal(started.length, 2);
});
