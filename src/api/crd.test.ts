import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileRule, visitNodes } from './cel.ts';
import { customResourceDefinition, ourKinds, resourceSchema, schemaWithRules, structuralProblems } from './crd.ts';
import { RULE_FUNCTIONS, RULE_OPERATORS, type Rule } from './rules/rule.ts';
import { RULES } from './rules/table.ts';
import type { StructuralSchema } from './structural.ts';

const allRules: readonly Rule[] = Object.values(RULES).flat();

const nodeAt = (schema: StructuralSchema, path: string): StructuralSchema | undefined =>
  path
    .split(/\.|(?=\[\])/)
    .filter((part) => part !== '')
    .reduce<StructuralSchema | undefined>((node, part) => (part === '[]' ? node?.items : node?.properties?.[part]), schema);

test('every schema with its rules is structural', () => {
  for (const info of ourKinds()) assert.deepEqual(structuralProblems(schemaWithRules(info)), [], info.kind);
});

test('what a cluster would refuse is found', () => {
  assert.deepEqual(structuralProblems({ type: 'object', properties: { a: {} } }), ['.a has no type']);
  assert.deepEqual(structuralProblems({ type: 'object', properties: { a: { type: 'array' } } }), ['.a is a list without items']);
  assert.deepEqual(structuralProblems({ type: 'object', anyOf: [] }), ['the root uses anyOf']);
  assert.deepEqual(structuralProblems({ type: 'object', additionalProperties: false }), ['the root has boolean additionalProperties']);
  assert.deepEqual(structuralProblems({ type: 'object', properties: { metadata: { type: 'object', properties: {} } } }), [
    '.metadata restricts metadata',
  ]);
});

test('every rule stands in the definition at a node that exists, and names a field that exists', () => {
  for (const info of ourKinds()) {
    const rules = RULES[info.kind] ?? [];
    for (const rule of rules) {
      assert.ok(nodeAt(resourceSchema(info), rule.at), `${info.kind} ${rule.at}`);
      if (rule.fieldPath === undefined || rule.fieldPath.startsWith('.metadata')) continue;
      assert.ok(nodeAt(resourceSchema(info), rule.at + rule.fieldPath), `${info.kind} ${rule.at}${rule.fieldPath}`);
    }
    const emitted = JSON.stringify(customResourceDefinition(info)).split('"rule":').length - 1;
    assert.equal(emitted, rules.length, info.kind);
  }
});

test('rules use only the part of CEL on which both engines agree', () => {
  for (const text of allRules.flatMap((rule) => [rule.rule, ...(rule.messageExpression === undefined ? [] : [rule.messageExpression])])) {
    visitNodes(compileRule(text).ast, (node) => {
      assert.ok(RULE_OPERATORS.has(node.op), `${node.op} in ${text}`);
      if (node.op === 'call' || node.op === 'rcall')
        assert.ok(
          RULE_FUNCTIONS.has(node.args[0].replace('matchesRe2', 'matches').replace('goDuration', 'duration')),
          `${node.args[0]} in ${text}`,
        );
    });
  }
});

test('messages are one line, and fields with a rule about absence carry no schema check that would come first', () => {
  for (const rule of allRules) assert.match(rule.message, /^\S[^\r\n]*$/);
  for (const info of ourKinds()) {
    const schema = JSON.stringify(resourceSchema(info).properties?.['spec']);
    assert.doesNotMatch(schema, /"(?:minItems|minLength|enum|pattern)":/, info.kind);
    if (info.kind !== 'PromotionStep' && info.kind !== 'Graph') assert.doesNotMatch(schema, /"required":/, info.kind);
  }
});

test('strings and lists that a rule walks are bounded, or a cluster would find the rule too costly', () => {
  for (const info of ourKinds()) {
    const unbounded: string[] = [];
    const walk = (schema: StructuralSchema, path: string): void => {
      if (schema.type === 'string' && schema.maxLength === undefined) unbounded.push(path);
      if (schema.type === 'array' && schema.maxItems === undefined) unbounded.push(path);
      for (const [name, child] of Object.entries(schema.properties ?? {})) walk(child, `${path}.${name}`);
      if (schema.items !== undefined) walk(schema.items, `${path}[]`);
    };
    const spec = resourceSchema(info).properties?.['spec'];
    if (spec !== undefined) walk(spec, 'spec');
    assert.deepEqual(unbounded, [], info.kind);
  }
});

test('a definition serves status apart from spec where there is one', () => {
  for (const info of ourKinds()) {
    const crd = JSON.stringify(customResourceDefinition(info));
    assert.equal(crd.includes('"subresources":{"status":{}}'), info.statusSchema !== undefined, info.kind);
  }
});
