/** The OpenAPI documents of the kinds, one for each group and version, as Kubernetes clients look for them. */
import { apiVersionOf, KINDS, type KindInfo } from '../api/registry.ts';

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

const pathOf = ({ group, version }: GroupVersion): string => (group === '' ? `api/${version}` : `apis/${group}/${version}`);

const kindsOf = ({ group, version }: GroupVersion): readonly KindInfo[] =>
  Object.values(KINDS).filter((info) => info.group === group && info.version === version);

/** `GET /openapi/v3`. */
export const openApiIndex = (versions: readonly GroupVersion[]) => ({
  paths: Object.fromEntries(versions.map((served) => [pathOf(served), { serverRelativeURL: `/openapi/v3/${pathOf(served)}` }])),
});

const identity = ({ group, version, kind }: KindInfo) => ({ group, version, kind });

const schemaName = (info: KindInfo): string => `${(info.group || 'core').split('.').toReversed().join('.')}.${info.version}.${info.kind}`;

const schemaOf = (info: KindInfo) => ({
  type: 'object',
  description: info.description,
  properties: {
    apiVersion: { type: 'string', description: `Always ${apiVersionOf(info)}.` },
    kind: { type: 'string', description: `Always ${info.kind}.` },
    metadata: { type: 'object', description: "Kubernetes' ObjectMeta.", 'x-kubernetes-preserve-unknown-fields': true },
    ...(info.specSchema === undefined ? {} : { spec: info.specSchema }),
    ...(info.statusSchema === undefined ? {} : { status: info.statusSchema }),
  },
  ...(info.specSchema === undefined ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
  'x-kubernetes-group-version-kind': [identity(info)],
});

const parameter = (name: string, where: 'path' | 'query', description: string) => ({
  name,
  in: where,
  description,
  ...(where === 'path' ? { required: true } : {}),
  schema: { type: 'string', uniqueItems: true },
});

const WRITE_PARAMETERS = [
  parameter('dryRun', 'query', 'All: check everything and write nothing.'),
  parameter('fieldManager', 'query', 'Name of the client.'),
  parameter('fieldValidation', 'query', 'Ignore, Warn (default) or Strict: what becomes of unknown fields.'),
];

const operation = (info: KindInfo, action: string, parameters: readonly object[]) => ({
  'x-kubernetes-action': action,
  'x-kubernetes-group-version-kind': identity(info),
  operationId: `${action}${info.kind}`,
  parameters,
  responses: {
    200: { description: 'OK', content: { 'application/json': { schema: { $ref: `#/components/schemas/${schemaName(info)}` } } } },
  },
});

const pathsOf = (info: KindInfo): Readonly<Record<string, object>> => {
  const base = `/${pathOf(info)}${info.namespaced ? '/namespaces/{namespace}' : ''}/${info.plural}`;
  const parameters = info.namespaced ? [parameter('namespace', 'path', 'Namespace.')] : [];
  const named = [...parameters, parameter('name', 'path', `Name of the ${info.kind}.`)];
  return {
    [base]: { parameters, get: operation(info, 'list', []), post: operation(info, 'post', WRITE_PARAMETERS) },
    [`${base}/{name}`]: {
      parameters: named,
      get: operation(info, 'get', []),
      put: operation(info, 'put', WRITE_PARAMETERS),
      patch: operation(info, 'patch', WRITE_PARAMETERS),
      delete: operation(info, 'delete', []),
    },
  };
};

/** `GET /openapi/v3/<path of the group and version>`. */
export const openApiDocument = (served: GroupVersion) => {
  const kinds = kindsOf(served);
  return {
    openapi: '3.0.0',
    info: { title: 'promoter', version: served.version },
    paths: Object.assign({}, ...kinds.map(pathsOf)),
    components: { schemas: Object.fromEntries(kinds.map((info) => [schemaName(info), schemaOf(info)])) },
  };
};
