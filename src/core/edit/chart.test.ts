import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ImageChange } from '../effect.ts';
import { compileEdit } from './compile-edit.ts';

const D1 = 'sha256:1111111111111111111111111111111111111111111111111111111111111111';
const D2 = 'sha256:2222222222222222222222222222222222222222222222222222222222222222';
const FILE = 'env/dev/values.yaml';
const web = (tag?: string, digest?: string): ImageChange => ({
  repository: 'acme/web',
  ...(tag ? { tag } : {}),
  ...(digest ? { digest } : {}),
});
const api: ImageChange = { repository: 'acme/api', tag: 'v7' };

const run = (text: string, valuePath: string, ...images: readonly ImageChange[]) =>
  compileEdit({ edit: 'chart', file: FILE, valuePath, images }).apply(new Map([[FILE, text]]));

const edited = (text: string, valuePath: string, ...images: readonly ImageChange[]): string => {
  const result = run(text, valuePath, ...images);
  assert.ok(result.ok, result.ok ? '' : result.refusal.message);
  const after = result.writes.get(FILE) ?? text;
  const again = run(after, valuePath, ...images);
  assert.ok(again.ok && again.writes.size === 0, 'a second application must change nothing');
  return after;
};

const refusal = (text: string, valuePath: string, ...images: readonly ImageChange[]) => {
  const result = run(text, valuePath, ...images);
  assert.ok(!result.ok, `should be refused, but gave ${result.ok && result.writes.get(FILE)}`);
  return result.refusal;
};

describe('the value at a path', () => {
  it('gets the tag, and nothing else changes', () => {
    const text = '# values\nimage:\n  repository: acme/web # r\n  tag: "v1"   # t\n\nreplicas: 2\n# end';
    assert.equal(edited(text, 'image.tag', web('v2')), text.replace('"v1"', '"v2"'));
  });
  it('may lie at the top, in lists, and below keys that hold dots', () => {
    assert.equal(edited('tag: v1\n', 'tag', web('v2')), 'tag: v2\n');
    assert.equal(edited('apps:\n- tag: a\n- tag: b\n', 'apps[1].tag', web('v2')), 'apps:\n- tag: a\n- tag: v2\n');
    assert.equal(edited('tags: [a, b]\n', 'tags[0]', web('v2')), 'tags: [v2, b]\n');
    assert.equal(edited('tags:\n-\n- b\n', 'tags[0]', web('v2')), 'tags:\n- v2\n- b\n');
    for (const path of ['"a.b".tag', "'a.b'.tag", 'a\\.b.tag'])
      assert.equal(edited('a.b: {tag: v1}\n', path, web('v2')), 'a.b: {tag: v2}\n');
    assert.equal(edited('a b-c: {"x]": v1}\n', 'a b-c."x]"', web('v2')), 'a b-c: {"x]": v2}\n');
    assert.equal(edited('"0": v1\n', '0', web('v2')), '"0": v2\n');
  });
  it('may be empty', () => {
    assert.equal(edited('image:\n  tag:\n  x: y\n', 'image.tag', web('v2')), 'image:\n  tag: v2\n  x: y\n');
    assert.equal(edited('image:\n  tag: "" # c\n', 'image.tag', web('v2')), 'image:\n  tag: "v2" # c\n');
    assert.equal(edited('image:\n  tag: &t\n  x: y\n', 'image.tag', web('v2')), 'image:\n  tag: &t v2\n  x: y\n');
  });
  it('is written as a whole where it is a complete reference', () => {
    assert.equal(edited('image: acme/web:v1\n', 'image', web('v2')), 'image: acme/web:v2\n');
    assert.equal(edited('image: "acme/web:v1"\n', 'image', web('v2', D1)), `image: "acme/web:v2@${D1}"\n`);
    assert.equal(edited(`image: acme/web@${D1}\n`, 'image', web(undefined, D2)), `image: acme/web@${D2}\n`);
    assert.equal(edited(`tag: v1@${D1}\n`, 'tag', web('v2', D2)), `tag: v2@${D2}\n`);
    assert.equal(edited(`tag: v1@${D1}\n`, 'tag', web('v2')), 'tag: v2\n');
  });
  it('of another repository is not overwritten', () => {
    const { code, line } = refusal('# c\nimage: acme/other:v1\n', 'image', web('v2'));
    assert.deepEqual([code, line], ['ChartImageMismatch', 2]);
  });
  it('that is a map or a list is refused', () => {
    assert.equal(refusal('image: {tag: {a: b}}\n', 'image.tag', web('v2')).code, 'ValueNotScalar');
    assert.equal(refusal('image: {tag: [a]}\n', 'image.tag', web('v2')).code, 'ValueNotScalar');
  });
});

describe('a digest', () => {
  it('goes to the key beside the tag', () => {
    assert.equal(edited('image:\n  tag: v1\n  digest: ""\n', 'image.tag', web('v2', D1)), `image:\n  tag: v2\n  digest: "${D1}"\n`);
    assert.equal(edited(`image:\n  tag: v1\n  digest: ${D1}\n`, 'image.tag', web(undefined, D2)), `image:\n  tag: v1\n  digest: ${D2}\n`);
    assert.equal(edited(`image:\n  digest: ${D1}\n`, 'image.digest', web('v2', D2)), `image:\n  digest: ${D2}\n`);
  });
  it('is left out when there is a tag and no key for it', () => {
    assert.equal(edited('image:\n  tag: v1\n', 'image.tag', web('v2', D1)), 'image:\n  tag: v2\n');
  });
  it('that would win over the tag is emptied', () => {
    assert.equal(edited(`image:\n  tag: v1\n  digest: ${D1}\n`, 'image.tag', web('v2')), 'image:\n  tag: v2\n  digest: ""\n');
  });
  it('alone is refused where there is no place for it', () => {
    assert.deepEqual(
      [refusal('image:\n  tag: v1\n', 'image.tag', web(undefined, D1))].map(({ code, line }) => [code, line]),
      [['ChartDigestUnsupported', 2]],
    );
    assert.equal(refusal('tags: [v1]\n', 'tags[0]', web(undefined, D1)).code, 'ChartDigestUnsupported');
    assert.equal(refusal('image:\n  digest: x\n', 'image.digest', web('v2')).code, 'ChartTagUnsupported');
  });
});

describe('several images', () => {
  it('go to the maps that name their repositories', () => {
    const text =
      'image:\n  repository: acme/web\n  tag: v1\nsidecar:\n- image: {registry: docker.io, repository: acme/api, tag: v1}\n- image: {repository: acme/api, tag: v1, digest: ""}\n';
    assert.equal(
      edited(text, 'image.tag', web('v2'), api),
      'image:\n  repository: acme/web\n  tag: v2\nsidecar:\n- image: {registry: docker.io, repository: acme/api, tag: v7}\n- image: {repository: acme/api, tag: v7, digest: ""}\n',
    );
    assert.equal(
      edited(
        'a: {registry: ghcr.io, repository: acme/x, tag: v1}\nb: {repository: acme/api, tag: v1}\n',
        'image.tag',
        { repository: 'ghcr.io/acme/x', tag: 'v3' },
        api,
      ),
      'a: {registry: ghcr.io, repository: acme/x, tag: v3}\nb: {repository: acme/api, tag: v7}\n',
    );
  });
  it('that cannot be placed are refused by name', () => {
    const { code, message } = refusal('image:\n  repository: acme/web\n  tag: v1\n', 'image.tag', web('v2'), api);
    assert.equal(code, 'ChartImageNotFound');
    assert.match(message, /acme\/api/);
    assert.equal(refusal('a: {repository: acme/web}\nb: {repository: acme/api, tag: x}\n', 'image.tag', web('v2'), api).line, 1);
  });
});

describe('a path that is not there', () => {
  it('is refused with the file, the deepest part that is there and its line', () => {
    assert.deepEqual(refusal('a: b\nimage:\n  repository: x\n', 'image.tag', web('v2')), {
      code: 'ValuePathMissing',
      message: 'the values path image.tag is not there: image is a map and has no tag (env/dev/values.yaml, line 2)',
      file: FILE,
      line: 2,
    });
    assert.match(refusal('a: b\n', 'image.tag', web('v2')).message, /the top of the file is a map and has no image/);
    assert.match(refusal('apps:\n- a\n', 'apps[1].tag', web('v2')).message, /apps is a list of 1 and has no \[1\]/);
    assert.match(refusal('image: x\n', 'image.tag', web('v2')).message, /image is a single value and has no tag/);
    assert.match(refusal('image:\n', 'image.tag', web('v2')).message, /image is empty and has no tag/);
    assert.equal(refusal('# only\n', 'image.tag', web('v2')).code, 'ValuePathMissing');
    assert.equal(refusal('apps:\n- a\n', 'apps.0', web('v2')).code, 'ValuePathMissing');
  });
  it('or that is no path is refused', () => {
    for (const path of ['', '.', 'a.', '.a', 'a..b', 'a[', 'a[x]', '"a', 'a.[0]x', 'a\\'])
      assert.equal(refusal('a: b\n', path, web('v2')).code, 'ValuePathInvalid', path);
  });
  it('or a file that is not there', () => {
    const result = compileEdit({ edit: 'chart', file: FILE, valuePath: 'a', images: [web('v2')] }).apply(new Map());
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'ValuesFileMissing');
    assert.match(result.refusal.message, /env\/dev\/values\.yaml/);
  });
});

describe('anchors, aliases and merges', () => {
  it('an alias gives way to the value', () => {
    assert.equal(edited('x: &t v1\nimage: {tag: *t }\n', 'image.tag', web('v2')), 'x: &t v1\nimage: {tag: v2 }\n');
  });
  it('what aliases repeat is not changed', () => {
    assert.deepEqual(
      [refusal('image:\n  tag: &t v1\nother: *t\n', 'image.tag', web('v2'))].map(({ code, line }) => [code, line]),
      [['YAMLAliased', 2]],
    );
    assert.equal(refusal('d: &d {tag: v1}\nimage: *d\n', 'image.tag', web('v2')).code, 'YAMLAliased');
    assert.equal(refusal('d: &d {tag: v1}\nimage: *d\n', 'd.tag', web('v2')).code, 'YAMLAliased');
    assert.equal(refusal('d: &d {tag: v1}\nimage:\n  <<: *d\n', 'image.tag', web('v2')).line, 2);
  });
  it('a key written out beside a merge is set', () => {
    assert.equal(
      edited('d: &d {tag: v1}\nimage:\n  <<: *d\n  tag: v1\n', 'image.tag', web('v2')),
      'd: &d {tag: v1}\nimage:\n  <<: *d\n  tag: v2\n',
    );
  });
});

describe('a sequence', () => {
  it('edits each file on the result of the one before', () => {
    const edit = compileEdit({
      edit: 'sequence',
      edits: [
        { edit: 'chart', file: FILE, valuePath: 'a', images: [web('v2')] },
        { edit: 'chart', file: FILE, valuePath: 'b', images: [web('v3')] },
        { edit: 'overlay', path: '', images: [web('v4')] },
      ],
    });
    assert.deepEqual(edit.reads, [FILE, 'kustomization.yaml', 'kustomization.yml', 'Kustomization']);
    const files = new Map([
      [FILE, 'a: v1\nb: v1\n'],
      ['Kustomization', 'images:\n- name: acme/web\n  newTag: v4\n'],
    ]);
    const result = edit.apply(files);
    assert.ok(result.ok);
    assert.deepEqual([...result.writes], [[FILE, 'a: v2\nb: v3\n']]);
    const refused = edit.apply(
      new Map([
        [FILE, 'a: v1\n'],
        ['Kustomization', ''],
      ]),
    );
    assert.ok(!refused.ok, 'one refusal refuses the whole');
  });
});
