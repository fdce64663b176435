/** Why an environment's gates hold a promotion. This version evaluates no gate, so that every applying gate is closed: nothing gets past. */
import type { Reason } from '../../api/outcome.ts';
import { blockingGates, type GateSet, gateName } from './applies.ts';

/** The reason to wait, or undefined when no gate applies. */
export const closedGates = (set: GateSet, environment: string): Reason | undefined => {
  const gates = blockingGates(set, environment);
  if (gates.length === 0) return undefined;
  const list = gates.map((gate) => `${gateName(gate)}${gate.spec?.message ? ` (${gate.spec.message})` : ''}`).join(', ');
  return {
    code: 'GateClosed',
    message: `${environment} is held by ${list}: this version does not evaluate PolicyGates, and a gate that was not evaluated counts as closed`,
  };
};
