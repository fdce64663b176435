/** Kubernetes' `Table` form of objects, which its command-line tool prints. */
import type { Resource } from '../api/meta.ts';
import type { KindInfo, KindName } from '../api/registry.ts';
import { isJsonObject, type JsonObject } from './object-body.ts';
import type { Query } from './query.ts';

type Cell = string | number;

interface Column {
  readonly name: string;
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: 0 | 1;
  readonly cell: (object: Resource) => Cell;
}

const at = (object: unknown, path: string): unknown => {
  let value = object;
  for (const key of path.split('.')) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
};

const field = (name: string, path: string, description: string, priority: 0 | 1 = 0): Column => ({
  name,
  description,
  priority,
  cell: (object) => {
    const value = at(object, path);
    return typeof value === 'string' || typeof value === 'number' ? value : '';
  },
});

const count = (name: string, path: string, description: string): Column => ({
  name,
  description,
  priority: 0,
  cell: (object) => {
    const value = at(object, path);
    return Array.isArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : 0;
  },
});

const COLUMNS: Partial<Record<KindName, readonly Column[]>> = {
  Bundle: [
    field('Pipeline', 'spec.pipeline', 'Pipeline that promotes it.'),
    field('Version', 'status.version', 'Version that names branches.'),
    field('Phase', 'status.phase', 'What has become of it.'),
  ],
  Pipeline: [
    count('Environments', 'spec.environments', 'Number of environments.'),
    field('Repository', 'spec.git.url', 'Where promotions are written.', 1),
  ],
  PromotionStep: [
    field('Bundle', 'spec.bundle', 'Bundle that is promoted.'),
    field('Environment', 'spec.environment', 'Where it goes.'),
    field('State', 'status.state', 'Where it stands.'),
    field('Message', 'status.message', 'Why it stands there.', 1),
  ],
  PolicyGate: [field('Expression', 'spec.expression', 'Expression that must be true.')],
  AuditEvent: [
    field('Action', 'spec.action', 'What happened.'),
    field('Pipeline', 'spec.pipeline', 'In which Pipeline.'),
    field('Environment', 'spec.environment', 'In which environment.'),
    field('Message', 'spec.message', 'In a sentence.', 1),
  ],
  Secret: [field('Type', 'type', 'Type of the data.'), count('Data', 'data', 'Number of keys.')],
  ConfigMap: [count('Data', 'data', 'Number of keys.')],
  Namespace: [field('Status', 'status.phase', 'Active or Terminating.')],
  Event: [
    field('Type', 'type', 'Normal or Warning.'),
    field('Reason', 'reason', 'Why, for programs.'),
    field('Message', 'message', 'Why, for people.'),
  ],
  Deployment: [
    field('Desired', 'spec.replicas', 'Replicas that are wanted.'),
    field('Up-to-date', 'status.updatedReplicas', 'Replicas of the latest template.'),
    field('Available', 'status.availableReplicas', 'Replicas that serve.'),
  ],
  Job: [field('Succeeded', 'status.succeeded', 'Pods that succeeded.'), field('Failed', 'status.failed', 'Pods that failed.')],
  Lease: [field('Holder', 'spec.holderIdentity', 'Who holds it.')],
};

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** An age as people read it: `42s`, `3m20s`, `5h`, `12d`. Milliseconds in. */
export const ageText = (milliseconds: number): string => {
  const age = Math.max(0, milliseconds);
  if (age < 2 * MINUTE) return `${Math.floor(age / SECOND)}s`;
  if (age < 10 * MINUTE) return `${Math.floor(age / MINUTE)}m${Math.floor((age % MINUTE) / SECOND)}s`;
  if (age < 3 * HOUR) return `${Math.floor(age / MINUTE)}m`;
  if (age < 2 * DAY) return `${Math.floor(age / HOUR)}h`;
  return `${Math.floor(age / DAY)}d`;
};

const NAME: Column = { name: 'Name', description: 'Name, unique in its namespace.', priority: 0, cell: ({ metadata }) => metadata.name };

const ageColumn = (now: number): Column => ({
  name: 'Age',
  description: 'Time since it was created.',
  priority: 0,
  cell: ({ metadata }) => (metadata.creationTimestamp ? ageText(now - Date.parse(metadata.creationTimestamp)) : '<unknown>'),
});

const columnsOf = (info: KindInfo, now: number): readonly Column[] => [NAME, ...(COLUMNS[info.kind] ?? []), ageColumn(now)];

const definition = ({ name, description, priority }: Column) => ({
  name,
  type: 'string',
  format: name === 'Name' ? 'name' : '',
  description,
  priority,
});

const rowObject = (object: Resource, include: Query['includeObject']) => {
  if (include === 'None') return {};
  if (include === 'Object') return { object };
  return { object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata } };
};

/** What a table is made from: objects of one kind, metadata of the list, and how much of each object goes along. `now` in milliseconds. */
export interface TableRequest {
  readonly info: KindInfo;
  readonly objects: readonly Resource[];
  readonly metadata: JsonObject;
  readonly include: Query['includeObject'];
  readonly now: number;
}

/** The objects as a table. */
export const tableOf = ({ info, objects, metadata, include, now }: TableRequest): object => {
  const columns = columnsOf(info, now);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns.map(definition),
    rows: objects.map((object) => ({ cells: columns.map((column) => column.cell(object)), ...rowObject(object, include) })),
  };
};

/** Whether the client asks for tables before anything else that is served. */
export const wantsTable = (accept: string | undefined): boolean =>
  (accept ?? '')
    .split(',')
    .some((type) => /^\s*application\/json\s*;/.test(type) && /;\s*as=Table\b/.test(type) && /;\s*v=v1\b/.test(type));

const isResource = (value: unknown): value is Resource & JsonObject =>
  isJsonObject(value) && isJsonObject(value['metadata']) && typeof value['metadata']['name'] === 'string';

/** A list or an object, as it would be answered, as a table. */
export const tableFor = (info: KindInfo, body: object, shape: Pick<TableRequest, 'include' | 'now'>): object => {
  const items: unknown = Reflect.get(body, 'items');
  const metadata: unknown = Reflect.get(body, 'metadata');
  if (Array.isArray(items)) {
    return tableOf({ info, objects: items.filter(isResource), metadata: isJsonObject(metadata) ? metadata : {}, ...shape });
  }
  if (!isResource(body)) return body;
  return tableOf({ info, objects: [body], metadata: { resourceVersion: body.metadata.resourceVersion }, ...shape });
};
