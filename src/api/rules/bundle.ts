import { DIGEST_PATTERN, REPOSITORY_PATTERN, TAG_PATTERN } from '../image-reference.ts';
import { BAD_BRANCH_PATTERN } from '../names.ts';
import { gitUrl } from './checks.ts';
import { celPattern, filled, oneOf, pattern, type Rule, required } from './rule.ts';

const IMAGE = `(!has(self.spec) || !has(self.spec.type) || self.spec.type == 'image')`;
const HAS_IMAGES = 'has(self.spec) && has(self.spec.images) && size(self.spec.images) > 0';
const HAS_CONFIG = `${filled('spec.configRef.gitRepo')} && ${filled('spec.configRef.commitSHA')}`;
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
    message: 'must be an image repository without tag and digest, such as ghcr.io/acme/web',
    messageExpression: `"must be an image repository without tag and digest, such as ghcr.io/acme/web; got '" + self.repository + "'"`,
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
  immutableSpec('the spec of a Bundle is immutable: create a new Bundle instead'),
];
