/** Rules that several kinds share: durations, branches, paths, repository URLs. */
import { DURATION_HINT, DURATION_PATTERN } from '../duration.ts';
import { BAD_BRANCH_PATTERN } from '../names.ts';
import { celPattern, filled, hasPath, type PatternCheck, pattern, type Rule } from './rule.ts';

/** An environment name or anything else that must be a DNS label. */
export const DNS_LABEL: PatternCheck = {
  pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
  accepted: 'a DNS label: at most 63 of a-z, 0-9 and -, with a letter or digit at both ends',
};

/** The name of a Kubernetes resource. */
export const DNS_SUBDOMAIN: PatternCheck = {
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  accepted: 'the name of a resource: a-z, 0-9, - and dots, with a letter or digit at both ends',
};

const BRANCH = 'a branch name that git accepts, such as main or env/prod';

/** A path below the root of a repository. */
export const RELATIVE_PATH: PatternCheck = {
  pattern: '^/|(^|/)\\.\\.(/|$)|(?i:(^|/)\\.git(/|$))|[\\x00-\\x1f\\x7f]',
  refused: true,
  accepted: 'a path below the root of the repository, without .. and .git',
};

/** A web address. */
export const WEB_ADDRESS: PatternCheck = {
  pattern: '^https?://[^/@\\s]+(/\\S*)?$',
  accepted: 'an http or https URL without user or password',
};

/** Rules for a duration; `positive` refuses zero and negative ones. `message` replaces the usual sentence. */
export const duration = (at: string, path: string, options: { readonly positive: boolean; readonly message?: string }): readonly Rule[] => {
  const syntax = pattern(at, path, { pattern: DURATION_PATTERN, accepted: DURATION_HINT });
  const { messageExpression, ...plain } = syntax;
  const bound = options.positive ? 'greater than zero' : 'not negative';
  const range = `!self.${path}.startsWith('-')${options.positive ? ` && self.${path}.matches('[1-9]')` : ''}`;
  return [
    options.message === undefined ? syntax : { ...plain, message: options.message },
    {
      at,
      rule: `!(${hasPath(path)}) || !self.${path}.matches(${celPattern(DURATION_PATTERN)}) || (${range})`,
      message: `must be a duration that is ${bound}`,
      messageExpression: `"must be a duration that is ${bound}; got '" + self.${path} + "'"`,
      fieldPath: `.${path}`,
    },
  ];
};

/** A field that is there must be a branch name; with `prefix`, the beginning of one. */
export const branch = (at: string, path: string, options: { readonly prefix?: boolean } = {}): Rule => {
  const subject = options.prefix ? `(self.${path} + 'x')` : `self.${path}`;
  const nonEmpty = options.prefix ? '' : ` && size(self.${path}) > 0`;
  const accepted = options.prefix ? 'the beginning of a branch name that git accepts, such as env/' : BRANCH;
  return {
    at,
    rule: `!(${hasPath(path)}) || (!${subject}.matches(${celPattern(BAD_BRANCH_PATTERN)})${nonEmpty})`,
    message: `must be ${accepted}`,
    messageExpression: `"must be ${accepted}; got '" + self.${path} + "'"`,
    fieldPath: `.${path}`,
  };
};

const URL_FORMS = [
  'https?://[A-Za-z0-9\\[][^\\s@]*',
  'ssh://([A-Za-z0-9._~-]+@)?[A-Za-z0-9\\[][^\\s@]*',
  'file:///\\S+',
  '([A-Za-z0-9_.][A-Za-z0-9._~-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:[^:/\\s\\-][^\\s:]*',
];

/**
 * A repository URL. Helper transports (`ext::…`) can run programs, so only the schemes that are served are accepted; the message repeats no
 * more than the scheme, because the rest may hold a password.
 */
export const gitUrl = (at: string, path: string): Rule => ({
  at,
  rule: `!(${filled(path)}) || self.${path}.matches(${celPattern(`^(${URL_FORMS.join('|')})$`)})`,
  message: 'must be a repository URL with https, http, ssh (also user@host:path) or file, without password or token',
  messageExpression: `"must be a repository URL with https, http, ssh (also user@host:path) or file, without password or token; got one that begins with '" + self.${path}.split(':')[0].split('@')[0] + "'"`,
  fieldPath: `.${path}`,
});
