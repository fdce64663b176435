import { aliasesOf } from '../aliases.ts';
import { BAD_BRANCH_PATTERN } from '../names.ts';
import { branch, DNS_LABEL, DNS_SUBDOMAIN, duration, gitUrl, RELATIVE_PATH, webAddress } from './checks.ts';
import { celList, celPattern, filled, hasPath, oneOf, pattern, type Rule, required } from './rule.ts';

const ENVIRONMENT = 'spec.environments[]';
const HOSTED = ['host-a', 'host-b', ...aliasesOf('provider')];
const STRATEGIES = ['overlay', 'chart', 'custom', ...aliasesOf('strategy')];
const NO_ENVIRONMENTS = '!has(self.spec) || !has(self.spec.environments)';

const RESOURCE: readonly Rule[] = [
  {
    at: '',
    rule: '!has(self.metadata.name) || size(self.metadata.name) <= 63',
    message: 'metadata.name of a Pipeline must be at most 63 characters, because it is used as a label',
    fieldPath: '.metadata.name',
  },
  {
    at: '',
    rule: 'has(self.spec) && has(self.spec.environments) && size(self.spec.environments) > 0',
    message: 'spec.environments must contain at least one environment',
    fieldPath: '.spec.environments',
    reason: 'FieldValueRequired',
  },
  {
    at: '',
    rule: `${NO_ENVIRONMENTS} || (${filled('spec.git.url')}) || self.spec.environments.all(e, has(e.gitRepo) && size(e.gitRepo) > 0)`,
    message: 'each environment must have a non-empty gitRepo',
    fieldPath: '.spec.environments',
    reason: 'FieldValueRequired',
  },
  required('', 'spec.git.provider', 'spec.git.provider must be given: host-a (or github), host-b (or gitlab), local or git'),
  {
    at: 'spec',
    rule: '!has(self.environments) || self.environments.all(e, !has(e.name) || self.environments.exists_one(o, has(o.name) && o.name == e.name))',
    message: 'environment names must be unique within the Pipeline',
    // No reason Duplicate: with it a cluster drops the message.
    fieldPath: '.environments',
  },
  {
    at: 'spec',
    rule: `!has(self.environments) || (${hasPath('git.layout')} && self.git.layout == 'branch') || self.environments.all(e, !has(e.renderManifests) || !e.renderManifests)`,
    message: 'renderManifests needs spec.git.layout branch',
    fieldPath: '.environments',
  },
  {
    at: 'spec',
    rule: `!has(self.environments) || !(${hasPath('git.layout')}) || self.git.layout != 'branch' || self.environments.all(e, !has(e.path) || size(e.path) == 0 || !e.path.matches(${celPattern(BAD_BRANCH_PATTERN)}))`,
    message: 'with layout branch the path of an environment must be a branch name that git accepts, such as env/prod',
    fieldPath: '.environments',
  },
  {
    at: 'spec',
    rule: "!has(self.supersession) || self.supersession != 'overtake'",
    message: "'overtake' is not available in this version; accepted is immediate",
    fieldPath: '.supersession',
  },
  {
    ...oneOf('spec', 'supersession', ['immediate']),
    rule: "!has(self.supersession) || self.supersession in ['immediate', 'overtake']",
  },
];

const GIT: readonly Rule[] = [
  gitUrl('spec.git', 'url'),
  {
    at: 'spec.git',
    rule: `!(${filled('provider')}) || self.provider in ${celList([...HOSTED, 'local', 'git'])}`,
    message: 'must be one of: host-a (or github), host-b (or gitlab), local, git',
    messageExpression: `"must be one of: host-a (or github), host-b (or gitlab), local, git; got '" + self.provider + "'"`,
    fieldPath: '.provider',
  },
  {
    at: 'spec.git',
    rule: `!has(self.provider) || !(self.provider in ${celList(HOSTED)}) || (${filled('secretRef.name')})`,
    message: 'spec.git.secretRef.name must not be empty: it names the Secret whose key token holds the access token',
    fieldPath: '.secretRef',
    reason: 'FieldValueRequired',
  },
  {
    at: 'spec.git.secretRef',
    rule: `!(${filled('name')}) || self.name.matches(${celPattern(DNS_SUBDOMAIN.pattern)})`,
    message: `must be ${DNS_SUBDOMAIN.accepted}`,
    messageExpression: `"must be ${DNS_SUBDOMAIN.accepted}; got '" + self.name + "'"`,
    fieldPath: '.name',
  },
  oneOf('spec.git', 'layout', ['directory', 'branch']),
  oneOf('spec.git', 'webhookMode', ['webhook', 'polling']),
  branch('spec.git', 'branch'),
  branch('spec.git', 'sourceBranch'),
  branch('spec.git', 'branchPrefix', { prefix: true }),
  ...duration('spec.git', 'pollInterval', 'interval'),
  webAddress('spec.git', 'apiURL', 'base'),
];

const named = (type: string, alias: string, field: string): Rule => ({
  at: `${ENVIRONMENT}.health`,
  rule: `!has(self.type) || !(self.type in ${celList([type, alias])}) || (${filled(`${field}.name`)})`,
  message: `health.${field}.name must not be empty when health.type is ${type}`,
  fieldPath: `.${field}`,
  reason: 'FieldValueRequired',
});

const ENVIRONMENTS: readonly Rule[] = [
  required(ENVIRONMENT, 'name', 'an environment must have a non-empty name'),
  {
    ...pattern(ENVIRONMENT, 'name', DNS_LABEL),
    rule: `!(${filled('name')}) || self.name.matches(${celPattern(DNS_LABEL.pattern)})`,
  },
  {
    at: ENVIRONMENT,
    rule: `!(${hasPath('update.strategy')}) || self.update.strategy in ${celList(STRATEGIES)}`,
    message: "each environment's updateStrategy must be one of: overlay, chart, custom",
    fieldPath: '.update.strategy',
  },
  gitUrl(ENVIRONMENT, 'gitRepo'),
  pattern(ENVIRONMENT, 'path', RELATIVE_PATH),
  pattern(ENVIRONMENT, 'sourcePath', RELATIVE_PATH),
  pattern(`${ENVIRONMENT}.update.chart`, 'file', RELATIVE_PATH),
  oneOf(ENVIRONMENT, 'approval', ['auto', 'pr-review']),
  oneOf(ENVIRONMENT, 'merge', ['human', 'promoter']),
  oneOf(ENVIRONMENT, 'onHealthFailure', ['none', 'abort', 'rollback']),
  oneOf(`${ENVIRONMENT}.bake`, 'policy', ['reset-on-alarm', 'fail-on-alarm']),
  oneOf(`${ENVIRONMENT}.delivery`, 'delegate', ['none', 'progressiveRollout', 'canaryAnalysis', ...aliasesOf('delegate')]),
  oneOf(`${ENVIRONMENT}.health`, 'type', [
    ...['resource', 'gitopsApp', 'gitopsKustomization', 'progressiveRollout', 'canaryAnalysis'],
    ...aliasesOf('healthType'),
  ]),
  named('gitopsApp', 'argocd', 'gitopsApp'),
  named('gitopsKustomization', 'flux', 'gitopsKustomization'),
  ...duration(`${ENVIRONMENT}.health`, 'timeout', 'positive'),
  ...duration(`${ENVIRONMENT}.health`, 'settle', 'notNegative'),
  required(`${ENVIRONMENT}.steps[]`, 'uses', 'a step must have a non-empty uses: a built-in step or the name of a custom one'),
  {
    // Not a pattern: the cost of one, times all steps of all environments, is more than a cluster admits.
    at: `${ENVIRONMENT}.steps[].webhook`,
    rule: `!(${filled('url')}) || self.url.startsWith('https://') || self.url.startsWith('http://')`,
    message: 'must be an http or https URL',
    messageExpression: `"must be an http or https URL; got '" + self.url + "'"`,
    fieldPath: '.url',
  },
];

/** Admission of Pipelines. */
export const PIPELINE_RULES: readonly Rule[] = [...RESOURCE, ...GIT, ...ENVIRONMENTS];
