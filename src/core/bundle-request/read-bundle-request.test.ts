import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Pipeline } from '../../api/kinds/pipeline.ts';
import { intentProblems } from './intent-problems.ts';
import { type BundleRequest, readBundleRequest } from './read-bundle-request.ts';

const IMAGE = { repository: 'ghcr.io/acme/web', tag: '1.2.3' };

const accepted = (body: unknown): BundleRequest => {
  const read = readBundleRequest(body);
  assert.ok(read.ok, JSON.stringify(read));
  return read.request;
};

const pointers = (body: unknown): readonly string[] => {
  const read = readBundleRequest(body);
  assert.ok(!read.ok, 'it was accepted');
  for (const { detail } of read.problems) assert.notEqual(detail, '');
  return read.problems.map(({ pointer }) => pointer);
};

describe('a request for a Bundle', () => {
  it('becomes a Bundle with label, deterministic name and what was sent', () => {
    const provenance = { commitSHA: 'abc1234', ciRunURL: 'https://ci.example.com/1', author: 'ada', timestamp: '2026-01-02T03:04:05Z' };
    const request = accepted({ pipeline: 'web', images: [IMAGE], provenance, labels: { hotfix: 'true' } });
    assert.equal(request.version, '1.2.3');
    assert.equal(request.bundle.metadata.name, 'web-1.2.3');
    assert.deepEqual(request.bundle.metadata.labels, { hotfix: 'true', 'promoter.io/pipeline': 'web' });
    assert.deepEqual(request.spec, { type: 'image', pipeline: 'web', images: [IMAGE], provenance });
    assert.equal(request.namespace, undefined);
    assert.deepEqual(request.warnings, []);
  });

  it('may give images as references', () => {
    const digest = `sha256:${'ab'.repeat(32)}`;
    const request = accepted({
      pipeline: 'web',
      artifacts: { images: [{ name: 'web', reference: 'registry:5000/acme/web:1.2.3', digest }, { reference: `acme/job@${digest}` }] },
    });
    assert.deepEqual(request.spec.images, [
      { repository: 'registry:5000/acme/web', tag: '1.2.3', digest },
      { repository: 'acme/job', digest },
    ]);
  });

  it('may give the same image in both shapes, which is one image', () => {
    const request = accepted({ pipeline: 'web', images: [IMAGE], artifacts: { images: [{ reference: 'ghcr.io/acme/web:1.2.3' }] } });
    assert.deepEqual(request.spec.images, [IMAGE]);
  });

  it('may be of type config', () => {
    const configRef = { gitRepo: 'https://git.example.com/acme/config.git', commitSHA: '0123456789abcdef0123456789abcdef01234567' };
    const request = accepted({ pipeline: 'web', type: 'config', configRef });
    assert.equal(request.version, '01234567');
    assert.deepEqual(request.spec.configRef, configRef);
  });

  it('may say skip for skipEnvironments', () => {
    const request = accepted({ pipeline: 'web', images: [IMAGE], intent: { skip: ['qa', 'dev'], skipEnvironments: ['dev'] } });
    assert.deepEqual(request.spec.intent, { skipEnvironments: ['dev', 'qa'] });
    assert.deepEqual(pointers({ pipeline: 'web', images: [IMAGE], intent: { skipEnvironments: ['dev'], skip: ['dev', 'qa', 7] } }), [
      '/intent/skip/2',
    ]);
    assert.deepEqual(pointers({ pipeline: 'web', images: [IMAGE], intent: { skipEnvironments: ['a', 'a', {}] } }), [
      '/intent/skipEnvironments/2',
    ]);
  });

  it('has unknown fields named in warnings, wherever they are but in intent', () => {
    const request = accepted({
      pipeline: 'web',
      images: [{ ...IMAGE, arch: 'arm64' }],
      artifacts: { images: [{ reference: 'a/b:1', size: 5 }], charts: [] },
      comment: 'hello',
    });
    assert.deepEqual(
      [...request.warnings].sort(),
      [
        'unknown field "artifacts.charts"',
        'unknown field "artifacts.images[0].size"',
        'unknown field "comment"',
        'unknown field "images[0].arch"',
      ].sort(),
    );
    assert.deepEqual(pointers({ pipeline: 'web', images: [IMAGE], intent: { skipp: ['dev'] } }), ['/intent/skipp']);
  });

  it('is answered with a bounded number of warnings, however many fields are not known', () => {
    const unknown = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 1]));
    const { warnings } = accepted({ pipeline: 'web', images: [IMAGE], ...unknown });
    assert.equal(warnings.length, 21);
    assert.equal(warnings[20], 'and 980 more');
    assert.equal(warnings[0], 'unknown field "x0"');
  });

  const refused: readonly [what: string, body: unknown, pointers: readonly string[]][] = [
    ['a list', [], ['']],
    ['nothing', null, ['']],
    ['no pipeline', { images: [IMAGE] }, ['/pipeline']],
    ['a pipeline that cannot exist', { pipeline: 'No Such', images: [IMAGE] }, ['/pipeline']],
    ['a long pipeline', { pipeline: 'a'.repeat(64), images: [IMAGE] }, ['/pipeline']],
    ['a number for a name', { pipeline: 5, images: [IMAGE] }, ['/pipeline']],
    ['no images', { pipeline: 'web' }, ['/images']],
    ['images that are no list', { pipeline: 'web', images: { 0: IMAGE } }, ['/images']],
    ['an image without tag and digest', { pipeline: 'web', images: [IMAGE, { repository: 'a/b' }] }, ['/images/1/tag']],
    ['a bad digest', { pipeline: 'web', images: [{ ...IMAGE, digest: 'md5:1' }] }, ['/images/0/digest']],
    ['a bad reference', { pipeline: 'web', artifacts: { images: [{ reference: 'a b' }] } }, ['/artifacts/images/0/reference']],
    ['a reference without a tag', { pipeline: 'web', artifacts: { images: [{ reference: 'a/b' }] } }, ['/artifacts/images/0/reference']],
    [
      'two digests',
      { pipeline: 'web', artifacts: { images: [{ reference: 'a/b@sha256:aa', digest: 'sha256:bb' }] } },
      ['/artifacts/images/0/digest'],
    ],
    [
      'a repository twice',
      { pipeline: 'web', images: [IMAGE], artifacts: { images: [{ reference: `${IMAGE.repository}:2` }] } },
      ['/images'],
    ],
    [
      'a repository twice in references',
      { pipeline: 'web', artifacts: { images: [{ reference: 'a:1' }, { reference: 'a:2' }] } },
      ['/artifacts/images'],
    ],
    ['a commit that is none', { pipeline: 'web', images: [IMAGE], provenance: { commitSHA: 'zzz' } }, ['/provenance/commitSHA']],
    ['an unknown type', { pipeline: 'web', type: 'chart', images: [IMAGE] }, ['/type']],
    ['config without configRef', { pipeline: 'web', type: 'config' }, ['/configRef']],
    ['a version that no branch can hold', { pipeline: 'web', version: 'a..b', images: [IMAGE] }, ['/version']],
    ['labels of the service', { pipeline: 'web', images: [IMAGE], labels: { 'promoter.io/bundle': 'x' } }, ['/labels/promoter.io~1bundle']],
    ['a label value that is none', { pipeline: 'web', images: [IMAGE], labels: { a: 'b c' } }, ['/labels/a']],
    ['a namespace that is none', { pipeline: 'web', images: [IMAGE], namespace: 'A B' }, ['/namespace']],
  ];
  for (const [what, body, where] of refused) {
    it(`is refused with ${what}, at ${where.join(' and ') || 'the whole'}`, () => {
      assert.deepEqual([...new Set(pointers(body))], where);
    });
  }

  it('never makes anything throw, and what is accepted has a name, a version and a label', () => {
    const word = fc.constantFrom(
      'pipeline',
      'type',
      'images',
      'artifacts',
      'intent',
      'labels',
      'version',
      'configRef',
      'namespace',
      'skip',
      'tag',
    );
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string(),
        fc.constantFrom('web', 'image', 'config', '1.0', 'a/b:1'),
        fc.integer(),
        fc.constant(null),
        tie('list'),
        tie('map'),
      ),
      list: fc.array(tie('value'), { maxLength: 3 }),
      map: fc.dictionary(fc.oneof(word, fc.string()), tie('value'), { maxKeys: 5 }),
    }));
    fc.assert(
      fc.property(json.map, fc.boolean(), (body, usable) => {
        const read = readBundleRequest(usable ? { ...(body as object), pipeline: 'web', images: [IMAGE] } : body);
        if (!read.ok) return assert.ok(read.problems.length > 0);
        assert.notEqual(read.request.version, '');
        assert.match(read.request.bundle.metadata.name, /^[a-z0-9]/);
        assert.equal(read.request.bundle.metadata.labels?.['promoter.io/pipeline'], read.request.pipeline);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the intent of a request', () => {
  const pipeline = (...names: readonly string[]): Pipeline => ({
    apiVersion: 'promoter.io/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'web', namespace: 'default' },
    spec: { environments: names.map((name) => ({ name })) },
  });
  const problems = (intent: object, ...names: readonly string[]) =>
    intentProblems(accepted({ pipeline: 'web', images: [IMAGE], intent }), pipeline(...names)).map(({ pointer }) => pointer);

  it('may name any environment, and prod even when there is none', () => {
    assert.deepEqual(problems({ targetEnvironment: 'qa', skipEnvironments: ['dev'] }, 'dev', 'qa'), []);
    assert.deepEqual(problems({ targetEnvironment: 'prod' }, 'dev', 'qa'), []);
  });

  it('may not name environments that do not exist', () => {
    assert.deepEqual(problems({ targetEnvironment: 'uat', skipEnvironments: ['dev', 'x'] }, 'dev', 'qa'), [
      '/intent/targetEnvironment',
      '/intent/skipEnvironments/1',
    ]);
  });

  it('may not skip the target, given or prod', () => {
    assert.deepEqual(problems({ targetEnvironment: 'qa', skip: ['qa'] }, 'dev', 'qa'), ['/intent/skip/0']);
    assert.deepEqual(problems({ skip: ['prod'] }, 'dev', 'prod'), ['/intent/skip/0']);
    assert.deepEqual(problems({ skipEnvironments: ['dev', 'dev', 'prod'] }, 'dev', 'prod'), ['/intent/skipEnvironments/2']);
    assert.deepEqual(problems({ skipEnvironments: ['dev'], skip: ['dev', 'prod', 'x'] }, 'dev', 'prod'), [
      '/intent/skip/1',
      '/intent/skip/2',
    ]);
  });
});
