import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bundle, graphOf, NOW, pipeline, stepOf, writtenStatus } from '../../../test/fixtures/worlds.ts';
import type { Bundle, BundlePhase, EnvironmentRecord } from '../../api/kinds/bundle.ts';
import type { Environment, Pipeline, PipelineStatus } from '../../api/kinds/pipeline.ts';
import { auditNames } from '../audit/due.ts';
import type { Decision } from '../effect.ts';
import { decidePipeline, type PipelineWorld, pastHistory } from './decide.ts';

const stamp = new Date(NOW - 1000).toISOString();

const record = (name: string, changes: Partial<EnvironmentRecord> = {}): EnvironmentRecord => ({
  name,
  state: 'Superseded',
  message: '',
  transitions: [],
  ...changes,
});
const landed = (name: string) => record(name, { state: 'HealthChecking', commit: 'c'.repeat(40) });
const verified = (name: string) => record(name, { state: 'Verified', commit: 'c'.repeat(40), verifiedAt: stamp });

const ended = (sequence: number, environments: readonly EnvironmentRecord[] = [], phase: BundlePhase = 'Superseded'): Bundle =>
  bundle(`b${sequence}`, { phase, sequence, environments: [...environments] });

const worldOf = (
  bundles: readonly Bundle[],
  historyLimit: number | undefined = 1,
  changes: Partial<PipelineWorld> = {},
): PipelineWorld => ({
  pipeline: pipeline(undefined, historyLimit === undefined ? {} : { historyLimit }),
  bundles,
  steps: [],
  audits: new Map(bundles.map((own) => [own.metadata.name, new Set(auditNames(own, []))])),
  auditRetentionMs: 90 * 86_400_000,
  ...changes,
});

const gone = (bundles: readonly Bundle[], historyLimit?: number): readonly string[] =>
  pastHistory(worldOf(bundles, historyLimit)).map((own) => own.metadata.name);

const deleted = (decision: Decision): readonly string[] =>
  decision.writes.flatMap((write) => (write.kind === 'DeleteResource' ? [`${write.ref.kind} ${write.ref.name} ${write.uid}`] : []));

const readyOf = (own: Pipeline): readonly (string | undefined)[] => {
  const decision = decidePipeline({ ...worldOf([]), pipeline: own }, NOW);
  const condition = writtenStatus<PipelineStatus>(decision, 'Pipeline')?.conditions?.[0];
  return [condition?.type, condition?.status, condition?.reason];
};

test('a Pipeline says whether Bundles can be promoted along it, once', () => {
  assert.deepEqual(readyOf(pipeline()), ['Ready', 'True', 'Ready']);
  const status = writtenStatus<PipelineStatus>(decidePipeline(worldOf([]), NOW), 'Pipeline') ?? {};
  const said = { ...worldOf([]), pipeline: { ...worldOf([]).pipeline, status } };
  assert.deepEqual(decidePipeline(said, NOW + 60_000).writes, []);
});

test('a circle, an unknown dependency and a setting that is not available are said before any Bundle comes', () => {
  const cases: readonly (readonly [readonly Environment[], RegExp])[] = [
    [
      [
        { name: 'a', dependsOn: ['b'] },
        { name: 'b', dependsOn: ['a'] },
      ],
      /a/,
    ],
    [[{ name: 'a', dependsOn: ['nowhere'] }], /nowhere/],
    [[{ name: 'a' }, { name: 'b', approval: 'pr-review' }], /environment b: approval pr-review/],
  ];
  for (const [environments, message] of cases) {
    const own = pipeline([...environments]);
    assert.equal(readyOf(own)[1], 'False');
    assert.match(decidePipeline({ ...worldOf([]), pipeline: own }, NOW).reason.message, message);
  }
});

test('the place in the order is kept when the condition is written', () => {
  const own = { ...pipeline(), status: { lastSequence: 7 } };
  const status = writtenStatus<PipelineStatus>(decidePipeline({ ...worldOf([]), pipeline: own }, NOW), 'Pipeline');
  assert.equal(status?.lastSequence, 7);
});

test('a Pipeline that is being deleted is left alone', () => {
  const own = pipeline();
  const going = { ...own, metadata: { ...own.metadata, deletionTimestamp: stamp } };
  assert.deepEqual(decidePipeline({ ...worldOf([ended(1), ended(2)]), pipeline: going }, NOW).writes, []);
});

test('finished Bundles beyond the limit go, the oldest by their place, and only that very one', () => {
  const bundles = [ended(2), ended(10), ended(1), ended(9)];
  assert.deepEqual(gone(bundles, 2), ['b2', 'b1']);
  assert.deepEqual(gone(bundles, 4), []);
  assert.deepEqual(deleted(decidePipeline(worldOf(bundles, 3), NOW)), ['Bundle b1 b1-uid']);
  const many = Array.from({ length: 22 }, (_, index) => ended(index + 1));
  assert.deepEqual(pastHistory({ pipeline: pipeline(), bundles: many, steps: [] }).length, 2, 'twenty are kept when nothing is said');
});

test('what is in flight, has no place or is going already is never deleted', () => {
  const flying = (['Available', 'Promoting'] as const).map((phase, index) => ended(index + 1, [], phase));
  const placeless = bundle('placeless', { phase: 'SkipDenied' });
  const own = ended(3);
  const going = { ...own, metadata: { ...own.metadata, deletionTimestamp: stamp } };
  assert.deepEqual(gone([...flying, placeless, going, ended(8), ended(9)], 1), ['b8']);
});

test('what an environment runs is kept, also when it failed after its push landed', () => {
  assert.deepEqual(gone([ended(1, [verified('prod')]), ended(2), ended(3)], 1), ['b2']);
  const failed = ended(2, [landed('prod')], 'Failed');
  assert.deepEqual(gone([ended(1), failed, ended(3)], 1), ['b1']);
  assert.deepEqual(gone([ended(1, [landed('prod')]), failed, ended(3)], 1), ['b1'], 'a commit that was overwritten runs nowhere');
});

test('what each environment would go back to is kept: the newest Verified below what it runs', () => {
  const bundles = [ended(1, [verified('prod')]), ended(2, [verified('prod')]), ended(3, [landed('prod')], 'Failed'), ended(4)];
  assert.deepEqual(gone(bundles, 1), ['b1']);
  const apart = [ended(1, [verified('prod')]), ended(2, [verified('test'), verified('prod')]), ended(3, [verified('test')]), ended(4)];
  assert.deepEqual(gone(apart, 1), [], 'environments count one by one');
});

test('a PromotionStep that still exists speaks for its Bundle', () => {
  const own = ended(1);
  const step = stepOf(graphOf(own), 'prod', {
    state: 'Failed',
    outputs: { 'git.commit': 'c'.repeat(40), 'git.branch': 'main' },
  });
  const world = worldOf([own, ended(2)], 1, { steps: [step] });
  assert.deepEqual(pastHistory(world), []);
  assert.deepEqual(pastHistory({ ...world, steps: [] }).length, 1);
});

test('a Bundle that still owes an event stays until it has been made', () => {
  const transitions = [{ at: stamp, from: 'Promoting', to: 'Superseded', reason: 'Superseded', message: '' }];
  const own = { ...ended(1), status: { ...ended(1).status, transitions } };
  const owing = worldOf([own, ended(2)], 1, { audits: new Map() });
  assert.deepEqual(deleted(decidePipeline(owing, NOW)), []);
  assert.deepEqual(deleted(decidePipeline({ ...owing, audits: new Map([['b1', new Set(auditNames(own, []))]]) }, NOW)), [
    'Bundle b1 b1-uid',
  ]);
  const forgotten = { ...owing, auditRetentionMs: 500 };
  assert.deepEqual(deleted(decidePipeline(forgotten, NOW)), ['Bundle b1 b1-uid'], 'an event past its retention is owed no more');
});

test('an event that a step owes holds its Bundle too', () => {
  const own = ended(1);
  const transitions = [{ at: stamp, from: 'Promoting', to: 'Failed', reason: 'Failed', message: '', attempt: 1 }];
  const step = stepOf(graphOf(own), 'prod', { state: 'Failed', transitions });
  const world = worldOf([own, ended(2)], 1, { steps: [step], audits: new Map() });
  assert.deepEqual(deleted(decidePipeline(world, NOW)), []);
  const made = new Map([['b1', new Set(auditNames(own, [step]))]]);
  assert.equal(deleted(decidePipeline({ ...world, audits: made }, NOW)).length, 1);
});

test('however the history looks: the newest stay, and of every environment what it runs and what it would go back to', () => {
  const records = fc.record({
    phase: fc.constantFrom<BundlePhase>('Verified', 'Failed', 'Superseded', 'Promoting'),
    test: fc.constantFrom('none', 'landed', 'verified'),
    prod: fc.constantFrom('none', 'landed', 'verified'),
  });
  const recordsOf = (name: string, what: string): readonly EnvironmentRecord[] =>
    what === 'none' ? [] : [what === 'landed' ? landed(name) : verified(name)];
  fc.assert(
    fc.property(fc.array(records, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), (all, limit) => {
      const bundles = all.map(({ phase, test: inTest, prod }, index) =>
        ended(index + 1, [...recordsOf('prod', prod), ...recordsOf('test', inTest)], phase),
      );
      const away = new Set(gone(bundles, limit));
      const kept = (own: Bundle | undefined): boolean => own === undefined || !away.has(own.metadata.name);
      for (const own of bundles.slice(-limit)) assert.ok(kept(own), 'within the limit');
      for (const environment of ['test', 'prod']) {
        const withRecord = bundles.filter((own) => own.status?.environments?.some(({ name }) => name === environment));
        const runs = withRecord.at(-1);
        assert.ok(kept(runs), `${environment} runs it`);
        const below = withRecord.slice(0, -1);
        const target = below.findLast((own) =>
          own.status?.environments?.some(({ name, verifiedAt }) => name === environment && verifiedAt),
        );
        assert.ok(kept(target), `${environment} would go back to it`);
      }
      for (const own of bundles) if (own.status?.phase === 'Promoting') assert.ok(kept(own));
    }),
    { numRuns: 200 },
  );
});
