/** How far a Bundle is meant to go (spec, "Intent semantics"). */
import type { Bundle } from '../../api/kinds/bundle.ts';

/** The environment it was told to end at; undefined when nothing was said (then `prod`, where there is one). */
export const targetOf = (bundle: Bundle): string | undefined => bundle.spec?.intent?.targetEnvironment || undefined;

/** The environments it was told to skip, each once. */
export const skipsOf = (bundle: Bundle): readonly string[] => {
  const intent = bundle.spec?.intent;
  return [...new Set([...(intent?.skipEnvironments ?? []), ...(intent?.skip ?? [])])];
};
