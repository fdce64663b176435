import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundle, gate, noGates, pipeline, step, stepWorld } from '../../../test/fixtures/worlds.ts';
import type { BundlePhase } from '../../api/kinds/bundle.ts';
import { holdsWrite } from './holds.ts';
import type { StepWorld } from './world.ts';

const own = bundle('b', { phase: 'Promoting', sequence: 2 });
const codeOf = (changes: Partial<StepWorld>): string | undefined =>
  holdsWrite({ ...stepWorld(step('test')), bundle: own, ...changes })?.code;
const leaving = { deletionTimestamp: '2026-01-05T09:30:00Z' };

test('nothing holds a Bundle that is Promoting, in its place, on its Pipeline, without a gate', () => {
  assert.equal(codeOf({ siblings: [own] }), undefined);
});

test('a Bundle or a Pipeline that is gone or going holds', () => {
  assert.equal(codeOf({ bundle: undefined }), 'BundleGone');
  assert.equal(codeOf({ bundle: { ...own, metadata: { ...own.metadata, ...leaving } } }), 'BundleGone');
  assert.equal(codeOf({ pipeline: undefined }), 'NoMatchingPipeline');
  const going = pipeline();
  assert.equal(codeOf({ pipeline: { ...going, metadata: { ...going.metadata, ...leaving } } }), 'NoMatchingPipeline');
});

test('a Bundle whose label no longer names its Pipeline holds', () => {
  assert.equal(codeOf({ bundle: { ...own, metadata: { ...own.metadata, labels: {} } } }), 'LabelMismatch');
  assert.equal(codeOf({ bundle: { ...own, metadata: { ...own.metadata, labels: { 'promoter.io/pipeline': 'api' } } } }), 'LabelMismatch');
});

test('a Bundle of every other phase holds, with a name', () => {
  const codes = (['Available', 'Verified', 'Failed', 'Superseded', 'SkipDenied'] satisfies BundlePhase[]).map((phase) =>
    codeOf({ bundle: bundle('b', { phase, sequence: 2 }) }),
  );
  assert.deepEqual(codes, ['BundleAvailable', 'BundleVerified', 'BundleFailed', 'BundleSuperseded', 'BundleSkipDenied']);
});

test('a newer Bundle on the same track holds; an older one, one of another type and one that never began do not', () => {
  const newer = bundle('n', { phase: 'Promoting', sequence: 3 }, { version: '2' });
  assert.equal(codeOf({ siblings: [own, newer] }), 'Superseded');
  assert.equal(codeOf({ siblings: [own, bundle('n', { phase: 'Verified', sequence: 3 })] }), 'Superseded');
  assert.equal(codeOf({ siblings: [own, bundle('o', { phase: 'Promoting', sequence: 1 })] }), undefined);
  assert.equal(codeOf({ siblings: [own, bundle('n', { phase: 'Promoting', sequence: 3 }, { type: 'config' })] }), undefined);
  assert.equal(codeOf({ siblings: [own, bundle('n', { phase: 'Promoting', sequence: 3 }, { type: 'mixed' })] }), 'Superseded');
  assert.equal(codeOf({ siblings: [own, bundle('n', { phase: 'SkipDenied', sequence: 3 })] }), undefined);
  const unlabelled = { ...newer, metadata: { ...newer.metadata, labels: {} } };
  assert.equal(codeOf({ siblings: [own, unlabelled] }), undefined);
});

test('a Bundle without a place holds until it has one, unless it gets none', () => {
  assert.equal(codeOf({ siblings: [own, bundle('n', {}, { version: '2' })] }), 'WaitingForOrder');
  assert.equal(codeOf({ siblings: [own, bundle('twin')] }), undefined, 'the same version gets no place');
  const going = bundle('n', {}, { version: '2' });
  assert.equal(codeOf({ siblings: [own, { ...going, metadata: { ...going.metadata, ...leaving } }] }), undefined);
});

test('a gate holds the environment that it names and no other', () => {
  assert.equal(codeOf({ gates: { ...noGates, gates: [gate('default', 'g', ['prod'])] } }), undefined);
  assert.equal(codeOf({ gates: { ...noGates, gates: [gate('default', 'g', ['prod', 'test'])] } }), 'GateClosed');
});
