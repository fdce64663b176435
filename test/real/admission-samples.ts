/** Objects that are nearly right: the examples with fields changed, dropped and added by a seeded draw. */
import { admit } from '../../src/api/admission.ts';
import { ourKinds, resourceSchema } from '../../src/api/crd.ts';
import { EXAMPLES } from '../../src/api/examples.ts';
import type { Resource } from '../../src/api/meta.ts';
import { isObject, type StructuralSchema } from '../../src/api/structural.ts';

/** One object to judge, and what it replaces. */
export interface Sample {
  readonly kind: string;
  readonly object: Resource;
  readonly old?: Resource;
}

const WORDS: readonly string[] = [
  ...['', ' ', '0', '5', '5m', '-5m', '0s', '+1h', '1.5h', '.5h', '1d', '1\u00b5s', '1\u03bcs', '5m\n', ' 5m'],
  ...[
    'image',
    'config',
    'mixed',
    'git',
    'auto',
    'pr-review',
    'overlay',
    'kustomize',
    'replace',
    'branch',
    'directory',
    'none',
    'immediate',
    'overtake',
  ],
  ...['host-a', 'github', 'local', 'resource', 'gitopsApp', 'argocd', 'gitopsKustomization', 'flux', 'prometheus', '<', '0.5', '^a$'],
  ...[
    'https://h/r',
    'https://u:p@h/r',
    'ssh://git@h/r',
    'git@h:x/y',
    'ext::x',
    'file:///x',
    'http://p',
    '/abs',
    '../x',
    'a/.git/b',
    'a/.GIT',
  ],
  ...[
    'web',
    'r:5000/web',
    'web:1',
    '1.29',
    'v 1',
    'sha256:ab',
    'sha256:',
    'abcdef1',
    'test',
    'prod',
    'Prod',
    'x'.repeat(63),
    'x'.repeat(64),
    'x'.repeat(300),
  ],
  ...['999ms', '1000ms', '0.0166m', '87600h', '87601h', '1.h', '999999h', '0000000001h', '99999999999999999999ns', '1ns'.repeat(30)],
  ...['2026-03-02T09:30:00Z', '2024-02-29T23:59+05:30', '2026-02-30T09:30:00Z', 'javascript:x', 'https://h/\u0007', 'a\u2028b', '\u009b'],
  ...['a..b', 'env/', 'x.lock', '@', 'HEAD', '\u00e9', '\u65e5\u672c', '\u{1f600}', "it's", '"', '\\', 'a\nb', 'a\u0000b', '{{x}}'],
];

/** Numbers from 0 to 1, the same for the same seed. */
const draws = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
};

const pick = <T>(draw: () => number, from: readonly T[]): T | undefined => from[Math.floor(draw() * from.length)];

const invent = (draw: () => number, schema: StructuralSchema): unknown => {
  const odd = draw();
  if (odd < 0.02) return null;
  if (odd < 0.023) return pick(draw, [7, 'x', true, [], {}]);
  const { items, properties } = schema;
  if (schema.type === 'string') return pick(draw, WORDS);
  if (schema.type === 'integer') return pick(draw, [0, 1, 5, 100, -1, 20_000]);
  if (schema.type === 'boolean') return draw() < 0.5;
  if (items !== undefined) return Array.from({ length: Math.floor(draw() * 3.2) }, () => invent(draw, items));
  if (properties === undefined) return { k: 'v', ...(draw() < 0.2 ? { n: null } : {}) };
  const chosen = Object.entries(properties).filter(() => draw() < 0.6);
  return Object.fromEntries(chosen.map(([name, child]) => [name, invent(draw, child)]));
};

const change = (draw: () => number, schema: StructuralSchema, value: unknown): unknown => {
  if (draw() < 0.04) return invent(draw, schema);
  const { items, properties } = schema;
  if (Array.isArray(value) && items !== undefined) {
    const changed = value.map((item: unknown) => change(draw, items, item));
    return draw() < 0.05 ? [...changed, ...changed] : changed;
  }
  if (!isObject(value) || properties === undefined) return draw() < 0.05 ? invent(draw, schema) : value;
  const entries = Object.entries(properties).flatMap(([name, child]): [string, unknown][] => {
    if (!(name in value)) return draw() < 0.05 ? [[name, invent(draw, child)]] : [];
    return draw() < 0.96 ? [[name, change(draw, child, value[name])]] : [];
  });
  return Object.fromEntries(draw() < 0.02 ? [...entries, ['unknown', 1]] : entries);
};

/** Samples of every kind. What an update replaces is always an object that was admitted. */
export const samples = (seed: number, each: number): readonly Sample[] => {
  const draw = draws(seed);
  const examples: ReadonlyMap<string, Resource> = new Map(Object.entries(EXAMPLES));
  return ourKinds().flatMap((info) => {
    const example = examples.get(info.kind);
    const schema = resourceSchema(info).properties?.['spec'];
    if (example === undefined || schema === undefined) return [];
    const spec = 'spec' in example ? example.spec : {};
    return Array.from({ length: each }, (): Sample => {
      const name = info.kind === 'Pipeline' && draw() < 0.02 ? 'x'.repeat(64) : 'web';
      const bare: Resource = { apiVersion: example.apiVersion, kind: info.kind, metadata: { name, namespace: 'default' } };
      const changed = draw() < 0.16 ? invent(draw, schema) : change(draw, schema, spec);
      const object = draw() < 0.01 ? bare : Object.assign({}, bare, { spec: changed });
      const old = Object.assign({}, bare, { spec: draw() < 0.5 ? changed : spec });
      const update = draw() < 0.3 && admit({ operation: 'create', object: old }).ok;
      return { kind: info.kind, object, ...(update ? { old } : {}) };
    });
  });
};
