/** Which steps an environment's promotion consists of (spec, "Default step sequences"), and which of them this version can run. */
import { canonical } from '../../api/aliases.ts';
import type { Bundle } from '../../api/kinds/bundle.ts';
import type { Reason } from '../../api/outcome.ts';
import type { ResolvedEnvironment } from '../../api/resolve.ts';
import { unsupportedHealth } from '../health/target.ts';

/** The built-in steps of the specification. */
export const BUILTIN_STEPS = [
  'git-clone',
  'overlay-set-image',
  'chart-set-image',
  'overlay-build',
  'config-merge',
  'git-commit',
  'git-push',
  'open-pr',
  'wait-for-merge',
  'health-check',
  'integration-test',
] as const;
export type BuiltinStep = (typeof BUILTIN_STEPS)[number];

/** The steps that this version runs. */
export const RUNNABLE_STEPS = ['git-clone', 'overlay-set-image', 'chart-set-image', 'git-commit', 'git-push', 'health-check'] as const;
export type RunnableStep = (typeof RUNNABLE_STEPS)[number];

/** The step of that name, when this version runs it. */
export const runnable = (name: string): RunnableStep | undefined => RUNNABLE_STEPS.find((step) => step === name);

const changeSteps = (environment: ResolvedEnvironment, type: string): string[] => {
  const image = environment.strategy === 'chart' ? 'chart-set-image' : 'overlay-set-image';
  const images = type === 'config' ? [] : [environment.renderManifests ? 'overlay-set-image' : image];
  const config = type === 'image' ? [] : ['config-merge'];
  return [...config, ...images, ...(environment.renderManifests ? ['overlay-build'] : [])];
};

/** The names of the steps, in order; `type` is the Bundle's. */
export const sequenceOf = (environment: ResolvedEnvironment, type: string): readonly string[] => {
  if (environment.steps?.length) return environment.steps.map((entry) => canonical('step', entry.uses ?? ''));
  const review = environment.approval === 'pr-review' ? ['open-pr', 'wait-for-merge'] : [];
  return ['git-clone', ...changeSteps(environment, type), 'git-commit', 'git-push', ...review, 'health-check'];
};

const unavailable = (what: string): string => `${what} is not available in this version`;

const unsupportedSetting = (environment: ResolvedEnvironment): string | undefined => {
  if (environment.approval === 'pr-review') return unavailable('approval pr-review');
  if (environment.pr) return unavailable('pr: true');
  if (environment.renderManifests) return unavailable('renderManifests');
  if (environment.layout === 'branch') return unavailable('spec.git.layout branch');
  if (environment.delegate !== 'none') return unavailable(`delivery.delegate ${environment.delegate}`);
  if (environment.bake?.policy === 'fail-on-alarm' && environment.onHealthFailure === 'rollback')
    return unavailable('onHealthFailure rollback');
  return unsupportedHealth(environment);
};

const EDITS: readonly string[] = ['overlay-set-image', 'chart-set-image', 'overlay-build', 'config-merge'];

/** What must stand somewhere before a step, so that the sequence does what it looks like. */
const NEEDS: readonly (readonly [step: string, before: readonly string[]])[] = [
  ...EDITS.map((edit) => [edit, ['git-clone']] as const),
  ['git-commit', EDITS],
  ['git-push', ['git-commit']],
];

/** What must stand somewhere behind a step: a change that is never pushed would be called Verified. */
const LEADS_TO: readonly (readonly [step: string, behind: string])[] = [
  ...EDITS.map((edit) => [edit, 'git-commit'] as const),
  ['git-commit', 'git-push'],
];

/** Why the sequence would not write what it seems to; undefined when it would. */
const brokenOrder = (sequence: readonly string[]): string | undefined => {
  for (const [step, before] of NEEDS) {
    const at = sequence.indexOf(step);
    if (at >= 0 && !sequence.slice(0, at).some((name) => before.includes(name))) {
      return `steps[]: ${step} needs ${before.filter((name) => runnable(name) || before.length === 1).join(' or ')} before it`;
    }
  }
  for (const [step, behind] of LEADS_TO) {
    const at = sequence.lastIndexOf(step);
    if (at >= 0 && !sequence.slice(at + 1).includes(behind))
      return `steps[]: ${step} needs ${behind} behind it, or its change is never written`;
  }
  return undefined;
};

const unsupportedStep = (environment: ResolvedEnvironment, type: string): string | undefined => {
  if (type !== 'image') return unavailable(`a Bundle of type ${type}`);
  if (environment.strategy === 'custom' && !environment.steps?.length) return 'update.strategy custom needs steps[], and there are none';
  for (const { uses = '', config, webhook } of environment.steps ?? []) {
    const name = canonical('step', uses);
    if (runnable(name) && (webhook || Object.keys(config ?? {}).length > 0))
      return `steps[]: the built-in step ${name} takes no config and no webhook`;
  }
  for (const name of sequenceOf(environment, type)) {
    if (runnable(name)) continue;
    const entry = environment.steps?.find((candidate) => candidate.uses === name);
    const builtin = BUILTIN_STEPS.some((step) => step === name);
    if (!builtin && !entry?.webhook?.url && !entry?.config?.['url']) {
      return `step ${name}: missing input webhook.url (a custom step needs one; the built-in steps are ${BUILTIN_STEPS.join(', ')})`;
    }
    return unavailable(builtin ? `step ${name}` : `the custom step ${name}`);
  }
  return brokenOrder(sequenceOf(environment, type));
};

/** What the environment asks for and this version cannot do; promotions into it are refused before anything is written. */
export const unsupportedBy = (environment: ResolvedEnvironment, bundle: Bundle | undefined): Reason | undefined => {
  const type = bundle?.spec?.type ?? 'image';
  const message = unsupportedSetting(environment) ?? unsupportedStep(environment, type);
  return message === undefined ? undefined : { code: 'Unsupported', message: `environment ${environment.name}: ${message}` };
};
