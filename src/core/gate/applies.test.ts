import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gate } from '../../../test/fixtures/worlds.ts';
import type { PolicyGate } from '../../api/kinds/policy-gate.ts';
import { blockingGates, type GateSet, isSkipPermission, orgGates } from './applies.ts';
import { closedGates } from './closed.ts';

const setOf = (...gates: readonly PolicyGate[]): GateSet => ({ policyNamespace: 'platform-policies', gates });
const names = (gates: readonly PolicyGate[]): readonly string[] => gates.map(({ metadata }) => metadata.name);

const labelled = (text: string): PolicyGate => gate('default', 'label', [], { 'promoter.io/applies-to': text });
const annotated = (text: string): PolicyGate => {
  const own = gate('default', 'annotation', []);
  return { ...own, metadata: { ...own.metadata, annotations: { 'promoter.io/applies-to': text } } };
};

test('label, annotation and field are read together, with commas and any spaces', () => {
  for (const own of [
    labelled('prod'),
    labelled('test,prod'),
    annotated(' test , prod '),
    annotated('test\n\tprod'),
    gate('default', 'f', ['prod']),
  ]) {
    assert.equal(blockingGates(setOf(own), 'prod').length, 1, JSON.stringify(own.metadata));
  }
  const all = { ...annotated('uat'), spec: { expression: 'true', appliesTo: ['test'] } };
  all.metadata.labels = { 'promoter.io/applies-to': 'prod' };
  for (const environment of ['test', 'uat', 'prod']) assert.equal(blockingGates(setOf(all), environment).length, 1);
});

test('a gate blocks whole names only, and without any name nothing', () => {
  for (const own of [
    labelled('production'),
    annotated('pro d'),
    gate('default', 'f', ['*']),
    gate('default', 'f', []),
    labelled(''),
    annotated(' , '),
  ]) {
    assert.deepEqual(blockingGates(setOf(own), 'prod'), []);
    assert.deepEqual(blockingGates(setOf(own), ''), []);
  }
  const { spec: _, ...bare } = gate('default', 'f', []);
  assert.deepEqual(blockingGates(setOf(bare), 'prod'), []);
});

test('instances are no templates, and skip-permission gates never block', () => {
  const instance = gate('default', 'instance', ['prod'], { 'promoter.io/bundle': '' });
  const permission = gate('platform-policies', 'permission', ['prod'], { 'promoter.io/type': 'skip-permission' });
  assert.deepEqual(blockingGates(setOf(instance, permission), 'prod'), []);
  assert.deepEqual(orgGates(setOf(instance, permission), 'prod'), []);
  assert.equal(isSkipPermission(permission), true);
  assert.equal(isSkipPermission(gate('default', 'f', ['prod'], { 'promoter.io/type': 'other' })), false);
});

test('a gate is the platform team`s by its namespace, whatever its labels say', () => {
  const org = gate('platform-policies', 'org', ['prod'], { 'promoter.io/scope': 'team' });
  const team = gate('default', 'team', ['prod'], { 'promoter.io/scope': 'org' });
  assert.deepEqual(names(orgGates(setOf(team, org), 'prod')), ['org']);
  assert.deepEqual(names(blockingGates(setOf(team, org), 'prod')), ['team', 'org']);
});

test('every gate that blocks is named with its message, and is closed', () => {
  assert.equal(closedGates(setOf(), 'prod'), undefined);
  assert.equal(closedGates(setOf(gate('default', 'g', ['test'])), 'prod'), undefined);
  const told = gate('default', 'freeze', ['prod']);
  const reason = closedGates(
    setOf({ ...told, spec: { ...told.spec, message: 'until Monday' } }, gate('platform-policies', 'org', ['prod'])),
    'prod',
  );
  assert.equal(reason?.code, 'GateClosed');
  assert.match(reason?.message ?? '', /^prod is held by default\/freeze \(until Monday\), platform-policies\/org: /);
});
