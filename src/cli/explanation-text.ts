/** An explanation as text for people. */
import type { EnvironmentExplanation, Explanation } from '../core/explain/index.ts';
import { ageOf } from './age.ts';
import { oneLine, painted } from './table.ts';
import type { Terminal } from './wiring.ts';

/** How to write it. */
export interface ExplanationStyle {
  /** Every step with attempts and messages, not only of environments that are not Verified. */
  readonly detailed: boolean;
  readonly now: number;
  readonly terminal: Terminal;
}

const stepLines = (environment: EnvironmentExplanation, { terminal, now }: ExplanationStyle): string[] =>
  environment.steps.map((step) => {
    const attempts = step.attempts > 1 ? ` (attempt ${step.attempts})` : '';
    const wait = step.nextTryAt === undefined ? '' : `; next try in ${ageOf(new Date(now).toISOString(), Date.parse(step.nextTryAt))}`;
    const given = step.message ?? '';
    // What stands above as the reason is not said twice.
    const repeated = environment.state !== 'Verified' && environment.reason.message.includes(given);
    const message = given === '' || repeated ? '' : `   ${oneLine(given)}`;
    return `      ${step.name.padEnd(18)} ${painted(step.state, terminal)}${attempts}${message}${wait}`;
  });

const environmentLines = (environment: EnvironmentExplanation, width: number, style: ExplanationStyle): string[] => {
  const { name, state, reason, commit, since } = environment;
  const facts = [
    commit === undefined ? '' : `commit ${commit.slice(0, 12)}`,
    since === undefined ? '' : `for ${ageOf(since, style.now)}`,
  ].filter((fact) => fact !== '');
  const padding = ' '.repeat(Math.max(0, 16 - state.length));
  const head = `  ${name.padEnd(width)}   ${painted(state, style.terminal)}${padding}${facts.length === 0 ? '' : ` ${facts.join(', ')}`}`;
  const lines = [head.trimEnd()];
  // The word is what docs/troubleshooting.md is sorted by.
  const code = reason.code === '' || reason.code === state ? '' : `${reason.code}: `;
  if (reason.message !== '' && state !== 'Verified') lines.push(`      ${code}${oneLine(reason.message)}`);
  if (style.detailed || (state !== 'Verified' && state !== 'Pending')) lines.push(...stepLines(environment, style));
  return lines;
};

/** Why the Bundle is held as a whole; what is under way has its reasons at the environments. */
const heldLines = ({ bundle, result }: Explanation): string[] => {
  if (bundle === undefined || bundle.phase === bundle.reason.code || ['Promoting', 'Planning'].includes(bundle.reason.code)) return [];
  const { message } = bundle.reason;
  return [`          ${bundle.reason.code}${message === '' || result.includes(message) ? '' : `: ${oneLine(message)}`}`];
};

/** Several lines; the last is `RESULT: ` and one sentence. */
export const explanationText = (explanation: Explanation, style: ExplanationStyle): string => {
  const { bundle, environments, namespace, pipeline, result } = explanation;
  const width = Math.max(0, ...environments.map((environment) => environment.name.length));
  const lines = [
    `Pipeline  ${pipeline} (namespace ${namespace})`,
    bundle === undefined
      ? 'Bundle    none yet'
      : `Bundle    ${bundle.name}, version ${oneLine(bundle.version)}: ${painted(bundle.phase, style.terminal)}`,
    ...heldLines(explanation),
    '',
    ...environments.flatMap((environment) => environmentLines(environment, width, style)),
    ...(environments.length === 0 ? [] : ['']),
    `RESULT: ${oneLine(result)}`,
  ];
  return `${lines.join('\n')}\n`;
};
