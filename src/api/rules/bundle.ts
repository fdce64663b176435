import { DIGEST_PATTERN, REPOSITORY_PATTERN, TAG_PATTERN } from '../image-reference.ts';
import { BUNDLE_PHASES } from '../kinds/bundle.ts';
import { BAD_BRANCH_PATTERN } from '../names.ts';
import { gitUrl, ONE_LINE, webAddress } from './checks.ts';
import { celPattern, filled, oneOf, type PatternCheck, pattern, type Rule, required } from './rule.ts';

const IMAGE = `(!has(self.spec) || !has(self.spec.type) || self.spec.type == 'image')`;
const HAS_IMAGES = 'has(self.spec) && has(self.spec.images) && size(self.spec.images) > 0';
const HAS_CONFIG = `${filled('spec.configRef.gitRepo')} && ${filled('spec.configRef.commitSHA')}`;
/** Two entries of one repository, in a list of images. */
const ONCE = 'self.images.exists_one(o, has(o.repository) && o.repository == i.repository)';

const PROVENANCE = 'spec.provenance';
const DAYS = ['(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])', '(0[469]|11)-(0[1-9]|[12][0-9]|30)', '02-(0[1-9]|[12][0-9])'];
const TIME = '([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)([.,][0-9]{1,9})?)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])';

/** A field of provenance that is there and not empty must match; CI often gives what it has not as an empty text. */
const filledProvenance = (field: string, check: PatternCheck): Rule => ({
  ...pattern(PROVENANCE, field, check),
  rule: `!(${filled(field)}) || ${check.refused ? '!' : ''}self.${field}.matches(${celPattern(check.pattern)})`,
});

const PROVENANCE_RULES: readonly Rule[] = [
  filledProvenance('commitSHA', { pattern: '^[0-9a-fA-F]{7,64}$', accepted: 'a commit: 7 to 64 hexadecimal digits' }),
  webAddress(PROVENANCE, 'ciRunURL', 'link'),
  filledProvenance('author', ONE_LINE),
  filledProvenance('timestamp', {
    pattern: `^[0-9]{4}-(${DAYS.join('|')})T${TIME}$`,
    accepted: 'a time in ISO 8601 such as 2026-03-02T09:30:00Z',
  }),
];

const typeIs = (type: string) => `has(self.spec) && has(self.spec.type) && self.spec.type == '${type}'`;

/** Rules of kinds whose spec never changes. */
export const immutableSpec = (message: string): Rule => ({
  at: '',
  rule: '(has(self.spec) && has(oldSelf.spec)) ? self.spec == oldSelf.spec : (has(self.spec) == has(oldSelf.spec))',
  message,
  fieldPath: '.spec',
  reason: 'FieldValueForbidden',
});

/** Admission of Bundles. */
export const BUNDLE_RULES: readonly Rule[] = [
  required('', 'spec.pipeline', 'spec.pipeline must not be empty'),
  {
    at: '',
    rule: `!${IMAGE} || (${HAS_IMAGES})`,
    message: "spec.images must contain at least one image when spec.type is 'image'",
    fieldPath: '.spec.images',
    reason: 'FieldValueRequired',
  },
  oneOf('spec', 'type', ['image', 'config', 'mixed']),
  {
    at: '',
    rule: `!(${typeIs('config')}) || (${HAS_CONFIG})`,
    message: "spec.configRef.gitRepo and spec.configRef.commitSHA must not be empty when spec.type is 'config'",
    fieldPath: '.spec.configRef',
    reason: 'FieldValueRequired',
  },
  {
    at: '',
    rule: `!(${typeIs('mixed')}) || (${HAS_IMAGES}) || (${HAS_CONFIG})`,
    message: "spec.images or spec.configRef (gitRepo and commitSHA) must be given when spec.type is 'mixed'",
    fieldPath: '.spec.images',
    reason: 'FieldValueRequired',
  },
  {
    at: 'spec',
    rule: `!has(self.images) || self.images.all(i, !(has(i.repository) && size(i.repository) > 0) || ${ONCE})`,
    message: 'each repository may be given once',
    // The text is put together inside of map: a cluster reckons with any length for what stands behind its brackets.
    messageExpression: `self.images.map(i, has(i.repository) && size(i.repository) > 0 && !${ONCE}, "each repository may be given once; '" + i.repository + "' is given more than once, so it is not clear which image is meant")[0]`,
    fieldPath: '.images',
  },
  gitUrl('spec.configRef', 'gitRepo'),
  {
    at: 'spec.configRef',
    rule: `!(${filled('commitSHA')}) || self.commitSHA.matches('^[0-9a-fA-F]{4,64}$')`,
    message: 'must be a commit: 4 to 64 hexadecimal digits',
    messageExpression: `"must be a commit: 4 to 64 hexadecimal digits; got '" + self.commitSHA + "'"`,
    fieldPath: '.commitSHA',
  },
  required('spec.images[]', 'repository', 'an image must have a non-empty repository'),
  {
    at: 'spec.images[]',
    rule: `!(${filled('repository')}) || self.repository.matches(${celPattern(REPOSITORY_PATTERN)})`,
    message: 'must be an image repository in lower case without tag and digest, such as ghcr.io/acme/web',
    messageExpression: `"must be an image repository in lower case without tag and digest, such as ghcr.io/acme/web; got '" + self.repository + "'"`,
    fieldPath: '.repository',
  },
  {
    at: 'spec.images[]',
    rule: `(${filled('tag')}) || (${filled('digest')})`,
    message: 'an image must have a tag, a digest or both',
    fieldPath: '.tag',
    reason: 'FieldValueRequired',
  },
  {
    at: 'spec.images[]',
    rule: `!(${filled('tag')}) || self.tag.matches(${celPattern(TAG_PATTERN)})`,
    message: 'must be a tag: at most 128 letters, digits, _, . and -, not beginning with . or -',
    messageExpression: `"must be a tag: at most 128 letters, digits, _, . and -, not beginning with . or -; got '" + self.tag + "'"`,
    fieldPath: '.tag',
  },
  {
    at: 'spec.images[]',
    rule: `!(${filled('digest')}) || self.digest.matches(${celPattern(DIGEST_PATTERN)})`,
    message: 'must be a digest of the form sha256:<hex>',
    messageExpression: `"must be a digest of the form sha256:<hex>; got '" + self.digest + "'"`,
    fieldPath: '.digest',
  },
  pattern('spec', 'version', {
    // Versions stand inside a branch name: `promoter/<pipeline>-<version>/<environment>`.
    pattern: `/|${BAD_BRANCH_PATTERN}`,
    refused: true,
    accepted: 'a version that can stand in a branch name, such as 1.29.0',
  }),
  ...PROVENANCE_RULES,
  oneOf('status', 'phase', BUNDLE_PHASES),
  {
    at: 'status',
    rule: '!has(oldSelf.sequence) || !has(self.sequence) || self.sequence == oldSelf.sequence',
    message: 'the place of a Bundle in the order does not change once it has one',
    fieldPath: '.sequence',
    reason: 'FieldValueForbidden',
  },
  immutableSpec('the spec of a Bundle is immutable: create a new Bundle instead'),
];
