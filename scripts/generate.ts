/**
 * `npm run generate`: writes what follows from the definitions of the kinds (CustomResourceDefinitions, JSON Schemas, reference pages).
 * With `--check` nothing is written, and the exit code is 1 when something would change.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { customResourceDefinition, ourKinds, resourceSchema } from '../src/api/crd.ts';
import { referenceIndex, referencePage } from '../src/api/reference-page.ts';
import { apiVersionOf, type KindInfo } from '../src/api/registry.ts';
import { statesPage } from './states-page.ts';

const root = dirname(import.meta.dirname);

/** Files under these patterns that are not generated any more are removed. */
const OWNED = ['deploy/crds/*.yaml', 'schemas/*.schema.json', 'docs/reference/*.md'];

const NOTE = '# Generated from the definition of the kind: npm run generate.\n';

const jsonSchema = (info: KindInfo): string => {
  const schema = resourceSchema(info);
  const whole = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: info.kind,
    ...schema,
    properties: { ...schema.properties, apiVersion: { const: apiVersionOf(info) }, kind: { const: info.kind } },
    required: ['apiVersion', 'kind', 'metadata'],
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
};

const wanted = (): ReadonlyMap<string, string> => {
  const files = new Map<string, string>([
    ['docs/reference/README.md', referenceIndex()],
    ['docs/reference/states.md', statesPage()],
  ]);
  for (const info of ourKinds()) {
    // Long rules stay on one line, so that a change of one is one line in a diff.
    const crd = stringify(customResourceDefinition(info), { lineWidth: 0, aliasDuplicateObjects: false });
    files.set(`deploy/crds/${info.plural}.yaml`, NOTE + crd);
    files.set(`schemas/${info.singular}.schema.json`, jsonSchema(info));
    files.set(`docs/reference/${info.singular}.md`, referencePage(info));
  }
  return files;
};

const content = (path: string): string | undefined => {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return undefined;
  }
};

const main = (check: boolean): number => {
  const files = wanted();
  const changed = [...files].filter(([path, text]) => content(path) !== text).map(([path]) => path);
  const stale = globSync(OWNED, { cwd: root }).filter((path) => !files.has(path.replaceAll('\\', '/')));
  if (check) {
    for (const path of [...changed, ...stale]) console.error(`${path} is not what the definitions say; run: npm run generate`);
    return changed.length + stale.length === 0 ? 0 : 1;
  }
  for (const path of changed) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), files.get(path) ?? '');
  }
  for (const path of stale) rmSync(join(root, path));
  console.log(`${changed.length} written, ${stale.length} removed, ${files.size - changed.length} unchanged`);
  return 0;
};

process.exitCode = main(process.argv.includes('--check'));
