/** Whether the intent of a request fits the Pipeline. */
import type { Pipeline } from '../../api/kinds/pipeline.ts';
import { skipsOf, targetOf } from '../bundle/intent.ts';
import { DEFAULT_TARGET } from '../graph/plan-graph.ts';
import type { RequestProblem } from './artifacts.ts';
import { pointerTo } from './pointer.ts';
import type { BundleRequest } from './read-bundle-request.ts';

/** Unknown target and skip names, and a target that is itself skipped. */
export const intentProblems = (
  { bundle, origins }: Pick<BundleRequest, 'bundle' | 'origins'>,
  pipeline: Pipeline,
): readonly RequestProblem[] => {
  const names = (pipeline.spec?.environments ?? []).flatMap(({ name }) => (name ? [name] : []));
  const known = `the environments of the Pipeline are ${names.join(', ')}`;
  const problems: RequestProblem[] = [];
  const given = targetOf(bundle);
  if (given !== undefined && given !== DEFAULT_TARGET && !names.includes(given)) {
    problems.push({ pointer: '/intent/targetEnvironment', detail: `${JSON.stringify(given)} is no environment; ${known}` });
  }
  const target = given ?? DEFAULT_TARGET;
  for (const [index, name] of skipsOf(bundle).entries()) {
    const pointer = origins.skips[index] ?? pointerTo('intent', 'skipEnvironments', String(index));
    if (!names.includes(name)) problems.push({ pointer, detail: `${JSON.stringify(name)} is no environment; ${known}` });
    else if (name === target) problems.push({ pointer, detail: `${JSON.stringify(name)} is the target and cannot be skipped` });
  }
  return problems;
};
