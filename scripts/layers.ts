/**
 * The import table of ARCHITECTURE.md as data, and the check of every source file against it (imports of types included). Also: which
 * folders never touch Node, how long a file may be, and names that say nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, posix, relative } from 'node:path';

/** What one layer may import. */
interface Layer {
  /** Other layers, besides itself. */
  readonly layers: readonly string[];
  /** `node:` modules. */
  readonly node: boolean;
  /** Packages: a list of names, or all. */
  readonly packages: readonly string[] | 'any';
  /** Units directly below it that must not import each other. */
  readonly separate?: true;
}

/** Libraries without input, output, clocks or promises. */
const PURE = ['typebox', 'ajv', 'yaml', 're2js', 'rfc6902', '@marcbachmann/cel-js', '@noble/hashes'] as const;
const FRONT = { layers: ['world', 'core', 'ports', 'api'], node: true, packages: 'any' } as const;
const EVERYTHING = ['api', 'core', 'ports', 'world', 'controller', 'adapters', 'apiserver', 'server', 'cli', 'demo'];

/** The table. The name is the folder below src; `main` is src/main.ts. */
export const LAYERS: Readonly<Record<string, Layer>> = {
  api: { layers: [], node: false, packages: PURE },
  core: { layers: ['api'], node: false, packages: PURE },
  ports: { layers: ['api'], node: false, packages: [] },
  world: { layers: ['core', 'ports', 'api'], node: false, packages: PURE },
  controller: { layers: ['world', 'core', 'ports', 'api'], node: false, packages: PURE },
  adapters: { layers: ['api', 'ports'], node: true, packages: 'any', separate: true },
  apiserver: FRONT,
  server: FRONT,
  cli: FRONT,
  demo: { layers: EVERYTHING, node: true, packages: 'any' },
  main: { layers: EVERYTHING, node: true, packages: 'any' },
};

/** Lines that a source file may have; tests and generated files apart. */
const MAX_LINES = 350;
/** A name that says nothing about what is inside. */
const EMPTY_NAME = /(?:^|[-.])(?:utils?|helpers?|common|misc)(?:[-.]|$)/;

/** One source file, with its path below the root of the project. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** What is wrong, where (`file:line`). */
export interface Violation {
  readonly where: string;
  readonly message: string;
}

/** An import: its specifier (undefined when it is computed) and line. */
interface Import {
  readonly specifier: string | undefined;
  readonly line: number;
}

const STATIC = /^[ \t]*(?:import|export)\b(?:[^;'"`(=]*?\bfrom)?\s*(['"])([^'"\n]+)\1/gm;
const DYNAMIC = /\bimport\(\s*(?:(['"])([^'"\n]+)\1\s*[,)]|[^'")\s])/g;

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' ')).replace(/(^|\s)\/\/[^\n]*/g, '$1');

const importsOf = (text: string): Import[] => {
  const code = withoutComments(text);
  const lineAt = (index: number): number => code.slice(0, index).split('\n').length;
  return [STATIC, DYNAMIC].flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => ({ specifier: match[2], line: lineAt(match.index + match[0].search(/\S/)) })),
  );
};

const layerOf = (path: string): string | undefined => {
  const parts = path.split('/');
  if (parts[0] !== 'src') return undefined;
  return parts.length === 2 ? (parts[1] ?? '').replace(/\.ts$/, '') : parts[1];
};

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** A unit of a layer whose units are separate: a folder or a file directly below it. */
const unitOf = (path: string): string => (path.split('/')[2] ?? '').replace(/\.ts$/, '');

const refusedRelative = (from: string, to: string, name: string, layer: Layer): string | undefined => {
  const target = layerOf(to);
  if (target === undefined) return to === 'package.json' && layer.node ? undefined : `imports ${to}, which is outside src`;
  if (target !== name) return layer.layers.includes(target) ? undefined : `${name} must not import ${target} (${to})`;
  if (layer.separate && unitOf(from) !== unitOf(to)) return `${unitOf(from)} must not import ${unitOf(to)}: adapters stand alone`;
  return undefined;
};

const refusal = (path: string, specifier: string | undefined): string | undefined => {
  const name = layerOf(path) ?? '';
  const layer = LAYERS[name];
  if (layer === undefined) return `src/${name} is not in the table of layers (scripts/layers.ts)`;
  if (specifier === undefined) return 'a computed import cannot be checked; write the path as text';
  if (specifier.startsWith('.')) return refusedRelative(path, posix.join(posix.dirname(path), specifier), name, layer);
  if (specifier.startsWith('node:')) return layer.node ? undefined : `${name} must not touch Node (${specifier})`;
  const allowed = layer.packages === 'any' || layer.packages.includes(packageOf(specifier));
  return allowed ? undefined : `${name} must not import the package ${packageOf(specifier)}`;
};

/** Checks files against the table; tests may wire whatever they need and may be as long as they like. */
export const checkFiles = (files: readonly SourceFile[]): Violation[] =>
  files.flatMap(({ path, text }) => {
    const found: Violation[] = [];
    if (EMPTY_NAME.test(basename(path))) found.push({ where: path, message: 'the name says nothing: name the concept' });
    if (path.endsWith('.test.ts') || path.includes('.generated.')) return found;
    const lines = text.split('\n').length - 1;
    if (lines > MAX_LINES) found.push({ where: path, message: `${lines} lines; at most ${MAX_LINES}: split it by concept` });
    if (layerOf(path) === undefined) return found;
    for (const { specifier, line } of importsOf(text)) {
      const message = refusal(path, specifier);
      if (message !== undefined) found.push({ where: `${path}:${line}`, message });
    }
    return found;
  });

/** Reads every TypeScript file below the given folders of the project. */
export const readSources = (root: string, folders: readonly string[]): SourceFile[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ path: relative(root, path).replaceAll('\\', '/'), text: readFileSync(path, 'utf8') })),
  );

if (import.meta.main) {
  const root = dirname(import.meta.dirname);
  const files = readSources(root, ['src', 'scripts']);
  const violations = checkFiles(files);
  for (const { where, message } of violations) console.error(`${where}: ${message}`);
  console.log(`layers: ${files.length} files, ${violations.length} violations`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
