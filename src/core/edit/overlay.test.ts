import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ImageChange } from '../effect.ts';
import { compileEdit } from './compile-edit.ts';

const D1 = 'sha256:1111111111111111111111111111111111111111111111111111111111111111';
const D2 = 'sha256:2222222222222222222222222222222222222222222222222222222222222222';
const FILE = 'env/dev/kustomization.yaml';
const web = (tag?: string, digest?: string): ImageChange => ({ repository: 'web', ...(tag ? { tag } : {}), ...(digest ? { digest } : {}) });

const run = (text: string, ...images: readonly ImageChange[]) =>
  compileEdit({ edit: 'overlay', path: 'env/dev', images }).apply(new Map([[FILE, text]]));

/** The content after the edit, which must be stable under a second application. */
const edited = (text: string, ...images: readonly ImageChange[]): string => {
  const result = run(text, ...images);
  assert.ok(result.ok, result.ok ? '' : result.refusal.message);
  const after = result.writes.get(FILE) ?? text;
  const again = run(after, ...images);
  assert.ok(again.ok && again.writes.size === 0, 'a second application must change nothing');
  return after;
};

const refusal = (text: string, ...images: readonly ImageChange[]) => {
  const result = run(text, ...images);
  assert.ok(!result.ok, `should be refused, but gave ${result.ok && result.writes.get(FILE)}`);
  return result.refusal;
};

describe('finding the kustomization', () => {
  const edit = compileEdit({ edit: 'overlay', path: 'env/dev/', images: [web('v2')] });
  it('looks for the three names in the folder', () => {
    assert.deepEqual(edit.reads, ['env/dev/kustomization.yaml', 'env/dev/kustomization.yml', 'env/dev/Kustomization']);
    assert.deepEqual(compileEdit({ edit: 'overlay', path: '', images: [] }).reads, [
      'kustomization.yaml',
      'kustomization.yml',
      'Kustomization',
    ]);
  });
  it('edits whichever is there', () => {
    for (const name of edit.reads) {
      const result = edit.apply(new Map([[name, 'images:\n- name: web\n  newTag: v1\n']]));
      assert.ok(result.ok);
      assert.deepEqual([...result.writes], [[name, 'images:\n- name: web\n  newTag: v2\n']]);
    }
  });
  it('refuses a folder with none, naming the folder and the names', () => {
    const result = edit.apply(new Map());
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'KustomizationMissing');
    assert.match(result.refusal.message, /kustomization\.yaml, kustomization\.yml, Kustomization.*env\/dev/);
  });
  it('refuses a folder with two, as the overlay tool does', () => {
    const result = edit.apply(
      new Map([
        ['env/dev/kustomization.yaml', ''],
        ['env/dev/Kustomization', ''],
      ]),
    );
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'KustomizationAmbiguous');
  });
});

describe('setting an entry', () => {
  it('changes the tag only, and keeps comments, order, quoting and spacing', () => {
    const text = `# top
resources: [ ../base ]   # why

images:
  # the web
  -   newTag:   'v1'   # now
      name: "web"
      newName: ghcr.io/acme/web
  - name: other
    newTag: v1

patches:
- path: x.yaml
# end`;
    assert.equal(edited(text, web('v2')), text.replace("'v1'", "'v2'"));
  });
  it('keeps CRLF and a byte order mark', () => {
    const text = '\ufeffimages:\r\n- name: web\r\n  newTag: v1\r\n';
    assert.equal(edited(text, web('v2')), text.replace('v1', 'v2'));
    assert.equal(edited(text, web('v2', D1)), `\ufeffimages:\r\n- name: web\r\n  newTag: v2\r\n  digest: ${D1}\r\n`);
    assert.equal(
      edited('\ufeffimages:\r\n- name: web\r\n  newTag: v1', web('v2', D1)),
      `\ufeffimages:\r\n- name: web\r\n  newTag: v2\r\n  digest: ${D1}`,
    );
  });
  it('writes nothing when the file already says it', () => {
    const result = run('images:\n- name: web\n  newTag: v2\n', web('v2'));
    assert.ok(result.ok);
    assert.equal(result.writes.size, 0);
  });
  it('quotes tags that would not be read as text', () => {
    for (const tag of ['1.10', '5', 'true', 'no', 'null', '0x10', '0o17', '1e3', '12e03', '2024-01-01', '1_000', 'y', 'Off', 'NULL']) {
      assert.equal(edited('images:\n- name: web\n  newTag: v1\n', web(tag)), `images:\n- name: web\n  newTag: "${tag}"\n`);
      assert.equal(edited("images:\n- name: web\n  newTag: 'v1'\n", web(tag)), `images:\n- name: web\n  newTag: '${tag}'\n`);
    }
  });
  it('leaves tags plain that are text for everybody', () => {
    for (const tag of ['1.10.0', 'v1', '1.10-rc1', 'main', 'abc123', '1a', 'nullable', '2024-01-01-1', '_x']) {
      assert.equal(edited('images:\n- name: web\n  newTag: v0\n', web(tag)), `images:\n- name: web\n  newTag: ${tag}\n`);
    }
  });
  it('mends a right-looking tag that is read as a number', () => {
    assert.equal(edited('images:\n- name: web\n  newTag: 1.10\n', web('1.10')), 'images:\n- name: web\n  newTag: "1.10"\n');
  });
  it('sets tag and digest, and adds the one that is missing behind the other', () => {
    assert.equal(
      edited(`images:\n- name: web\n  newTag: v1\n  digest: ${D1}\n`, web('v2', D2)),
      `images:\n- name: web\n  newTag: v2\n  digest: ${D2}\n`,
    );
    assert.equal(
      edited('images:\n- name: web # c\n  newTag: v1 # d\n', web('v2', D2)),
      `images:\n- name: web # c\n  newTag: v2 # d\n  digest: ${D2}\n`,
    );
    assert.equal(edited('images:\n- name: web', web('v2', D2)), `images:\n- name: web\n  newTag: v2\n  digest: ${D2}`);
    assert.equal(edited(`images:\n- digest: ${D1}\n  name: web\n`, web('v2', D1)), `images:\n- digest: ${D1}\n  name: web\n  newTag: v2\n`);
  });
  it('removes a digest that would win over the tag', () => {
    assert.equal(
      edited(`images:\n- name: web\n  digest: ${D1}\n  newTag: v1\n- name: b\n`, web('v2')),
      'images:\n- name: web\n  newTag: v2\n- name: b\n',
    );
    assert.equal(edited(`images:\n- name: web\n  newTag: v1\n  digest: ${D1}`, web('v2')), 'images:\n- name: web\n  newTag: v2');
    assert.equal(edited(`images:\n- digest: ${D1}\n  name: web\n  newTag: v1\n`, web('v2')), 'images:\n- name: web\n  newTag: v2\n');
  });
  it('never removes a comment', () => {
    assert.equal(
      edited(`images:\n- name: web\n  digest: ${D1} # pinned\n  # about\n  newTag: v1\n`, web('v2')),
      'images:\n- name: web\n  # pinned\n  # about\n  newTag: v2\n',
    );
    assert.equal(
      edited(`images:\n- digest: ${D1} # pinned\n  # about\n  name: web\n  newTag: v1\n`, web('v2')),
      'images:\n-  # pinned\n  # about\n  name: web\n  newTag: v2\n',
    );
    assert.equal(
      edited(`images:\n- digest: ${D1}\n  # about\n  name: web\n  newTag: v1\n`, web('v2')),
      'images:\n- \n  # about\n  name: web\n  newTag: v2\n',
    );
  });
  it('replaces a digest by the tag, and a tag by the digest, in place', () => {
    assert.equal(edited(`images:\n- digest: ${D1} # c\n  name: web\n`, web('v2')), 'images:\n- newTag: v2 # c\n  name: web\n');
    assert.equal(edited("images:\n- name: web\n  newTag: 'v1'\n", web(undefined, D2)), `images:\n- name: web\n  digest: '${D2}'\n`);
  });
  it('removes the tag that a digest alone would leave as a lie', () => {
    assert.equal(
      edited(`images:\n- name: web\n  newTag: v1\n  digest: ${D1}\n`, web(undefined, D2)),
      `images:\n- name: web\n  digest: ${D2}\n`,
    );
  });
  it('fills a value that is empty or null', () => {
    assert.equal(edited('images:\n- name: web\n  newTag:\n', web('v2')), 'images:\n- name: web\n  newTag: v2\n');
    assert.equal(edited('images:\n- name: web\n  newTag: # c\n', web('v2')), 'images:\n- name: web\n  newTag: v2 # c\n');
    assert.equal(edited('images:\n- name: web\n  newTag: ~\n', web('v2')), 'images:\n- name: web\n  newTag: v2\n');
    assert.equal(edited('images: [{name: web, newTag}]\n', web('v2')), 'images: [{name: web, newTag: v2}]\n');
    assert.equal(edited('images: [{name: web, newTag: }]\n', web('v2')), 'images: [{name: web, newTag: v2 }]\n');
  });
  it('turns a block scalar into one line and keeps its comment', () => {
    assert.equal(
      edited('images:\n- name: web\n  newTag: |- # c\n    v1\n\n- name: b\n', web('v2')),
      'images:\n- name: web\n  newTag: v2 # c\n\n- name: b\n',
    );
    assert.equal(
      edited('images:\n- newTag: >-\n    v1', web('v2', undefined), { repository: 'b', tag: 'v1' }).includes('newTag: v1'),
      true,
    );
    assert.equal(edited('images:\r\n- name: web\r\n  newTag: >-\r\n    v1', web('v2')), 'images:\r\n- name: web\r\n  newTag: v2');
  });
});

describe('matching entries', () => {
  it('goes by name, then by newName', () => {
    const text = 'images:\n- name: app\n  newName: web\n  newTag: v1\n';
    assert.equal(edited(text, web('v2')), text.replace('v1', 'v2'));
    const both = `images:\n- name: app\n  newName: web\n  newTag: v0\n- name: web\n  newName: elsewhere\n  newTag: v1\n`;
    assert.equal(edited(both, web('v2')), both.replace('v1', 'v2'));
  });
  it('sets all entries of one name', () => {
    const text = 'images:\n- name: web\n  newTag: v1\n- name: web\n  newTag: v0\n';
    assert.equal(edited(text, web('v2')), 'images:\n- name: web\n  newTag: v2\n- name: web\n  newTag: v2\n');
  });
  it('sets several images in one go', () => {
    const text = 'images:\n- name: web\n  newTag: v1\n- name: ghcr.io/acme/api\n  newTag: v1\n';
    assert.equal(
      edited(text, web('v2'), { repository: 'ghcr.io/acme/api', tag: 'v3' }, { repository: 'db', tag: 'v4' }),
      'images:\n- name: web\n  newTag: v2\n- name: ghcr.io/acme/api\n  newTag: v3\n- name: db\n  newTag: v4\n',
    );
  });
  it('does not give an entry that one image names to another by newName', () => {
    const text = 'images:\n- name: web\n  newName: db\n  newTag: v1\n';
    assert.equal(
      edited(text, web('v2'), { repository: 'db', tag: 'v4' }),
      'images:\n- name: web\n  newName: db\n  newTag: v2\n- name: db\n  newTag: v4\n',
    );
  });
  it('refuses one repository with two tags', () => {
    assert.equal(refusal('images: []', web('v1'), web('v2')).code, 'ImagesContradict');
    assert.equal(refusal('images: []', web()).code, 'ImageIncomplete');
  });
});

describe('adding an entry', () => {
  it('goes to the end of the list, in the style of the list', () => {
    assert.equal(
      edited('images:\n    -   name: a # c\n        newTag: v1 # d\n    # e\nother: x\n', web('v2')),
      'images:\n    -   name: a # c\n        newTag: v1 # d\n    -   name: web\n        newTag: v2\n    # e\nother: x\n',
    );
  });
  it('makes the list at the end of the file, indented as other lists are', () => {
    assert.equal(edited('resources:\n- a\n', web('v2')), 'resources:\n- a\nimages:\n- name: web\n  newTag: v2\n');
    assert.equal(edited('resources:\r\n  - a # c', web('v2')), 'resources:\r\n  - a # c\r\nimages:\r\n  - name: web\r\n    newTag: v2');
    assert.equal(
      edited('---\nkind: Kustomization\n...\n', web('v2')),
      '---\nkind: Kustomization\nimages:\n- name: web\n  newTag: v2\n...\n',
    );
    assert.equal(
      edited('patches:\n- patch: |\n    a: b\n\n', web('v2')),
      'patches:\n- patch: |\n    a: b\nimages:\n- name: web\n  newTag: v2\n\n',
    );
    assert.equal(
      edited('patches:\n- patch: |+\n    a: b\n\n', web('v2')),
      'patches:\n- patch: |+\n    a: b\n\nimages:\n- name: web\n  newTag: v2\n',
    );
  });
  it('fills an empty list', () => {
    assert.equal(edited('images: [] # none\nnamePrefix: x\n', web('v2')), 'images: # none\n- name: web\n  newTag: v2\nnamePrefix: x\n');
    assert.equal(edited('images:\nnamePrefix: x\n', web('v2')), 'images:\n- name: web\n  newTag: v2\nnamePrefix: x\n');
    assert.equal(edited('images: null', web('v2')), 'images:\n- name: web\n  newTag: v2');
    assert.equal(edited('images: [\n # c\n]\n', web('v2')), 'images: [{name: web, newTag: v2}\n # c\n]\n');
  });
  it('stays within brackets where there are some', () => {
    assert.equal(
      edited('images: [{name: a, newTag: b}]\n', web('v2', D1)),
      `images: [{name: a, newTag: b}, {name: web, newTag: v2, digest: "${D1}"}]\n`,
    );
    assert.equal(edited('{"resources": ["a"]}', web('v2')), '{"resources": ["a"], "images": [{"name": "web", "newTag": "v2"}]}');
    assert.equal(edited('{"images": []}', web('v2')), '{"images": [{"name": "web", "newTag": "v2"}]}');
    assert.equal(edited('{"images": null}', web('v2')), '{"images": [{"name": "web", "newTag": "v2"}]}');
    assert.equal(edited('{images: }', web('v2')), '{images: [{name: web, newTag: v2}] }');
    assert.equal(edited('{}', web('v2')), '{images: [{name: web, newTag: v2}]}');
  });
  it('removes and replaces within brackets', () => {
    assert.equal(edited(`images: [{name: web, digest: ${D1}, newTag: v1}]\n`, web('v2')), 'images: [{name: web, newTag: v2}]\n');
    assert.equal(edited(`images: [{name: web, newTag: v1, digest: ${D1}}]\n`, web('v2')), 'images: [{name: web, newTag: v2}]\n');
    assert.equal(edited(`images: [{"name": "web", "digest": "${D1}"}]\n`, web('v2')), 'images: [{"name": "web", "newTag": "v2"}]\n');
    assert.equal(
      edited(`images:\n- {name: web, # a\n   digest: ${D1}, # b\n   newTag: v1 # c\n  }\n`, web('v2')),
      'images:\n- {name: web, # a\n    # b\n   newTag: v2 # c\n  }\n',
    );
  });
});

describe('anchors and aliases', () => {
  it('replaces an alias by the value, and leaves its anchor alone', () => {
    assert.equal(edited('x: &t v1\nimages:\n- name: web\n  newTag: *t\n', web('v2')), 'x: &t v1\nimages:\n- name: web\n  newTag: v2\n');
  });
  it('keeps an anchor that nobody repeats', () => {
    assert.equal(edited('images:\n- name: web\n  newTag: &t v1\n', web('v2')), 'images:\n- name: web\n  newTag: &t v2\n');
  });
  it('refuses to change what an alias repeats', () => {
    assert.deepEqual(refusal('images:\n- name: web\n  newTag: &t v1\n- name: b\n  newTag: *t\n', web('v2')), {
      code: 'YAMLAliased',
      message:
        'newTag of the images entry for web is repeated elsewhere by an alias, which would change too; write the value out there (env/dev/kustomization.yaml, line 3)',
      file: FILE,
      line: 3,
    });
    assert.equal(refusal('images:\n- &e\n  name: web\n  newTag: v1\nx: *e\n', web('v2')).code, 'YAMLAliased');
    assert.equal(refusal('x:\n- &e\n  name: web\n  newTag: v1\nimages:\n- *e\n', web('v2')).code, 'YAMLAliased');
    assert.equal(refusal('x: &l\n- name: a\nimages: *l\n', web('v2')).code, 'YAMLAliased');
    assert.equal(refusal('x: &d {newTag: v1}\nimages:\n- <<: *d\n  name: web\n', web('v2')).line, 3);
  });
});

describe('hostile and broken files', () => {
  const code = (text: string) => {
    const { code: name, line, file } = refusal(text, web('v2'));
    assert.equal(file, FILE);
    return [name, line];
  };
  it('are refused with file and line', () => {
    assert.deepEqual(code('images:\n- name: web\n\tnewTag: v1\n'), ['YAMLInvalid', 3]);
    assert.deepEqual(code('a: [\nb: c\n'), ['YAMLInvalid', 2]);
    assert.deepEqual(code('images: []\nimages: []\n'), ['YAMLInvalid', 2]);
    assert.deepEqual(code('images:\n- name: web\n  newTag: a\n  newTag: b\n'), ['YAMLInvalid', 4]);
    assert.deepEqual(code('images: [{name: web}]\nx: *nowhere\n'), ['YAMLInvalid', 2]);
    assert.deepEqual(code('a: b\rimages: []\n'), ['YAMLInvalid', 1]);
    assert.deepEqual(code('images: []\n---\nimages: []\n'), ['YAMLMultipleDocuments', 3]);
    assert.deepEqual(code('# nothing\n'), ['KustomizationEmpty', 1]);
    assert.deepEqual(code(''), ['KustomizationEmpty', 1]);
    assert.deepEqual(code('- a\n'), ['KustomizationInvalid', 1]);
    assert.deepEqual(code('a: b\nimages: web\n'), ['KustomizationInvalid', 2]);
    assert.deepEqual(code('images:\n- web\n'), ['KustomizationInvalid', 2]);
    assert.deepEqual(code('images:\n- name: web\n  newTag: [v1]\n'), ['ValueNotScalar', 3]);
    assert.deepEqual(code('images:\n- name: web\n  newTag: !!int 5\n'), ['ValueTagged', 3]);
  });
  it('of any depth and size are refused in no time', () => {
    assert.equal(code(`a: ${'['.repeat(100_000)}`)[0], 'YAMLInvalid');
    assert.equal(code('- '.repeat(100_000))[0], 'YAMLInvalid');
    assert.equal(code(`# ${'x'.repeat(4 * 1024 * 1024)}`)[0], 'YAMLInvalid');
    assert.equal(code(`${'- a: b\n'.repeat(40_000)}`)[0], 'YAMLInvalid');
    assert.equal(code(`# ${'ü'.repeat(2.5 * 1024 * 1024)}`)[0], 'YAMLInvalid');
  });
  it('with nested aliases are edited without expanding them', () => {
    const bomb = Array.from(
      { length: 40 },
      (_, i) =>
        `a${i}: &a${i} [${
          i === 0
            ? 'x'
            : Array(9)
                .fill(`*a${i - 1}`)
                .join(', ')
        }]\n`,
    ).join('');
    assert.equal(edited(`${bomb}images:\n- name: web\n  newTag: v1\n`, web('v2')), `${bomb}images:\n- name: web\n  newTag: v2\n`);
  });
});
