import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Lexer, parse } from 'yaml';
import type { EditSpec, ImageChange } from '../effect.ts';
import { compileEdit } from './compile-edit.ts';
import { isPlainString, scalarText } from './scalar-text.ts';

const FILE = 'kustomization.yaml';
const VALUES = 'values.yaml';
const hex = (digit: string): string => `sha256:${digit.repeat(64)}`;

const tags = fc.oneof(
  fc.constantFrom('v1', 'v2', '1.10', '1.2.3', '5', 'true', 'no', 'null', '0x10', '1e3', '2024-01-01', '_x', 'main', '1_0', '0o7', '.5x'),
  fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,12}$/),
);
const digests = fc.constantFrom(hex('1'), hex('2'), hex('a'));
const styles = fc.constantFrom('plain' as const, 'single' as const, 'double' as const);
const NAMES = ['web', 'ghcr.io/acme/api', 'db', 'localhost:5000/x'];

/** What a file is made of besides its content. */
const layouts = fc.record({
  eol: fc.constantFrom('\n', '\r\n'),
  bom: fc.constantFrom('', '\ufeff'),
  end: fc.boolean(),
  start: fc.constantFrom('', '---', '%YAML 1.2\n---', '# head'),
  dash: fc.constantFrom('- ', '  - ', '    -   ', '-  '),
  flow: fc.boolean(),
  comments: fc.array(fc.constantFrom('', '', ' # c', '   # digest: x', ' #'), { minLength: 12, maxLength: 12 }),
  between: fc.array(fc.constantFrom([], [], [''], ['# between'], ['', '      # deep: er', '']), { minLength: 12, maxLength: 12 }),
});
type Layout = typeof layouts extends fc.Arbitrary<infer T> ? T : never;

const keyValues = fc
  .record({
    name: fc.option(fc.constantFrom(...NAMES), { nil: undefined, freq: 6 }),
    newName: fc.option(fc.constantFrom(...NAMES), { nil: undefined, freq: 1 }),
    newTag: fc.option(tags, { nil: undefined, freq: 3 }),
    digest: fc.option(digests, { nil: undefined, freq: 1 }),
  })
  .filter((entry) => Object.values(entry).some((value) => value !== undefined));
type Entry = typeof keyValues extends fc.Arbitrary<infer T> ? T : never;

const entries = fc.array(
  fc.record({
    entry: keyValues,
    order: fc.shuffledSubarray(['name', 'newName', 'newTag', 'digest'] as const, { minLength: 4 }),
    style: styles,
  }),
  { maxLength: 4 },
);
type StyledEntry = typeof entries extends fc.Arbitrary<(infer T)[]> ? T : never;

const present = ({ entry, order }: StyledEntry) => order.flatMap((key) => (entry[key] === undefined ? [] : [[key, entry[key]] as const]));

/** A number in plain style is no tag, so what is generated is always written as a string. */
const written = ({ style }: StyledEntry, value: string): string => scalarText(value, style);

const finish = (lines: readonly string[], { eol, bom, end, start }: Layout): string =>
  bom + [...(start === '' ? [] : start.split('\n')), ...lines].join(eol) + (end ? eol : '');

const kustomization = (items: readonly StyledEntry[], layout: Layout, withList: boolean): string => {
  const { dash, flow, comments, between } = layout;
  let n = 0;
  const comment = (): string => comments[n++ % 12] ?? '';
  const gap = (): readonly string[] => between[n++ % 12] ?? [];
  const rest = dash.replace('-', ' ');
  const block = items.flatMap((item) =>
    present(item).flatMap(([key, value], index) => [...gap(), `${index === 0 ? dash : rest}${key}: ${written(item, value)}${comment()}`]),
  );
  const flowed = items
    .map(
      (item) =>
        `{${present(item)
          .map(([key, value]) => `${key}: "${value}"`)
          .join(', ')}}`,
    )
    .join(', ');
  const list = !withList ? [] : flow || items.length === 0 ? [`images: [${flowed}]${comment()}`] : [`images:${comment()}`, ...block];
  return finish(
    [`resources:${comment()}`, `${dash}../base`, ...gap(), ...list, ...gap(), 'patches:', `${dash}path: x.yaml${comment()}`],
    layout,
  );
};

const images = fc
  .uniqueArray(
    fc.record({
      repository: fc.constantFrom(...NAMES),
      tag: fc.option(tags, { nil: undefined }),
      digest: fc.option(digests, { nil: undefined }),
    }),
    { selector: ({ repository }) => repository, minLength: 1, maxLength: 3 },
  )
  .map((list) =>
    list.map(
      ({ repository, tag, digest }): ImageChange => ({
        repository,
        ...(digest ? { digest } : {}),
        ...(tag || !digest ? { tag: tag ?? 'v9' } : {}),
      }),
    ),
  );

const apply = (spec: EditSpec, file: string, text: string): string => {
  const result = compileEdit(spec).apply(new Map([[file, text]]));
  assert.ok(result.ok, result.ok ? '' : `${result.refusal.code}: ${result.refusal.message}\n${text}`);
  return result.writes.get(file) ?? text;
};

/** What the entries are to be, said on plain data. */
const expected = (before: readonly Entry[], changes: readonly ImageChange[]): readonly Entry[] => {
  const owner = (entry: Entry): ImageChange | undefined => {
    const byName = changes.find(({ repository }) => repository === entry.name);
    if (byName) return byName;
    const byNewName = changes.find(({ repository }) => repository === entry.newName);
    return byNewName && before.some(({ name }) => name === byNewName.repository) ? undefined : byNewName;
  };
  const strip = (entry: object): Entry =>
    Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as unknown as Entry;
  const set = before.map((entry) => {
    const change = owner(entry);
    return strip(change ? { ...entry, newTag: change.tag, digest: change.digest } : entry);
  });
  const owned = new Set(before.map(owner));
  const added = changes
    .filter((change) => !owned.has(change))
    .map(({ repository, tag, digest }) => strip({ name: repository, newTag: tag, digest }));
  return [...set, ...added];
};

const commentsOf = (text: string): readonly string[] => [...text.matchAll(/#[^\r\n]*/g)].map(([comment]) => comment);

describe('any overlay edit', () => {
  const cases = fc.record({ items: entries, layout: layouts, withList: fc.boolean(), changes: images });
  it('gives the data that is wanted, keeps every comment in order, and changes nothing when repeated', () => {
    fc.assert(
      fc.property(cases, ({ items, layout, withList, changes }) => {
        const before = kustomization(items, layout, withList);
        const spec: EditSpec = { edit: 'overlay', path: '', images: changes };
        const after = apply(spec, FILE, before);
        const old = parse(before);
        assert.deepEqual(parse(after), { ...old, images: expected(old.images ?? [], changes) });
        assert.deepEqual(parse(after, { version: '1.1' }), parse(after), 'readers of YAML 1.1 see the same');
        assert.deepEqual(commentsOf(after), commentsOf(before));
        assert.equal(apply(spec, FILE, after), after);
        assert.equal(/\r?\n$/.test(after), layout.end);
        assert.equal(after.startsWith('\ufeff'), layout.bom !== '');
        assert.equal(after.replaceAll(layout.eol, '').includes('\n'), false, 'line endings stay');
      }),
      { numRuns: 400 },
    );
  });
  it('that only sets values changes nothing but their bytes', () => {
    fc.assert(
      fc.property(entries, layouts, images, (items, layout, changes) => {
        const onlyTags = changes.map(({ repository, tag }) => ({ repository, tag: tag ?? 'v9' }));
        const tagged = items.map((item) => ({ ...item, entry: { ...item.entry, newTag: item.entry.newTag ?? 'v0', digest: undefined } }));
        const after = expected(
          tagged.map(({ entry }) => entry),
          onlyTags,
        );
        if (after.length > tagged.length) return;
        const wanted = tagged.map((item, index) => ({ ...item, entry: { ...item.entry, newTag: after[index]?.newTag ?? '' } }));
        const text = kustomization(tagged, layout, true);
        // A tag that must be quoted moves to double quotes, and one that was quoted for that reason stays quoted.
        const unify = (content: string): string => content.replace(/newTag: (["']?)([^\s"']+)\1/g, 'newTag: $2');
        assert.equal(unify(apply({ edit: 'overlay', path: '', images: onlyTags }, FILE, text)), unify(kustomization(wanted, layout, true)));
      }),
      { numRuns: 400 },
    );
  });
});

const FRAGMENTS = [
  'images:',
  'images: ',
  '\n',
  '\n',
  '\n',
  '\r\n',
  '- ',
  '  ',
  ' ',
  'name: web',
  'newTag: v1',
  'digest: x',
  'name',
  ': ',
  ':',
  '[',
  ']',
  '{',
  '}',
  ',',
  ', ',
  '"',
  "'",
  '# c',
  ' # c',
  '&a ',
  '*a',
  '|',
  '>-',
  '|+',
  '!!str ',
  '? ',
  '<<: ',
  '---\n',
  '...\n',
  '~',
  'web',
  '\t',
  '%',
  '@',
  '\ufeff',
  'tag: v1',
  'image:',
  'repository: web',
  'é',
];

const SENSIBLE = [
  'images:\n- name: web\n  newTag: v1\n  digest: x\nother: y\n',
  'images:\n- digest: x\n  name: web\n  newTag: v1',
  'image:\n  repository: web\n  tag: v1\nx: y\n',
  'images: [{name: web, newTag: v1, digest: y}]\n',
];

describe('any text at all', () => {
  const RUNS = 4000;
  const soup = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 25 }).map((parts) => parts.join(''));
  const insertions = fc.array(fc.record({ at: fc.nat(60), part: fc.constantFrom(...FRAGMENTS) }), { maxLength: 3 });
  // Sensible files with something out of place are edited more often than soup is.
  const sensible = fc
    .record({ text: fc.constantFrom(...SENSIBLE), insertions })
    .map((from) => from.insertions.reduce((text, { at, part }) => text.slice(0, at) + part + text.slice(at), from.text));
  const texts = fc.oneof(soup, sensible);
  const specs = fc.constantFrom<EditSpec>(
    { edit: 'overlay', path: '', images: [{ repository: 'web', tag: 'v2' }] },
    { edit: 'overlay', path: '', images: [{ repository: 'web', digest: hex('1') }] },
    { edit: 'chart', file: FILE, valuePath: 'image.tag', images: [{ repository: 'web', tag: '1.10' }] },
    { edit: 'chart', file: FILE, valuePath: 'images[0].newTag', images: [{ repository: 'web', tag: 'v2' }] },
    {
      edit: 'chart',
      file: FILE,
      valuePath: 'x',
      images: [
        { repository: 'web', tag: 'v2' },
        { repository: 'name', tag: 'v2', digest: hex('2') },
      ],
    },
  );
  const TOUCHED = ['tag', 'newTag', 'digest'];
  /** The data without what the edit may touch. */
  const others = (text: string, spec: EditSpec): unknown => {
    const strip = (node: unknown, depth: number): unknown => {
      if (Array.isArray(node)) return node.map((item) => strip(item, depth + 1));
      if (!(node instanceof Map)) return node;
      const kept = [...node].filter(([key]) => (spec.edit === 'overlay' ? depth > 0 || key !== 'images' : !TOUCHED.includes(key)));
      return kept.map(([key, value]) => [key, strip(value, depth + 1)]);
    };
    return strip(parse(text, { schema: 'failsafe', mapAsMap: true, logLevel: 'silent' }), 0);
  };
  const commentTokens = (text: string): readonly string[] => [...new Lexer().lex(text)].filter((token) => token.startsWith('#'));

  it('is refused with a file, or edited so that all else stays the same, no comment is lost, and a second application changes nothing', () => {
    let edits = 0;
    let unsupported = 0;
    fc.assert(
      fc.property(texts, specs, (text, spec) => {
        const edit = compileEdit(spec);
        const result = edit.apply(new Map([[FILE, text]]));
        if (!result.ok) {
          assert.equal(result.refusal.file, FILE);
          if (result.refusal.code === 'YAMLUnsupported') unsupported += 1;
          return;
        }
        const after = result.writes.get(FILE);
        if (after === undefined) return;
        edits += 1;
        const again = edit.apply(new Map([[FILE, after]]));
        assert.ok(again.ok && again.writes.size === 0);
        assert.deepEqual(commentTokens(after), commentTokens(text));
        assert.deepEqual(others(after, spec), others(text, spec));
      }),
      { numRuns: RUNS },
    );
    assert.ok(unsupported < RUNS / 100, `${unsupported} texts could be read but not edited`);
    assert.ok(edits > RUNS / 100, `only ${edits} texts were edited`);
  });
});

describe('any chart edit', () => {
  const key = fc.constantFrom('a', 'b.c', 'image', 'tag', 'x y', '0');
  const cases = fc.record({
    path: fc.array(key, { minLength: 1, maxLength: 4 }),
    old: tags,
    fresh: tags,
    style: styles,
    layout: layouts,
  });
  it('gives the wanted value as a string, and changes only its bytes', () => {
    fc.assert(
      fc.property(cases, ({ path, old, fresh, style, layout }) => {
        const render = (value: string): string => {
          const lines = path.flatMap((name, depth) => {
            const indent = '  '.repeat(depth);
            const comment = layout.comments[depth] ?? '';
            const own = `${indent}"${name}":${depth === path.length - 1 ? ` ${value}` : ''}${comment}`;
            return [`${indent}before: x`, ...(layout.between[depth] ?? []), own];
          });
          return finish([...lines, ...path.map((_, depth) => `${'  '.repeat(path.length - 1 - depth)}after: 1.10 # z`)], layout);
        };
        const text = render(scalarText(old, style));
        const valuePath = path.map((name) => `"${name}"`).join('.');
        const after = apply({ edit: 'chart', file: VALUES, valuePath, images: [{ repository: 'r', tag: fresh }] }, VALUES, text);
        assert.ok(
          [fresh, `'${fresh}'`, `"${fresh}"`].some((value) => after === render(value)),
          `${text}\n--- became ---\n${after}`,
        );
        const at = path.reduce<unknown>((node, name) => Object(node)[name], parse(after, { version: '1.1' }));
        assert.equal(at, fresh);
      }),
      { numRuns: 400 },
    );
  });
});

describe('any string', () => {
  it('is read back as the same string from any style, by both versions of YAML', () => {
    fc.assert(
      fc.property(fc.oneof(tags, fc.string({ unit: 'binary' }), fc.string()), styles, (value, style) => {
        const text = scalarText(value, style);
        for (const version of ['1.1', '1.2'] as const) {
          assert.deepEqual(parse(`a: ${text} # c\nb: {c: ${text} , d: ${text}}\n`, { version }), { a: value, b: { c: value, d: value } });
        }
        assert.ok(!isPlainString(value) || style !== 'plain' || text === value);
      }),
      { numRuns: 300 },
    );
  });
});
