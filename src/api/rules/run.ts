/** Evaluates the rules of a kind on a resource. */

import { type Compiled, compileRule, evaluateBool, evaluateText } from '../cel.ts';
import type { FieldCause } from '../field-cause.ts';
import { isObject } from '../structural.ts';
import type { Rule } from './rule.ts';

/** A rule, parsed. */
export interface CompiledRule {
  readonly rule: Rule;
  /** Names on the way to the node; `[]` stands for every entry of a list. */
  readonly way: readonly string[];
  readonly compiled: Compiled;
  readonly message: Compiled | undefined;
  /** Compares with the old object, so it is asked on updates only. */
  readonly transition: boolean;
}

/** Parses rules once. */
export const compileRules = (rules: readonly Rule[]): readonly CompiledRule[] =>
  rules.map((rule) => ({
    rule,
    way: rule.at === '' ? [] : rule.at.replaceAll('[]', '.[]').split('.'),
    compiled: compileRule(rule.rule),
    message: rule.messageExpression === undefined ? undefined : compileRule(rule.messageExpression),
    transition: /\boldSelf\b/.test(rule.rule),
  }));

const MAX_MESSAGE = 1024;

interface Node {
  readonly value: unknown;
  readonly path: string;
}

const childrenOf = (node: Node, name: string): readonly Node[] => {
  if (name === '[]')
    return Array.isArray(node.value) ? node.value.map((value: unknown, index) => ({ value, path: `${node.path}[${index}]` })) : [];
  if (!isObject(node.value) || !Object.hasOwn(node.value, name)) return [];
  return [{ value: node.value[name], path: node.path === '' ? name : `${node.path}.${name}` }];
};

/** All nodes that a way leads to. */
const nodesAt = (root: unknown, way: readonly string[]): readonly Node[] =>
  way.reduce<readonly Node[]>((nodes, name) => nodes.flatMap((node) => childrenOf(node, name)), [{ value: root, path: '' }]);

const messageOf = (rule: CompiledRule, context: Readonly<Record<string, unknown>>): string => {
  if (rule.message === undefined) return rule.rule.message;
  const made = evaluateText(rule.message, context);
  // Kubernetes falls back to the plain message in the same cases.
  return made.ok && made.value.length <= MAX_MESSAGE && !/[\r\n]/.test(made.value) && made.value.trim() !== ''
    ? made.value
    : rule.rule.message;
};

const fieldOf = (path: string, fieldPath: string | undefined): string => {
  const field = `${path}${fieldPath ?? ''}`;
  return field.startsWith('.') ? field.slice(1) : field;
};

/** All rules that the object breaks; a rule about a change is asked where the node was there before. `old` is the object before an update. An evaluation that fails breaks its rule. */
export const brokenRules = (rules: readonly CompiledRule[], object: unknown, old: unknown): readonly FieldCause[] => {
  const causes: FieldCause[] = [];
  for (const rule of rules) {
    if (rule.transition && old === undefined) continue;
    for (const node of nodesAt(object, rule.way)) {
      const before = rule.transition ? nodesAt(old, rule.way)[0] : undefined;
      if (rule.transition && before === undefined) continue;
      const context = before === undefined ? { self: node.value } : { self: node.value, oldSelf: before.value };
      const result = evaluateBool(rule.compiled, context);
      if (result.ok && result.value) continue;
      causes.push({ field: fieldOf(node.path, rule.rule.fieldPath), message: messageOf(rule, context) });
    }
  }
  return causes;
};
