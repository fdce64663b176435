/** Rules that several kinds share: durations, branches, paths, repository URLs. */
import { DURATION_HINT, DURATION_PATTERN, MAX_DURATION_TEXT, OVERLONG_DURATION_PATTERN } from '../duration.ts';
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

/** A text that is shown to people as one line: neither line breaks nor characters that hide or turn what follows. */
export const ONE_LINE: PatternCheck = {
  pattern: '[\\x00-\\x1f\\x7f-\\x{9f}\\x{2028}-\\x{202e}\\x{2066}-\\x{2069}]',
  refused: true,
  accepted: 'one line of text without control characters',
};

/** Says no more of an address than what it begins with, because the rest may hold a password. */
const beginning = (accepted: string, path: string): string =>
  `"must be ${accepted}; got one that begins with '" + self.${path}.split(':')[0].split('@')[0] + "'"`;

const INVISIBLE = '\\s\\x00-\\x1f\\x7f';
const WEB_ADDRESSES = {
  /** Of a page that people follow. */
  link: { pattern: `^https?://[^/@${INVISIBLE}]+(/[^${INVISIBLE}]*)?$`, accepted: 'an http or https URL without user or password' },
  /** Of a service, to which paths are added. */
  base: {
    pattern: `^https?://[^/@?#${INVISIBLE}]+(/[^?#${INVISIBLE}]*)?$`,
    accepted: 'an http or https URL without user, password and query',
  },
};

/** A web address that is there and not empty. */
export const webAddress = (at: string, path: string, use: 'link' | 'base'): Rule => {
  const { pattern: wanted, accepted } = WEB_ADDRESSES[use];
  return {
    at,
    rule: `!(${filled(path)}) || self.${path}.matches(${celPattern(wanted)})`,
    message: `must be ${accepted}`,
    messageExpression: beginning(accepted, path),
    fieldPath: `.${path}`,
  };
};

/** What a duration may be: above zero, zero or above, or at least a second, for what is asked again and again outside. */
export type DurationRange = 'positive' | 'notNegative' | 'interval';

const LONGEST = '87600h';
const RANGES: Readonly<Record<DurationRange, { readonly least: string; readonly words: string }>> = {
  positive: { least: "> duration('0s')", words: `that is greater than zero and at most ${LONGEST} (10 years)` },
  notNegative: { least: ">= duration('0s')", words: `that is not negative and at most ${LONGEST} (10 years)` },
  interval: { least: ">= duration('1s')", words: `from 1s to ${LONGEST} (10 years)` },
};

/** Rules for a duration: its syntax and its range. `message` replaces the usual sentence about the syntax. */
export const duration = (at: string, path: string, range: DurationRange, message?: string): readonly Rule[] => {
  const { messageExpression, ...plain } = pattern(at, path, { pattern: DURATION_PATTERN, accepted: DURATION_HINT });
  const { least, words } = RANGES[range];
  const given = `self.${path}`;
  // What comes before the comparisons keeps them from durations that cannot be computed with.
  const countable = `size(${given}) <= ${MAX_DURATION_TEXT} && !${given}.matches(${celPattern(OVERLONG_DURATION_PATTERN)})`;
  const within = `duration(${given}) ${least} && duration(${given}) <= duration('${LONGEST}')`;
  return [
    message === undefined ? { ...plain, ...(messageExpression === undefined ? {} : { messageExpression }) } : { ...plain, message },
    {
      at,
      rule: `!(${hasPath(path)}) || !${given}.matches(${celPattern(DURATION_PATTERN)}) || (${countable} && ${within})`,
      message: `must be a duration ${words}`,
      messageExpression: `"must be a duration ${words}; got '" + ${given} + "'"`,
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
  'https?://[A-Za-z0-9\\[][^\\s@?#]*',
  'ssh://([A-Za-z0-9._~-]+@)?[A-Za-z0-9\\[][^\\s@?#]*',
  'file:///\\S+',
  '([A-Za-z0-9_.][A-Za-z0-9._~-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:[^:/\\s\\-][^\\s:]*',
];

const REPOSITORY_URL = 'a repository URL with https, http, ssh (also user@host:path) or file, without password, token and query';

/**
 * A repository URL. Helper transports (`ext::…`) can run programs, so only the schemes that are served are accepted; the message repeats no
 * more than the scheme, because the rest may hold a password.
 */
export const gitUrl = (at: string, path: string): Rule => ({
  at,
  rule: `!(${filled(path)}) || self.${path}.matches(${celPattern(`^(${URL_FORMS.join('|')})$`)})`,
  message: `must be ${REPOSITORY_URL}`,
  messageExpression: beginning(REPOSITORY_URL, path),
  fieldPath: `.${path}`,
});
