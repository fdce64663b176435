/** Names that are made from other names. All are deterministic, so that a repeated effect meets itself. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { BundleSpec, Image } from './kinds/bundle.ts';

const NAME_MAX = 253;
const LABEL_MAX = 63;
/** Leaves room for `-<environment>`, so that the names of a Bundle's steps stay readable. */
const BUNDLE_NAME_MAX = NAME_MAX - LABEL_MAX - 1;

const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** The first hexadecimal digits of a SHA-256 over the parts; their borders count. */
const hash = (digits: number, ...parts: readonly string[]): string =>
  bytesToHex(sha256(utf8ToBytes(JSON.stringify(parts)))).slice(0, digits);

/** Whether the text is a DNS label: at most 63 of a-z, 0-9 and `-`, with a letter or digit at both ends. */
export const isDnsLabel = (text: string): boolean => DNS_LABEL.test(text);

/** Whether the text is a DNS subdomain, the form of Kubernetes names: at most 253 characters, labels joined by dots. */
export const isDnsSubdomain = (text: string): boolean => text.length <= NAME_MAX && DNS_SUBDOMAIN.test(text);

/** Whether Kubernetes takes the text as the value of a label. */
export const isLabelValue = (text: string): boolean => text.length <= LABEL_MAX && LABEL_VALUE.test(text);

/** What git takes in no branch name (`git check-ref-format --branch`), as a regular expression that both JavaScript and RE2 read. */
export const BAD_BRANCH_PATTERN = '[\\x00-\\x20\\x7f~^:?*\\[\\\\]|\\.\\.|@\\{|//|^[-/]|[/.]$|(^|/)\\.|\\.lock(/|$)|^@$|^HEAD$';

const BAD_BRANCH = new RegExp(BAD_BRANCH_PATTERN);

/** Whether git takes the text as the name of a branch; at most 244 characters, so that it fits a file name with git's suffixes. */
export const isValidBranchName = (name: string): boolean => name !== '' && name.length <= 244 && !BAD_BRANCH.test(name);

const tagOrDigest = (image: Image | undefined): string => {
  if (image?.tag) return image.tag;
  const hex = image?.digest?.split(':')[1] ?? '';
  return hex.slice(0, 12).toLowerCase();
};

const imagesVersion = (images: readonly Image[]): string => {
  const first = tagOrDigest(images[0]);
  if (images.length < 2) return first;
  const all = images.map((image) => JSON.stringify([image.repository ?? '', image.tag ?? '', image.digest ?? ''])).sort();
  return `${first}-${hash(6, ...all)}`;
};

/**
 * The version of a Bundle: `spec.version`, else the first image's tag or 12 digits of its digest (with several images `-` and 6 digits over
 * all of them), for config 8 digits of the commit, for mixed both. Empty for a Bundle that admission would refuse.
 */
export const bundleVersion = (spec: BundleSpec): string => {
  if (spec.version) return spec.version;
  const commit = (spec.configRef?.commitSHA ?? '').slice(0, 8);
  const images = imagesVersion(spec.images ?? []);
  if (spec.type === 'config') return commit;
  if (spec.type === 'mixed') return [images, commit].filter((part) => part !== '').join('-');
  return images;
};

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .replace(/[-.]*\.[-.]*/g, '.')
    .replace(/^[-.]+|[-.]+$/g, '');

const cut = (text: string, length: number): string => text.slice(0, length).replace(/[-.]+$/, '');

const withHash = (text: string, max: number, digits: string): string => {
  const room = cut(slug(text), max - digits.length - 1);
  return room === '' ? digits : `${room}-${digits}`;
};

/** A name that Kubernetes takes, at most `max` characters; `changed` says that it could not be kept and a short hash was appended. */
const validName = (text: string, max: number): { readonly name: string; readonly changed: boolean } =>
  text.length <= max && isDnsSubdomain(text) ? { name: text, changed: false } : { name: withHash(text, max, hash(8, text)), changed: true };

/**
 * The name of a Bundle: `<pipeline>-<version>`, with a short hash where that is no valid name or too long. When that name is taken by a
 * different Bundle, give what sets this one apart (its type, say) as `distinction`: its hash is appended.
 */
export const bundleName = (
  pipeline: string,
  version: string,
  distinction?: string,
): { readonly name: string; readonly changed: boolean } => {
  const plain = `${pipeline}-${version}`;
  if (distinction === undefined) return validName(plain, BUNDLE_NAME_MAX);
  return { name: withHash(plain, BUNDLE_NAME_MAX, hash(8, pipeline, version, distinction)), changed: true };
};

/**
 * The name of what belongs to a parent, such as `<bundle>.<environment>`; hashed where that is no valid name. The suffix is a DNS label, which holds no
 * dot, so that no two pairs share a name.
 */
export const childName = (parent: string, suffix: string): string => validName(`${parent}.${suffix}`, NAME_MAX).name;

/** The text as the value of a label: unchanged when Kubernetes takes it, else a readable beginning and a short hash. */
export const labelValue = (text: string): string => {
  if (isLabelValue(text)) return text;
  const digits = hash(8, text);
  const start = text
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[-_.]+/, '')
    .slice(0, LABEL_MAX - digits.length - 1)
    .replace(/[-_.]+$/, '');
  return start === '' ? digits : `${start}-${digits}`;
};

/** The identity of a run, which every outside effect carries. Attempts count from 1. */
export const runId = (bundleUid: string, environment: string, attempt: number): string => `${bundleUid}/${environment}/${attempt}`;

/**
 * The branch a promotion commits to: `promoter/<pipeline>-<version>/<environment>`. A version that git takes in no branch name (a tag may
 * hold `..` or end with `.lock`) is written with a short hash.
 */
export const promotionBranch = (pipeline: string, version: string, environment: string): string => {
  const plain = `promoter/${pipeline}-${version}/${environment}`;
  if (isValidBranchName(plain) && !version.includes('/')) return plain;
  return `promoter/${withHash(`${pipeline}-${version}`, 160, hash(8, pipeline, version))}/${environment}`;
};

/** The name of the AuditEvent for one transition, from all that identifies it; the same parts give the same name. */
export const auditEventName = (...parts: readonly string[]): string => withHash(parts.join('-'), 128, hash(12, ...parts));
