/**
 * Which PolicyGates apply to an environment (spec, "PolicyGate"; the ways to name environments are read together). The result of a gate is
 * not part of this: a gate that was not evaluated counts as closed.
 */
import type { PolicyGate } from '../../api/kinds/policy-gate.ts';
import { APPLIES_TO_LABEL, BUNDLE_LABEL, TYPE_LABEL } from '../labels.ts';

/** The gates that a promotion has to look at, and the namespace that makes a gate an org gate. */
export interface GateSet {
  readonly policyNamespace: string;
  readonly gates: readonly PolicyGate[];
}

const names = (text: string | undefined): readonly string[] => (text ?? '').split(/[\s,]+/).filter((name) => name !== '');

const environmentsOf = (gate: PolicyGate): ReadonlySet<string> =>
  new Set([
    ...names(gate.metadata.labels?.[APPLIES_TO_LABEL]),
    ...names(gate.metadata.annotations?.[APPLIES_TO_LABEL]),
    ...(gate.spec?.appliesTo ?? []),
  ]);

/** Instances carry the Bundle's label and are never templates. */
const isTemplate = (gate: PolicyGate): boolean => gate.metadata.labels?.[BUNDLE_LABEL] === undefined;

/** Whether the gate grants skips; such a gate never blocks. */
export const isSkipPermission = (gate: PolicyGate): boolean => gate.metadata.labels?.[TYPE_LABEL] === 'skip-permission';

/** The gates that block this environment. */
export const blockingGates = (set: GateSet, environment: string): readonly PolicyGate[] =>
  set.gates.filter((gate) => isTemplate(gate) && !isSkipPermission(gate) && environmentsOf(gate).has(environment));

/** The blocking gates that the platform team owns. */
export const orgGates = (set: GateSet, environment: string): readonly PolicyGate[] =>
  blockingGates(set, environment).filter((gate) => gate.metadata.namespace === set.policyNamespace);

/** `namespace/name`. */
export const gateName = (gate: PolicyGate): string => `${gate.metadata.namespace ?? ''}/${gate.metadata.name}`;
