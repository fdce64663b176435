/** What is known against a Pipeline: said where somebody is about to use it, and not only when a promotion comes to the environment. */
import type { Pipeline } from '../api/kinds/pipeline.ts';
import { oneLine } from './table.ts';
import type { Terminal } from './wiring.ts';

/** Warns on standard error when the Pipeline, as it is now, is not Ready; says nothing while nobody has looked at it. */
export const warnIfNotReady = ({ metadata, status }: Pipeline, terminal: Terminal): void => {
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready');
  if (ready?.status !== 'False' || (ready.observedGeneration ?? 0) < (metadata.generation ?? 0)) return;
  terminal.err(`warning: pipeline ${metadata.name} is not Ready: ${ready.reason}: ${oneLine(ready.message ?? '')}\n`);
};
