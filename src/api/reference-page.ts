/** The reference page of a kind, in Markdown, from its definition. */
import { stringify } from 'yaml';
import { ourKinds, resourceSchema } from './crd.ts';
import { EXAMPLES } from './examples.ts';
import { apiVersionOf, type KindInfo } from './registry.ts';
import type { Rule } from './rules/rule.ts';
import { RULES } from './rules/table.ts';
import type { StructuralSchema } from './structural.ts';

interface Row {
  readonly field: string;
  readonly type: string;
  readonly required: boolean;
  readonly default: string;
  readonly description: string;
}

const typeWord = (schema: StructuralSchema): string => {
  if (schema.type === 'array') return `list of ${schema.items === undefined ? 'anything' : typeWord(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map of ${typeWord(schema.additionalProperties)}`;
  return schema.type ?? 'any';
};

const bounds = (schema: StructuralSchema): string => {
  const said = [
    schema.maxLength === undefined ? '' : `at most ${schema.maxLength} characters`,
    schema.maxItems === undefined ? '' : `at most ${schema.maxItems} entries`,
    schema.minimum === undefined ? '' : `from ${schema.minimum}`,
    schema.maximum === undefined ? '' : `to ${schema.maximum}`,
  ].filter((part) => part !== '');
  return said.length === 0 ? '' : ` (${said.join(', ')})`;
};

const rowsOf = (schema: StructuralSchema, path: string): readonly Row[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const list = child.type === 'array';
    const field = `${path}.${name}${list ? '[]' : ''}`;
    const row: Row = {
      field,
      type: typeWord(child),
      required: schema.required?.includes(name) ?? false,
      default: child.default === undefined ? '' : `\`${String(child.default)}\``,
      description: `${child.description ?? ''}${bounds(child)}`,
    };
    const inner = list ? child.items : child;
    return [row, ...(inner === undefined ? [] : rowsOf(inner, field))];
  });

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

const fieldTable = (schema: StructuralSchema | undefined, root: string): string => {
  const rows = schema === undefined ? [] : rowsOf(schema, root);
  if (rows.length === 0) return '';
  const lines = rows.map(
    (row) => `| \`${row.field}\` | ${row.type}${row.required ? ', required' : ''} | ${row.default} | ${cell(row.description)} |`,
  );
  return ['| Field | Type | Default | Description |', '|---|---|---|---|', ...lines, ''].join('\n');
};

const messageTable = (rules: readonly Rule[]): string => {
  if (rules.length === 0) return 'Nothing beyond the types and bounds above is asked.\n';
  const lines = rules.map((rule) => {
    const field = `${rule.at}${rule.fieldPath ?? ''}`.replace(/^\./, '');
    return `| \`${field === '' ? 'the object' : field}\` | ${cell(rule.message)} |`;
  });
  return ['| Field | Message |', '|---|---|', ...new Set(lines), ''].join('\n');
};

const example = (info: KindInfo): string => {
  const found = Object.entries(EXAMPLES).find(([kind]) => kind === info.kind)?.[1];
  return found === undefined ? '' : `\`\`\`yaml\n${stringify(found, { lineWidth: 140 })}\`\`\`\n`;
};

const section = (title: string, body: string): string => (body === '' ? '' : `## ${title}\n\n${body}\n`);

/** The page of one kind. */
export const referencePage = (info: KindInfo): string => {
  const schema = resourceSchema(info);
  const names = [info.plural, ...info.shortNames].map((name) => `\`${name}\``).join(', ');
  return [
    `# ${info.kind}\n`,
    `${info.description} API version \`${apiVersionOf(info)}\`; names on the command line: ${names}.\n`,
    section('Example', example(info)),
    section('Spec', fieldTable(schema.properties?.['spec'], 'spec')),
    section('Status', fieldTable(schema.properties?.['status'], 'status')),
    section('What admission refuses', messageTable(RULES[info.kind] ?? [])),
    'This page is generated from the definition of the kind: `npm run generate`.\n',
  ]
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n');
};

/** The page that lists all kinds. */
export const referenceIndex = (): string =>
  [
    '# Reference\n',
    '| Kind | What it is |',
    '|---|---|',
    ...ourKinds().map((info) => `| [${info.kind}](${info.singular}.md) | ${info.description} |`),
    '',
    'These pages are generated from the definitions of the kinds: `npm run generate`.\n',
  ].join('\n');
