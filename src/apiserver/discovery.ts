/** Kubernetes' discovery documents: which groups, versions, kinds and verbs there are. */
import { apiVersionOf, KINDS, type KindInfo } from '../api/registry.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

const kinds: readonly KindInfo[] = Object.values(KINDS);

/** The groups and versions that are served; the core group is the empty text. */
export const servedVersions = (): readonly { readonly group: string; readonly version: string }[] => {
  const seen = new Map(kinds.map((info) => [apiVersionOf(info), { group: info.group, version: info.version }]));
  return [...seen.values()];
};

/** `GET /api`. */
export const coreVersions = () => ({
  kind: 'APIVersions',
  versions: servedVersions()
    .filter(({ group }) => group === '')
    .map(({ version }) => version),
  serverAddressByClientCIDRs: [],
});

const versionEntry = (group: string, version: string) => ({ groupVersion: `${group}/${version}`, version });

const groupBody = (group: string) => {
  const versions = servedVersions()
    .filter((served) => served.group === group)
    .map(({ version }) => versionEntry(group, version));
  return { name: group, versions, preferredVersion: versions[0] };
};

/** `GET /apis`. */
export const groupList = () => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: [...new Set(servedVersions().map(({ group }) => group))].filter((group) => group !== '').map(groupBody),
});

/** `GET /apis/<group>`. */
export const groupDocument = (group: string) => ({ kind: 'APIGroup', apiVersion: 'v1', ...groupBody(group) });

const resourcesOf = (info: KindInfo) => [
  {
    name: info.plural,
    singularName: info.singular,
    namespaced: info.namespaced,
    kind: info.kind,
    verbs: VERBS,
    ...(info.shortNames.length === 0 ? {} : { shortNames: info.shortNames }),
  },
  ...(info.statusSubresource
    ? [
        {
          name: `${info.plural}/status`,
          singularName: '',
          namespaced: info.namespaced,
          kind: info.kind,
          verbs: ['get', 'patch', 'update'],
        },
      ]
    : []),
];

/** `GET /api/v1` and `GET /apis/<group>/<version>`. */
export const resourceList = (group: string, version: string) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: group === '' ? version : `${group}/${version}`,
  resources: kinds.filter((info) => info.group === group && info.version === version).flatMap(resourcesOf),
});

/** `GET /version`: the Kubernetes release whose API conventions are followed, which clients compare with their own. */
export const versionDocument = () => ({
  major: '1',
  minor: '32',
  gitVersion: 'v1.32.0+promoter',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'none',
  platform: `${process.platform}/${process.arch}`,
});
