import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { admit } from './admission.ts';
import { parseDuration } from './duration.ts';
import { EXAMPLES } from './examples.ts';
import { API_VERSION, type Resource } from './meta.ts';

type Json = Record<string, unknown>;

const make = (kind: string, spec?: unknown, metadata: Json = { name: 'web', namespace: 'default' }): Resource =>
  JSON.parse(JSON.stringify({ apiVersion: API_VERSION, kind, metadata, ...(spec === undefined ? {} : { spec }) }));

const create = (object: Resource) => admit({ operation: 'create', object });

/** All refusals as `field: message`. */
const refusals = (object: Resource, old?: Resource): readonly string[] => {
  const result = admit(old === undefined ? { operation: 'create', object } : { operation: 'update', object, old });
  return result.ok ? [] : result.causes.map((cause) => `${cause.field}: ${cause.message}`);
};

const messages = (object: Resource): readonly string[] => {
  const result = create(object);
  return result.ok ? [] : result.causes.map((cause) => cause.message);
};

const image = { repository: 'ghcr.io/acme/web', tag: '1.29' };
const bundle = (spec: Json = {}) => make('Bundle', { pipeline: 'web', images: [image], ...spec });
const git = { url: 'https://github.com/acme/deploy.git', provider: 'local' };
const pipeline = (spec: Json = {}) => make('Pipeline', { git, environments: [{ name: 'test' }], ...spec });
const environment = (fields: Json) => pipeline({ environments: [{ name: 'test', ...fields }] });

test('every example is admitted as it stands; the only warning is that nothing acts on a kind yet', () => {
  const inert = ['Subscription', 'MetricCheck', 'ScheduleClock', 'PolicyGate'];
  for (const [kind, object] of Object.entries(EXAMPLES)) {
    const result = create(object);
    assert.ok(result.ok, kind + JSON.stringify(result));
    assert.equal(result.warnings.length, inert.includes(kind) ? 1 : 0, kind + JSON.stringify(result.warnings));
  }
});

test('the messages of the specification appear verbatim, whether the field is empty, missing, null, or spec itself is missing', () => {
  const noEnvironments = 'spec.environments must contain at least one environment';
  const noRepository = 'each environment must have a non-empty gitRepo';
  const noPipeline = 'spec.pipeline must not be empty';
  const noImages = "spec.images must contain at least one image when spec.type is 'image'";
  const noExpression = 'spec.expression must not be empty';
  const cases: [string, Resource][] = [
    [noEnvironments, pipeline({ environments: [] })],
    [noEnvironments, pipeline({ environments: null })],
    [noEnvironments, make('Pipeline', { git })],
    [noEnvironments, make('Pipeline', {})],
    [noEnvironments, make('Pipeline', null)],
    [noEnvironments, make('Pipeline')],
    [noRepository, pipeline({ git: { provider: 'local' } })],
    [noRepository, pipeline({ git: { provider: 'local', url: '' } })],
    [noRepository, pipeline({ git: { provider: 'local', url: null } })],
    [noRepository, make('Pipeline', { environments: [{ name: 'test' }] })],
    [
      noRepository,
      pipeline({
        git: { provider: 'local' },
        environments: [
          { name: 'a', gitRepo: 'https://h/r' },
          { name: 'b', gitRepo: '' },
        ],
      }),
    ],
    [noPipeline, bundle({ pipeline: '' })],
    [noPipeline, bundle({ pipeline: null })],
    [noPipeline, make('Bundle', { images: [image] })],
    [noPipeline, make('Bundle', {})],
    [noPipeline, make('Bundle')],
    [noImages, bundle({ images: [] })],
    [noImages, bundle({ images: null })],
    [noImages, bundle({ images: [], type: 'image' })],
    [noImages, make('Bundle', { pipeline: 'web' })],
    [noImages, make('Bundle', {})],
    [noImages, make('Bundle')],
    [noExpression, make('PolicyGate', { expression: '' })],
    [noExpression, make('PolicyGate', { expression: ' \n' })],
    [noExpression, make('PolicyGate', { expression: null })],
    [noExpression, make('PolicyGate', {})],
    [noExpression, make('PolicyGate')],
  ];
  for (const [message, object] of cases) assert.ok(messages(object).includes(message), `${message} for ${JSON.stringify(object)}`);
});

test('an unknown update strategy is refused with the words of the specification, replace among them', () => {
  const message = "each environment's updateStrategy must be one of: overlay, chart, custom";
  for (const strategy of ['replace', '', 'Overlay', 'x', 'x'.repeat(200)]) {
    assert.deepEqual(refusals(environment({ update: { strategy } })), [`spec.environments[0].update.strategy: ${message}`], strategy);
  }
  for (const strategy of ['overlay', 'chart', 'custom', 'kustomize', 'helm', null]) {
    assert.deepEqual(refusals(environment({ update: { strategy } })), [], String(strategy));
  }
});

test('a recheckInterval that is no Go duration is refused with the words of the specification', () => {
  const gate = (recheckInterval: unknown) => refusals(make('PolicyGate', { expression: 'true', recheckInterval }));
  for (const text of ['', '5', '1d', '5 m', 'x', '5m\n', 'P1D', '1'.repeat(200)]) {
    assert.deepEqual(gate(text), ['spec.recheckInterval: spec.recheckInterval must be a valid Go duration'], JSON.stringify(text));
  }
  for (const text of ['5m', '30s', '1h', '1h30m', '1.5h', '100ms', null]) assert.deepEqual(gate(text), [], String(text));
  for (const text of ['0s', '0', '-5m', '87601h', '99999999999999999999h', '1ns'.repeat(30)]) {
    const message = 'spec.recheckInterval: must be a duration that is greater than zero and at most 87600h (10 years)';
    assert.deepEqual(gate(text), [`${message}; got '${text}'`]);
  }
});

test('a gate with a broken expression is admitted: it will show its error', () => {
  assert.deepEqual(refusals(make('PolicyGate', { expression: 'this is (not CEL' })), []);
});

test('what a Pipeline says about its repository is checked', () => {
  const withGit = (fields: Json) => refusals(pipeline({ git: { ...git, ...fields } }));
  const providers = 'host-a (or github), host-b (or gitlab), local';
  assert.deepEqual(refusals(pipeline({ git: { url: git.url } })), [
    `spec.git.provider: spec.git.provider must be given: ${providers} or git`,
  ]);
  assert.deepEqual(withGit({ provider: 'bitbucket' }), [`spec.git.provider: must be one of: ${providers}, git; got 'bitbucket'`]);
  for (const provider of ['host-a', 'github', 'host-b', 'gitlab']) {
    assert.match(String(withGit({ provider })), /^spec.git.secretRef: spec.git.secretRef.name must not be empty/, provider);
    assert.match(String(withGit({ provider, secretRef: { name: '' } })), /secretRef.name must not be empty/);
    assert.deepEqual(withGit({ provider, secretRef: { name: 'token' } }), []);
  }
  for (const provider of ['local', 'git']) assert.deepEqual(withGit({ provider }), []);
  assert.match(String(withGit({ secretRef: { name: 'A b' } })), /^spec.git.secretRef.name: must be the name of a resource.*got 'A b'$/);
  assert.deepEqual(withGit({ layout: 'tree' }), ["spec.git.layout: must be one of: directory, branch; got 'tree'"]);
  assert.deepEqual(withGit({ webhookMode: 'push' }), ["spec.git.webhookMode: must be one of: webhook, polling; got 'push'"]);
  assert.match(String(withGit({ branch: 'a..b' })), /^spec.git.branch: must be a branch name that git accepts.*got 'a..b'$/);
  assert.match(String(withGit({ branch: '' })), /^spec.git.branch: must be a branch name/);
  assert.match(String(withGit({ sourceBranch: '-x' })), /^spec.git.sourceBranch: must be a branch name/);
  assert.match(String(withGit({ branchPrefix: '/env' })), /^spec.git.branchPrefix: must be the beginning of a branch name/);
  assert.deepEqual(withGit({ branchPrefix: '' }), []);
  assert.match(String(withGit({ pollInterval: '1d' })), /^spec.git.pollInterval: must be a Go duration such as 30s.*got '1d'$/);
  assert.match(String(withGit({ apiURL: 'ftp://x' })), /^spec.git.apiURL: must be an http or https URL/);
});

test('only repository URLs with a served scheme and without a password are admitted, and a refusal does not repeat the password', () => {
  const url = (text: string) => refusals(pipeline({ git: { ...git, url: text } }));
  const good = [
    'https://github.com/acme/deploy.git',
    'http://127.0.0.1:8090/acme/deploy.git',
    'https://git.example.com:8443/a/b',
    'ssh://git@github.com/acme/deploy.git',
    'ssh://git@[::1]:2222/a/b',
    'git@github.com:acme/deploy.git',
    'host.example.com:acme/deploy.git',
    'file:///srv/git/deploy.git',
  ];
  for (const text of good) assert.deepEqual(url(text), [], text);
  const bad = [
    'ext::sh -c id',
    'EXT::sh',
    'fd::17',
    'git://h/r',
    'ftp://h/r',
    '/srv/git',
    '../x',
    'github.com/acme/x',
    '-oProxyCommand=x:y',
    'ssh://-oProxyCommand=x/y',
    'ssh://-oProxyCommand=x@h/y',
    'a@-h:x',
    'h:-x',
    'https://h/r r',
    'https://h/r\n',
    'https:///r',
    'file://h/r',
    'x',
  ];
  for (const text of bad) assert.match(String(url(text)), /^spec.git.url: must be a repository URL with https/, text);
  const secretive = [
    'https://user:hunter2@h/r',
    'https://hunter2@h/r',
    'ssh://u:hunter2@h/r',
    'https://h/r?token=hunter2',
    'http://h/r#hunter2',
  ];
  for (const text of [...secretive, 'https://h?hunter2', 'ssh://h/r?hunter2']) {
    const refused = url(text).join();
    assert.match(refused, /without password, token and query/, text);
    assert.doesNotMatch(refused, /hunter2/);
  }
  assert.match(String(refusals(environment({ gitRepo: 'ext::x' }))), /^spec.environments\[0\].gitRepo: must be a repository URL/);
});

test('environments need names that are DNS labels and unique', () => {
  const named = (...names: unknown[]) => refusals(pipeline({ environments: names.map((name) => (name === undefined ? {} : { name })) }));
  assert.deepEqual(named(undefined), ['spec.environments[0].name: an environment must have a non-empty name']);
  assert.deepEqual(named('a', ''), ['spec.environments[1].name: an environment must have a non-empty name']);
  assert.match(String(named('Prod')), /^spec.environments\[0\].name: must be a DNS label.*got 'Prod'$/);
  for (const name of ['a.b', 'a..b', 'a/b', '-a', 'x'.repeat(64), 'a b', '..']) assert.equal(named(name).length, 1, name);
  assert.deepEqual(named('a', 'b', 'a'), ['spec.environments: environment names must be unique within the Pipeline']);
});

test('paths that are absolute, leave the repository or enter .git are refused', () => {
  for (const path of ['/etc', '../x', 'a/../b', 'a/..', '..', '.git', 'a/.GIT/hooks', 'a\nb']) {
    for (const field of ['path', 'sourcePath']) {
      assert.match(
        String(refusals(environment({ [field]: path }))),
        new RegExp(`^spec.environments\\[0\\].${field}: must be a path below the root`),
      );
    }
    assert.match(
      String(refusals(environment({ update: { chart: { file: path } } }))),
      /^spec.environments\[0\].update.chart.file: must be a path/,
    );
  }
  for (const path of ['environments/test', '.', './a', 'a..b/c', '..a', '', 'x.git'])
    assert.deepEqual(refusals(environment({ path })), [], path);
});

test('with layout branch the path is a branch', () => {
  const layout = (path: string) => refusals(pipeline({ git: { ...git, layout: 'branch' }, environments: [{ name: 'test', path }] }));
  assert.deepEqual(layout('env/test'), []);
  assert.deepEqual(layout(''), []);
  assert.match(String(layout('env//test')), /^spec.environments: with layout branch the path of an environment must be a branch name/);
  assert.deepEqual(refusals(environment({ path: 'env//test' })), []);
});

test('rendered manifests need layout branch', () => {
  const rendered = { environments: [{ name: 'test', renderManifests: true }] };
  assert.deepEqual(refusals(pipeline(rendered)), ['spec.environments: renderManifests needs spec.git.layout branch']);
  assert.deepEqual(refusals(pipeline({ ...rendered, git: { ...git, layout: 'branch' } })), []);
  assert.deepEqual(refusals(environment({ renderManifests: false })), []);
});

test('unknown words are refused with the words that are accepted', () => {
  const cases: [Json, string][] = [
    [{ approval: 'manual' }, "approval: must be one of: auto, pr-review; got 'manual'"],
    [{ merge: 'bot' }, "merge: must be one of: human, promoter; got 'bot'"],
    [{ onHealthFailure: 'x' }, "onHealthFailure: must be one of: none, abort, rollback; got 'x'"],
    [{ bake: { policy: 'x' } }, "bake.policy: must be one of: reset-on-alarm, fail-on-alarm; got 'x'"],
    [
      { delivery: { delegate: 'x' } },
      "delivery.delegate: must be one of: none, progressiveRollout, canaryAnalysis, argoRollouts, flagger; got 'x'",
    ],
  ];
  for (const [fields, message] of cases) assert.deepEqual(refusals(environment(fields)), [`spec.environments[0].${message}`]);
  assert.match(
    String(refusals(environment({ health: { type: 'http' } }))),
    /^spec.environments\[0\].health.type: must be one of: resource, gitopsApp.*got 'http'$/,
  );
  assert.deepEqual(refusals(bundle({ type: 'chart' })), ["spec.type: must be one of: image, config, mixed; got 'chart'"]);
});

test('the tools own names are accepted and kept as given', () => {
  const object = pipeline({
    git: { ...git, provider: 'github', secretRef: { name: 'token' } },
    environments: [
      { name: 'a', update: { strategy: 'kustomize' }, health: { type: 'argocd', gitopsApp: { name: 'a' } } },
      {
        name: 'b',
        update: { strategy: 'helm' },
        health: { type: 'flux', gitopsKustomization: { name: 'b' } },
        delivery: { delegate: 'flagger' },
      },
      { name: 'c', health: { type: 'argoRollouts' }, delivery: { delegate: 'argoRollouts' } },
    ],
  });
  const result = create(object);
  assert.ok(result.ok, JSON.stringify(result));
  assert.match(JSON.stringify(result.object), /"provider":"github".*"kustomize".*"argocd".*"helm".*"flux"/);
});

test('a duration that is admitted can be computed with', () => {
  const digits = fc.stringMatching(/^[0-9]{1,20}([.][0-9]{0,3})?$/);
  const part = fc.tuple(digits, fc.constantFrom('ns', 'us', '\u00b5s', '\u03bcs', 'ms', 's', 'm', 'h')).map((both) => both.join(''));
  const written = fc
    .tuple(fc.constantFrom('', '+', '-'), fc.array(part, { minLength: 1, maxLength: 8 }))
    .map(([sign, all]) => sign + all.join(''));
  const largest = 87_600 * 3_600_000;
  fc.assert(
    fc.property(written, (settle) => {
      const ms = parseDuration(settle);
      const admitted = refusals(environment({ health: { settle } })).length === 0;
      assert.equal(admitted, settle.length <= 64 && ms !== undefined && ms > -1e-6 && ms <= largest, settle);
    }),
    { numRuns: 300 },
  );
});

test('health types that name a resource need its name', () => {
  for (const [type, field] of [
    ['gitopsApp', 'gitopsApp'],
    ['argocd', 'gitopsApp'],
    ['gitopsKustomization', 'gitopsKustomization'],
    ['flux', 'gitopsKustomization'],
  ] as const) {
    const message = [`spec.environments[0].health.${field}: health.${field}.name must not be empty when health.type is ${field}`];
    assert.deepEqual(refusals(environment({ health: { type } })), message);
    assert.deepEqual(refusals(environment({ health: { type, [field]: { name: '' } } })), message);
    assert.deepEqual(refusals(environment({ health: { type, [field]: { name: 'x' } } })), []);
  }
  assert.match(
    String(refusals(environment({ health: { timeout: '10' } }))),
    /^spec.environments\[0\].health.timeout: must be a Go duration/,
  );
  assert.match(
    String(refusals(environment({ health: { timeout: '0s' } }))),
    /greater than zero and at most 87600h \(10 years\); got '0s'$/,
  );
  for (const settle of ['0s', '0', '+0h']) assert.deepEqual(refusals(environment({ health: { settle } })), []);
  for (const settle of ['-1s', '-1ns', '87601h']) {
    const message = 'settle: must be a duration that is not negative and at most 87600h (10 years)';
    assert.deepEqual(refusals(environment({ health: { settle } })), [`spec.environments[0].health.${message}; got '${settle}'`]);
  }
});

test('a step entry needs uses, and a webhook an http address', () => {
  assert.match(
    String(refusals(environment({ steps: [{}] }))),
    /^spec.environments\[0\].steps\[0\].uses: a step must have a non-empty uses/,
  );
  assert.match(
    String(refusals(environment({ steps: [{ uses: 'x', webhook: { url: 'ftp://x' } }] }))),
    /webhook.url: must be an http or https URL; got 'ftp:\/\/x'$/,
  );
  // Its promotion says `missing input webhook.url`.
  assert.deepEqual(refusals(environment({ steps: [{ uses: 'scan' }] })), []);
});

test('overtaking is refused as not available', () => {
  assert.deepEqual(refusals(pipeline({ supersession: 'overtake' })), [
    "spec.supersession: 'overtake' is not available in this version; accepted is immediate",
  ]);
  assert.deepEqual(refusals(pipeline({ supersession: 'x' })), ["spec.supersession: must be one of: immediate; got 'x'"]);
});

test('the name of a Pipeline fits a label', () => {
  const withName = (name: string) => refusals(make('Pipeline', { git, environments: [{ name: 'test' }] }, { name, namespace: 'default' }));
  assert.deepEqual(withName('x'.repeat(63)), []);
  assert.match(String(withName('x'.repeat(64))), /^metadata.name: metadata.name of a Pipeline must be at most 63 characters/);
});

test('images need a repository and a tag or digest of the right form', () => {
  const one = (fields: Json) => refusals(bundle({ images: [fields] }));
  assert.deepEqual(one({ repository: 'web' }), ['spec.images[0].tag: an image must have a tag, a digest or both']);
  assert.deepEqual(one({ repository: 'web', tag: '', digest: '' }), ['spec.images[0].tag: an image must have a tag, a digest or both']);
  assert.deepEqual(one({ tag: '1' }), ['spec.images[0].repository: an image must have a non-empty repository']);
  assert.match(
    String(one({ repository: 'web:1', tag: '1' })),
    /^spec.images\[0\].repository: must be an image repository in lower case without tag.*got 'web:1'$/,
  );
  for (const repository of ['UPPER/x', 'ghcr.io/Acme/web', 'Web', 'localhost:5000/Web']) {
    assert.match(
      String(one({ repository, tag: '1' })),
      /^spec.images\[0\].repository: must be an image repository in lower case/,
      repository,
    );
  }
  for (const repository of ['GHCR.io/acme/web', 'LOCALHOST:5000/web', '[::1]:5000/web', 'a_b/c--d', 'x']) {
    assert.deepEqual(one({ repository, tag: '1' }), [], repository);
  }
  assert.match(String(one({ repository: 'web', tag: 'a b' })), /^spec.images\[0\].tag: must be a tag.*got 'a b'$/);
  for (const digest of ['sha512:ab', 'sha256:', 'sha256:xyz', 'ab12']) {
    assert.deepEqual(one({ repository: 'web', digest }), [
      `spec.images[0].digest: must be a digest of the form sha256:<hex>; got '${digest}'`,
    ]);
  }
  for (const digest of ['sha256:a', `sha256:${'0'.repeat(64)}`]) assert.deepEqual(one({ repository: 'r:5000/web', digest }), []);
});

test('a Bundle names each repository once, or its images contradict each other in every environment', () => {
  const images = (...names: readonly string[]) =>
    refusals(bundle({ images: names.map((repository, index) => ({ repository, tag: `1.${index}` })) }));
  assert.deepEqual(images('a', 'b', 'a', 'c', 'c'), [
    "spec.images: each repository may be given once; 'a' is given more than once, so it is not clear which image is meant",
  ]);
  assert.match(String(images(...Array.from({ length: 64 }, (_, index) => `r${Math.min(index, 62)}`))), /'r62' is given more than once/);
  assert.deepEqual(images('a', 'b', 'a/b', 'c:5000/a'), []);
  assert.deepEqual(refusals(bundle({ images: [{ tag: '1' }, { tag: '2' }] })).length, 2);
});

test('provenance that is given can be followed: a commit, a web address, a line of text, a time', () => {
  const provenance = (fields: Json) => refusals(bundle({ provenance: fields }));
  const good: Json[] = [
    {},
    { commitSHA: '', ciRunURL: '', author: '', timestamp: '' },
    { commitSHA: null, ciRunURL: null, author: null, timestamp: null },
    { commitSHA: 'abcdef1', ciRunURL: 'http://ci', author: 'Zo\u00eb <z@example.com>', timestamp: '2026-03-02T09:30:00Z' },
    { commitSHA: 'F'.repeat(64), ciRunURL: 'https://ci.example.com:8443/a/b?x=y@z#top', timestamp: '2024-02-29T23:59:60.123456789+05:30' },
    { timestamp: '2026-12-31T00:00Z' },
  ];
  for (const fields of good) assert.deepEqual(provenance(fields), [], JSON.stringify(fields));
  for (const commitSHA of ['zzz', 'abcdef', '0123456g', '-abcdef1', 'abcdef1\n']) {
    assert.match(String(provenance({ commitSHA })), /^spec.provenance.commitSHA: must be a commit: 7 to 64 hexadecimal digits/, commitSHA);
  }
  for (const ciRunURL of ['javascript:alert(1)', 'ci.example.com/1', 'ftp://h/x', 'https://', 'https://h/a b', 'https://h/\u0007', 'x']) {
    assert.match(
      String(provenance({ ciRunURL })),
      /^spec.provenance.ciRunURL: must be an http or https URL without user or password/,
      ciRunURL,
    );
  }
  assert.match(String(provenance({ ciRunURL: 'javascript:alert(1)' })), /; got one that begins with 'javascript'$/);
  assert.doesNotMatch(String(provenance({ ciRunURL: 'https://u:hunter2@h/x' })), /hunter2/);
  for (const author of ['a\nPromoter-Run: x', 'a\u0000', '\u009b31m', 'a\u2028b', '\u202egnp.exe']) {
    assert.deepEqual(
      provenance({ author }).map((cause) => cause.split(';')[0]),
      ['spec.provenance.author: must be one line of text without control characters'],
      JSON.stringify(author),
    );
  }
  const times = ['yesterday', '2026-03-02', '2026-03-02T09:30:00', '2026-13-02T09:30:00Z', '2026-02-30T09:30:00Z', '2026-04-31T09:30:00Z'];
  for (const timestamp of [
    ...times,
    '2026-03-02T24:30:00Z',
    '2026-03-02T09:60:00Z',
    '1772443800',
    '2026-03-02T09:30:00Z\n',
    '02026-03-02T09:30:00Z',
  ]) {
    assert.match(
      String(provenance({ timestamp })),
      /^spec.provenance.timestamp: must be a time in ISO 8601 such as 2026-03-02T09:30:00Z/,
      timestamp,
    );
  }
  assert.match(String(provenance({ timestamp: 'yesterday' })), /got 'yesterday'$/);
});

test('config and mixed Bundles need what they carry', () => {
  const config = (configRef: unknown, type = 'config') => refusals(make('Bundle', { pipeline: 'web', type, configRef }));
  const message = "spec.configRef: spec.configRef.gitRepo and spec.configRef.commitSHA must not be empty when spec.type is 'config'";
  for (const configRef of [
    undefined,
    null,
    {},
    { gitRepo: 'https://h/r' },
    { commitSHA: 'abcdef' },
    { gitRepo: '', commitSHA: 'abcdef' },
  ]) {
    assert.deepEqual(config(configRef), [message], JSON.stringify(configRef));
  }
  assert.deepEqual(config({ gitRepo: 'https://h/r', commitSHA: 'abcdef1' }), []);
  assert.match(
    String(config({ gitRepo: 'https://h/r', commitSHA: '--help' })),
    /^spec.configRef.commitSHA: must be a commit.*got '--help'$/,
  );
  assert.match(String(config({ gitRepo: 'ext::x', commitSHA: 'abcdef1' })), /^spec.configRef.gitRepo: must be a repository URL/);
  assert.match(String(config(undefined, 'mixed')), /must be given when spec.type is 'mixed'$/);
  assert.deepEqual(config({ gitRepo: 'https://h/r', commitSHA: 'abcdef1' }, 'mixed'), []);
  assert.deepEqual(refusals(bundle({ type: 'mixed' })), []);
});

test('a version that cannot stand in a branch name is refused', () => {
  for (const version of ['a..b', 'a/b', 'a b', 'a~', 'x.lock', '-a', 'a.']) {
    assert.match(String(refusals(bundle({ version }))), /^spec.version: must be a version that can stand in a branch name/, version);
  }
  assert.deepEqual(refusals(bundle({ version: '1.29.0-rc.1' })), []);
});

test('the spec of a Bundle and of an AuditEvent never changes, and metadata may', () => {
  const old = bundle();
  const changed = bundle({ images: [{ ...image, tag: '2' }] });
  assert.deepEqual(refusals(changed, old), ['spec: the spec of a Bundle is immutable: create a new Bundle instead']);
  // A default that an older version did not write is no change.
  assert.deepEqual(refusals(bundle({ type: 'image' }), old), []);
  assert.deepEqual(refusals({ ...bundle(), metadata: { ...old.metadata, labels: { a: 'b' } } }, old), []);
  const event = make('AuditEvent', { action: 'PromotionStarted', message: 'a' });
  assert.deepEqual(refusals(make('AuditEvent', { action: 'PromotionStarted', message: 'b' }), event), ['spec: an AuditEvent is immutable']);
  assert.deepEqual(refusals(pipeline({ historyLimit: 5 }), pipeline()), []);
});

test('Subscriptions, clocks and metric checks are checked', () => {
  assert.deepEqual(refusals(make('Subscription')), [
    'spec.type: spec.type must be given: image or git',
    'spec.pipeline: spec.pipeline must not be empty',
  ]);
  assert.deepEqual(refusals(make('Subscription', { type: 'image', pipeline: 'web' })), [
    "spec.image.registry: spec.image.registry must not be empty when spec.type is 'image'",
  ]);
  assert.deepEqual(refusals(make('Subscription', { type: 'git', pipeline: 'web', git: {} })), [
    "spec.git.repoURL: spec.git.repoURL must not be empty when spec.type is 'git'",
  ]);
  assert.deepEqual(
    refusals(make('Subscription', { type: 'image', pipeline: 'web', image: { registry: 'r', tagFilter: '(', interval: '5' } })),
    [
      "spec.image.tagFilter: must be a regular expression in the syntax of RE2; got '('",
      "spec.image.interval: must be a Go duration such as 30s, 5m, 1h30m or 100ms; got '5'",
    ],
  );
  assert.match(String(refusals(make('ScheduleClock', { interval: '0' }))), /^spec.interval: must be a duration that is greater than zero/);
  assert.deepEqual(refusals(make('ScheduleClock')), []);
  assert.match(
    String(refusals(make('MetricCheck', { query: 'x', prometheusURL: 'http://p', threshold: { operator: '=', value: 'x' } }))),
    /operator: must be one of.*value: must be a number/,
  );
});

test('every field of the smaller kinds that has a rule is refused when it is wrong', () => {
  const subscription = (spec: Json) => make('Subscription', { type: 'image', pipeline: 'web', image: { registry: 'r' }, ...spec });
  const check = (spec: Json) => make('MetricCheck', { query: 'up', prometheusURL: 'http://p', ...spec });
  const cases: [Resource, RegExp][] = [
    [
      pipeline({ git: { ...git, pollInterval: '0s' } }),
      /^spec.git.pollInterval: must be a duration from 1s to 87600h \(10 years\); got '0s'$/,
    ],
    [pipeline({ git: { ...git, pollInterval: '999ms' } }), /^spec.git.pollInterval: must be a duration from 1s to .*got '999ms'$/],
    [pipeline({ git: { ...git, pollInterval: '9999999h' } }), /^spec.git.pollInterval: must be a duration from 1s to .*got '9999999h'$/],
    [environment({ health: { settle: '1' } }), /^spec.environments\[0\].health.settle: must be a Go duration/],
    [subscription({ image: { registry: 'r', interval: '0s' } }), /^spec.image.interval: must be a duration from 1s to/],
    [subscription({ git: { repoURL: 'ext::x' } }), /^spec.git.repoURL: must be a repository URL/],
    [subscription({ git: { branch: 'a b' } }), /^spec.git.branch: must be a branch name/],
    [subscription({ git: { interval: '1d' } }), /^spec.git.interval: must be a Go duration/],
    [subscription({ git: { interval: '-1s' } }), /^spec.git.interval: must be a duration from 1s to/],
    [subscription({ type: 'chart' }), /^spec.type: must be one of: image, git; got 'chart'/],
    [make('ScheduleClock', { interval: '1d' }), /^spec.interval: must be a Go duration/],
    [check({ query: '' }), /^spec.query: spec.query must not be empty/],
    [check({ prometheusURL: '' }), /^spec.prometheusURL: spec.prometheusURL must not be empty/],
    [
      check({ prometheusURL: 'http://p/?token=hunter2' }),
      /^spec.prometheusURL: must be .* password and query; got one that begins with 'http'$/,
    ],
    [check({ prometheusURL: 'file:///etc/passwd' }), /^spec.prometheusURL: must be an http or https URL/],
    [check({ interval: 'x' }), /^spec.interval: must be a Go duration/],
    [check({ interval: '0s' }), /^spec.interval: must be a duration from 1s to/],
    [
      check({ prometheusURL: 'http://u:hunter2@p' }),
      /^spec.prometheusURL: must be an http or https URL without user, password and query; got one that begins with 'http'$/,
    ],
    [check({ noData: 'ignore' }), /^spec.noData: must be one of: fail, pass, keep; got 'ignore'/],
    [check({ provider: 'x' }), /^spec.provider: must be one of: prometheus/],
    [check({ environment: 'A' }), /^spec.environment: must be a DNS label/],
    [make('AuditEvent', { message: 'x' }), /^spec.action: spec.action must not be empty/],
    [make('Graph'), /^spec: spec of a Graph must be given/],
    [make('PromotionStep'), /^spec: spec of a PromotionStep must be given/],
  ];
  for (const [object, expected] of cases) {
    const refused = refusals(object);
    assert.equal(refused.length, 1, JSON.stringify(refused));
    assert.match(String(refused), expected);
  }
});

test('defaults are filled in where their parent is there, and nulls give way to them', () => {
  const result = create(
    pipeline({
      git: { ...git, branch: null, secretRef: null },
      environments: [{ name: 'test', update: {}, health: { resource: {} }, bake: null }],
    }),
  );
  assert.ok(result.ok);
  assert.deepEqual(JSON.parse(JSON.stringify(result.object)).spec, {
    git: { ...git, branch: 'main', layout: 'directory', branchPrefix: 'env/', webhookMode: 'webhook', pollInterval: '30s' },
    environments: [
      {
        name: 'test',
        update: { strategy: 'overlay' },
        health: { resource: { kind: 'Deployment', condition: 'Available' }, timeout: '10m', settle: '10s' },
        wave: 0,
        approval: 'auto',
        merge: 'human',
        renderManifests: false,
        onHealthFailure: 'none',
      },
    ],
    historyLimit: 20,
    supersession: 'immediate',
  });
});

test('unknown fields are pruned and named in warnings, and the argument is left alone', () => {
  const object = make(
    'Pipeline',
    { git: { ...git, ulr: 'x' }, environments: [{ name: 'test', healt: {} }], stages: [] },
    { name: 'web', namespace: 'default', colour: 'red', managedFields: [] },
  );
  const before = structuredClone(object);
  const result = admit({ operation: 'create', object: { ...object, data: 1 } as Resource });
  assert.ok(result.ok);
  assert.deepEqual([...result.warnings].sort(), [
    'unknown field "data"',
    'unknown field "metadata.colour"',
    'unknown field "spec.environments[0].healt"',
    'unknown field "spec.git.ulr"',
    'unknown field "spec.stages"',
  ]);
  assert.doesNotMatch(JSON.stringify(result.object), /ulr|healt"|stages|colour|managedFields|"data"/);
  assert.deepEqual(object, before);
});

test('values of a wrong type or beyond a bound are refused with what was given', () => {
  assert.deepEqual(refusals(bundle({ pipeline: 7 })), ['spec.pipeline: must be a string; got 7']);
  assert.deepEqual(refusals(bundle({ images: {} })), ['spec.images: must be a list; got an object']);
  assert.deepEqual(refusals(bundle({ images: [null] })), ['spec.images[0]: must be an object; got null']);
  assert.deepEqual(refusals(make('Bundle', 'x')), ['spec: must be an object; got "x"']);
  assert.deepEqual(refusals(pipeline({ historyLimit: 0 })), ['spec.historyLimit: must be at least 1; got 0']);
  assert.deepEqual(refusals(pipeline({ historyLimit: 1.5 })), ['spec.historyLimit: must be a whole number; got 1.5']);
  assert.deepEqual(refusals(bundle({ version: 'x'.repeat(129) })), ['spec.version: must be at most 128 characters; got 129']);
  assert.deepEqual(refusals(bundle({ images: Array(65).fill(image) })), ['spec.images: must have at most 64 entries; got 65']);
  assert.deepEqual(refusals(make('PromotionStep', { pipeline: 'web' })), ['spec.bundle: must be given', 'spec.environment: must be given']);
});

test('cycles and unknown dependencies are admitted with a warning', () => {
  const environments = [
    { name: 'a', dependsOn: ['b'] },
    { name: 'b', dependsOn: ['a', 'x'] },
    { name: 'c', dependsOn: ['c'] },
  ];
  const result = create(pipeline({ environments }));
  assert.ok(result.ok);
  assert.match(
    result.warnings.join('\n'),
    /spec.environments\[1\].dependsOn: environment "b" depends on "x", which is not in this Pipeline/,
  );
  assert.match(result.warnings.join('\n'), /run in a circle \(a -> b -> a\)/);
});

test('circles are found whatever they come from: names, waves or the order of the list', () => {
  const circle = (...environments: readonly Json[]) => {
    const result = create(pipeline({ environments }));
    return result.ok ? result.warnings.map((warning) => /circle \((.*)\)/.exec(warning)?.[1]) : [];
  };
  assert.deepEqual(circle({ name: 'a', wave: 2 }, { name: 'b', wave: 1, dependsOn: ['a'] }), ['a -> b -> a']);
  assert.deepEqual(circle({ name: 'a', dependsOn: ['b'] }, { name: 'b' }), ['a -> b -> a']);
  assert.deepEqual(circle({ name: 'a' }, { name: 'b', wave: 1 }, { name: 'c', wave: 2, dependsOn: ['a'] }, { name: 'd' }), []);
});

test('a write is answered with a bounded number of words, however much is wrong', () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ name: `e${index}`, dependsOn: ['x', 'x', 'y'], approval: 'x' }));
  const refused = create(pipeline({ environments: many }));
  assert.ok(!refused.ok && refused.causes.length === 100 && refused.message.endsWith(', and 80 more]'), JSON.stringify(refused));
  const admitted = create(pipeline({ environments: many.map(({ approval, ...rest }) => rest) }));
  assert.ok(admitted.ok && admitted.warnings.length === 20);
});

test('a Bundle whose label does not name its Pipeline is admitted with a warning', () => {
  const labelled = (labels?: Json) =>
    create({ ...bundle(), metadata: { name: 'a', namespace: 'default', ...(labels ? { labels } : {}) } as Resource['metadata'] });
  const warnings = (labels?: Json) => {
    const result = labelled(labels);
    return result.ok ? result.warnings.join() : 'refused';
  };
  assert.equal(warnings({ 'promoter.io/pipeline': 'web' }), '');
  assert.match(warnings(), /the label promoter.io\/pipeline is missing/);
  assert.match(warnings({ 'promoter.io/pipeline': 'api' }), /is "api" but spec.pipeline is "web"/);
});

test('a Bundle that carries configuration is admitted with a warning that it will not be promoted', () => {
  const configRef = { gitRepo: 'https://h/r', commitSHA: 'abcdef1' };
  const labels = { 'promoter.io/pipeline': 'web' };
  for (const type of ['config', 'mixed']) {
    const result = create({ ...bundle({ type, configRef }), metadata: { name: 'a', namespace: 'default', labels } });
    assert.ok(result.ok);
    assert.deepEqual(result.warnings, [`spec.type: this version merges no configuration: a Bundle of type ${type} is not promoted`]);
  }
});

test('a write of status is not judged by the rules of the spec, but by the schema of the status', () => {
  const old = { ...pipeline({ supersession: 'overtake' }) };
  const write = (status: Json) => admit({ operation: 'update', object: { ...old, status } as Resource, old, subresource: 'status' });
  assert.ok(write({ lastSequence: 3 }).ok);
  const refused = write({ lastSequence: 'x' });
  assert.deepEqual(!refused.ok && refused.causes, [{ field: 'status.lastSequence', message: 'must be a whole number; got "x"' }]);
});

test('a status says only what the service can have said', () => {
  const write = (object: Resource, status: unknown, before?: unknown) => {
    const old = { ...object, ...(before === undefined ? {} : { status: before }) } as Resource;
    const result = admit({ operation: 'update', object: { ...object, status } as Resource, old, subresource: 'status' });
    return result.ok ? [] : result.causes.map((cause) => `${cause.field}: ${cause.message}`);
  };
  const step = make('PromotionStep', { pipeline: 'web', bundle: 'a', environment: 'prod' });
  for (const sequence of [0, -5, 1e22, 2 ** 53, 1.5]) {
    assert.match(
      String(write(bundle(), { sequence })),
      /^status.sequence: must be (at least 1|at most 9007199254740991|a whole number); got /,
    );
    assert.match(String(write(pipeline(), { lastSequence: sequence || -1 })), /^status.lastSequence: must be /);
  }
  assert.deepEqual(write(bundle(), { sequence: 7 }, {}), []);
  assert.deepEqual(write(bundle(), { sequence: 7, phase: 'Promoting' }, { sequence: 7 }), []);
  assert.deepEqual(write(bundle(), { sequence: 8 }, { sequence: 7 }), [
    'status.sequence: the place of a Bundle in the order does not change once it has one',
  ]);
  // A status that is lost altogether is made anew.
  for (const status of [{}, null, undefined]) assert.deepEqual(write(bundle(), status, { sequence: 7 }), []);
  assert.deepEqual(write(bundle(), { phase: 'Nonsense' }), [
    "status.phase: must be one of: Available, Promoting, Verified, Failed, Superseded, SkipDenied; got 'Nonsense'",
  ]);
  assert.match(String(write(step, { state: 'Nonsense' })), /^status.state: must be one of: Pending, Promoting, .*; got 'Nonsense'$/);
  assert.match(String(write(step, { attempt: 0 })), /^status.attempt: must be at least 1; got 0$/);
  assert.deepEqual(write(step, { state: 'RollingBack', attempt: 1 }), []);
});

test('what is no resource of a known kind is refused', () => {
  const kind = (object: unknown) => {
    const result = create(object as Resource);
    return result.ok ? '' : result.message;
  };
  assert.match(kind(null), /must be an object; got null/);
  assert.match(kind([]), /must be an object; got a list of 0/);
  assert.match(kind({ apiVersion: 'v1', kind: 'Pod' }), /kind: must be one of Bundle, Pipeline.*got "Pod"/);
  assert.match(kind({ apiVersion: 'v1', kind: 'constructor' }), /got "constructor"/);
  assert.match(kind({ apiVersion: 'promoter.io/v1', kind: 'Bundle' }), /apiVersion: must be promoter.io\/v1alpha1; got "promoter.io\/v1"/);
  assert.match(kind({ apiVersion: API_VERSION, kind: 'Bundle', metadata: [] }), /metadata: must be an object/);
});

test('hostile keys do not reach prototypes', () => {
  const object = JSON.parse(
    `{"apiVersion":"${API_VERSION}","kind":"Pipeline","metadata":{"name":"web","namespace":"default"},"spec":{"__proto__":{"x":1},"git":{"url":"https://h/r","provider":"local"},"environments":[{"name":"test","steps":[{"uses":"x","config":{"__proto__":"y","constructor":"z","n":null}}]}]}}`,
  );
  const result = create(object);
  assert.ok(result.ok, JSON.stringify(result));
  assert.deepEqual(result.warnings, ['unknown field "spec.__proto__"']);
  assert.equal(({} as Json)['x'], undefined);
  assert.equal(
    JSON.stringify(JSON.parse(JSON.stringify(result.object)).spec.environments[0].steps[0].config),
    '{"__proto__":"y","constructor":"z"}',
  );
});

test('admitting a Bundle costs little beside reading and writing it as JSON', () => {
  const object = EXAMPLES.Bundle;
  const text = JSON.stringify(object);
  const seconds = (work: () => unknown): number => {
    for (let i = 0; i < 300; i += 1) work();
    // The least of several rounds: other processes make rounds longer, never shorter.
    return Math.min(
      ...Array.from({ length: 8 }, () => {
        const started = process.cpuUsage();
        for (let i = 0; i < 200; i += 1) work();
        const { user, system } = process.cpuUsage(started);
        return user + system;
      }),
    );
  };
  const ratio = seconds(() => create(object)) / seconds(() => JSON.stringify(JSON.parse(text)));
  // 16 once everything is compiled; rules compiled at each admission would be thousands.
  assert.ok(ratio < 200, `${ratio} times as long`);
});
