/** CustomResourceDefinitions from the one definition of each kind. */
import { GROUP } from './meta.ts';
import { KINDS, type KindInfo, type KindName } from './registry.ts';
import type { Rule } from './rules/rule.ts';
import { RULES } from './rules/table.ts';
import { isObject, type Json, type StructuralSchema } from './structural.ts';

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'boolean';
  readonly jsonPath: string;
  readonly priority?: number;
}

const column = (name: string, jsonPath: string, type: PrinterColumn['type'] = 'string'): PrinterColumn => ({ name, type, jsonPath });
const AGE = column('Age', '.metadata.creationTimestamp', 'date');

const COLUMNS: Readonly<Partial<Record<KindName, readonly PrinterColumn[]>>> = {
  Bundle: [
    column('Pipeline', '.spec.pipeline'),
    column('Type', '.spec.type'),
    column('Version', '.status.version'),
    column('Phase', '.status.phase'),
  ],
  Pipeline: [column('Repository', '.spec.git.url'), column('Provider', '.spec.git.provider')],
  Graph: [column('Bundle', '.spec.bundle'), column('Accepted', '.status.conditions[?(@.type=="Accepted")].status')],
  PromotionStep: [
    column('Bundle', '.spec.bundle'),
    column('Environment', '.spec.environment'),
    column('State', '.status.state'),
    column('PR', '.status.prURL'),
  ],
  PolicyGate: [column('Result', '.status.result'), column('Evaluated', '.status.lastEvaluated', 'date')],
  Subscription: [column('Type', '.spec.type'), column('Pipeline', '.spec.pipeline'), column('Last seen', '.status.lastSeen')],
  AuditEvent: [
    column('Action', '.spec.action'),
    column('Pipeline', '.spec.pipeline'),
    column('Bundle', '.spec.bundle'),
    column('Environment', '.spec.environment'),
  ],
  ScheduleClock: [column('Interval', '.spec.interval'), column('Last tick', '.status.lastTick', 'date')],
  MetricCheck: [column('Environment', '.spec.environment'), column('Value', '.status.value'), column('Result', '.status.result')],
};

/** The columns that a kind shows in tables, besides its name; age comes last. */
export const printerColumns = (kind: KindName): readonly PrinterColumn[] => [...(COLUMNS[kind] ?? []), AGE];

/** The kinds of this service, in the order of the registry. */
export const ourKinds = (): readonly KindInfo[] => Object.values(KINDS).filter((info) => info.group === GROUP);

/** The schema of a whole resource, without rules. */
export const resourceSchema = (info: KindInfo): StructuralSchema => ({
  type: 'object',
  description: info.description,
  properties: {
    apiVersion: { type: 'string', description: `${GROUP}/${info.version}` },
    kind: { type: 'string', description: info.kind },
    metadata: { type: 'object' },
    ...(info.specSchema === undefined ? {} : { spec: info.specSchema }),
    ...(info.statusSchema === undefined ? {} : { status: info.statusSchema }),
  },
});

const validation = (rule: Rule): Json => ({
  rule: rule.rule,
  message: rule.message,
  ...(rule.messageExpression === undefined ? {} : { messageExpression: rule.messageExpression }),
  // A cluster takes only paths of the schema, and metadata is not in it.
  ...(rule.fieldPath === undefined || rule.fieldPath.startsWith('.metadata') ? {} : { fieldPath: rule.fieldPath }),
  ...(rule.reason === undefined ? {} : { reason: rule.reason }),
});

const below = (path: string, step: string): string => {
  if (step === '[]') return `${path}[]`;
  return path === '' ? step : `${path}.${step}`;
};

const withRules = (schema: StructuralSchema, rules: readonly Rule[], path: string): Json => {
  const here = rules.filter((rule) => rule.at === path).map(validation);
  const properties = Object.entries(schema.properties ?? {}).map(([name, child]) => [name, withRules(child, rules, below(path, name))]);
  return {
    ...JSON.parse(JSON.stringify(schema)),
    ...(schema.properties === undefined ? {} : { properties: Object.fromEntries(properties) }),
    ...(schema.items === undefined ? {} : { items: withRules(schema.items, rules, below(path, '[]')) }),
    ...(here.length === 0 ? {} : { 'x-kubernetes-validations': here }),
  };
};

/** The schema of a kind with its rules at their nodes, as a CustomResourceDefinition carries it. */
export const schemaWithRules = (info: KindInfo): Json => withRules(resourceSchema(info), RULES[info.kind] ?? [], '');

/** The CustomResourceDefinition of a kind (apiextensions.k8s.io/v1, Kubernetes 1.28 or newer). */
export const customResourceDefinition = (info: KindInfo): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${info.plural}.${info.group}` },
  spec: {
    group: info.group,
    names: {
      kind: info.kind,
      listKind: `${info.kind}List`,
      plural: info.plural,
      singular: info.singular,
      ...(info.shortNames.length === 0 ? {} : { shortNames: info.shortNames }),
      categories: ['promoter'],
    },
    scope: info.namespaced ? 'Namespaced' : 'Cluster',
    versions: [
      {
        name: info.version,
        served: true,
        storage: true,
        ...(info.statusSubresource ? { subresources: { status: {} } } : {}),
        additionalPrinterColumns: printerColumns(info.kind),
        schema: { openAPIV3Schema: schemaWithRules(info) },
      },
    ],
  },
});

/** Keywords that make a schema not structural, or that no combinator of ours makes. */
const FORBIDDEN: readonly string[] = [
  ...['anyOf', 'allOf', 'oneOf', 'not', 'const', 'patternProperties', '$ref', '$defs', 'definitions', 'dependencies', 'uniqueItems'],
];

/** Where a schema breaks the rules for structural schemas; empty when a cluster would take it. */
export const structuralProblems = (schema: unknown, path = ''): readonly string[] => {
  const where = path === '' ? 'the root' : path;
  if (!isObject(schema)) return [`${where} is no schema`];
  const problems = FORBIDDEN.filter((keyword) => keyword in schema).map((keyword) => `${where} uses ${keyword}`);
  const type = schema['type'];
  if (typeof type !== 'string') problems.push(`${where} has no type`);
  const { properties, additionalProperties, items } = schema;
  if (properties !== undefined && additionalProperties !== undefined)
    problems.push(`${where} has both properties and additionalProperties`);
  if (typeof additionalProperties === 'boolean') problems.push(`${where} has boolean additionalProperties`);
  if (type === 'array' && items === undefined) problems.push(`${where} is a list without items`);
  if (path.startsWith('.metadata') && (properties !== undefined || schema['x-kubernetes-validations'] !== undefined)) {
    problems.push(`${where} restricts metadata`);
  }
  return [
    ...problems,
    ...(isObject(properties) ? Object.entries(properties).flatMap(([name, child]) => structuralProblems(child, `${path}.${name}`)) : []),
    ...(items === undefined ? [] : structuralProblems(items, `${path}[]`)),
    ...(isObject(additionalProperties) ? structuralProblems(additionalProperties, `${path}{}`) : []),
  ];
};
