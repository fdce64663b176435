import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrderedEnvironment } from '../../api/dependency-edges.ts';
import { type GateNode, planGraph } from './plan-graph.ts';

/** `b(2) < a c`: environment b of wave 2 with dependsOn [a, c]. */
const env = (line: string): OrderedEnvironment => {
  const [head = '', after] = line.split('<');
  const match = /^\s*([^(\s]*)\s*(?:\((\d+)\))?\s*$/.exec(head);
  const dependsOn = after?.trim().split(/\s+/);
  return { name: match?.[1] ?? '', wave: Number(match?.[2] ?? 0), dependsOn: dependsOn?.length ? dependsOn : undefined };
};

const plan = (lines: readonly string[], targetEnvironment?: string, skip: readonly string[] = [], gates: readonly GateNode[] = []) =>
  planGraph({ environments: lines.map(env), ...(targetEnvironment === undefined ? {} : { targetEnvironment }), skip, gates });

/** Every node as `id: dependencies`, in topological order. */
const shape = (...args: Parameters<typeof plan>): readonly string[] => {
  const result = plan(...args);
  assert.ok(result.ok, result.ok ? '' : result.reason.message);
  return result.nodes.map((node) => `${node.id}: ${node.dependsOn.join(' ')}`.trimEnd());
};

const refusal = (...args: Parameters<typeof plan>) => {
  const result = plan(...args);
  assert.ok(!result.ok, 'should be refused');
  return result.reason;
};

describe('environment ordering', () => {
  it('is sequential by default: the first depends on nothing, each other on the previous', () => {
    assert.deepEqual(shape(['dev', 'test', 'prod']), ['dev:', 'test: dev', 'prod: test']);
  });
  it('fans out: environments with the same dependsOn wait for the same one', () => {
    assert.deepEqual(shape(['dev', 'eu < dev', 'us < dev']), ['dev:', 'eu: dev', 'us: dev']);
  });
  it('converges: an environment that lists several waits for all of them', () => {
    assert.deepEqual(shape(['dev', 'eu < dev', 'us < dev', 'prod < eu us']), ['dev:', 'eu: dev', 'us: dev', 'prod: eu us']);
  });
  it('takes an empty dependsOn for an absent one', () => {
    const environments = [env('dev'), { name: 'prod', wave: 0, dependsOn: [] }];
    const result = planGraph({ environments, skip: [] });
    assert.ok(result.ok);
    assert.deepEqual(result.nodes[1]?.dependsOn, ['dev']);
  });
  it('puts an environment after one that is listed later but named in its dependsOn', () => {
    assert.deepEqual(shape(['dev', 'test < late', 'late < dev', 'end < test']), ['dev:', 'late: dev', 'test: late', 'end: test']);
  });
});

describe('waves', () => {
  it('promote environments of one number in parallel', () => {
    assert.deepEqual(shape(['dev', 'eu(1)', 'us(1)']), ['dev:', 'eu: dev', 'us: dev']);
  });
  it('follow the nearest lower wave that exists', () => {
    assert.deepEqual(shape(['a(1)', 'b(1)', 'c(4)', 'd(9)']), ['a:', 'b:', 'c: a b', 'd: c']);
  });
  it('after sequential environments start with the one listed before them, not with nothing', () => {
    assert.deepEqual(shape(['dev', 'test', 'prod(1)']), ['dev:', 'test: dev', 'prod: test']);
  });
  it('start with nothing when no wave-0 environment is listed before the lowest one', () => {
    assert.deepEqual(shape(['a(3)', 'b(3)', 'c(5)']), ['a:', 'b:', 'c: a b']);
  });
  it('are waited for as a whole by the wave-0 environment listed after them', () => {
    assert.deepEqual(shape(['dev', 'a(1)', 'b(1)', 'c(2)', 'd(2)', 'audit']).at(-1), 'audit: c d');
    assert.deepEqual(shape(['dev', 'c(2)', 'a(1)', 'audit']).at(-1), 'audit: c');
  });
  it('leave the sequential default to wave-0 environments that follow each other behind them', () => {
    assert.deepEqual(shape(['a(1)', 'b(1)', 'audit', 'done']).slice(2), ['audit: a b', 'done: audit']);
  });
  it('unite their edges with an explicit dependsOn above wave 0', () => {
    assert.deepEqual(shape(['dev', 'side < dev', 'a(1) < dev', 'b(2) < side']), ['dev:', 'side: dev', 'a: dev side', 'b: side a']);
  });
  it('are not added to an explicit dependsOn of wave 0, which replaces the default', () => {
    assert.deepEqual(shape(['dev', 'a(1)', 'b(1)', 'audit < dev']).at(-1), 'audit: dev');
  });
  it('that go on further down are waited for by the previous environment only, so that nothing turns in a circle', () => {
    assert.deepEqual(shape(['dev', 'a(1)', 'mid', 'b(1)']), ['dev:', 'a: dev', 'mid: a', 'b: dev']);
    assert.deepEqual(shape(['dev', 'a(1)', 'c(2)', 'mid', 'd(2)']), ['dev:', 'a: dev', 'c: a', 'mid: a c', 'd: a']);
  });
  it('may be listed in any order', () => {
    assert.deepEqual(shape(['dev', 'late(2)', 'early(1)']), ['dev:', 'early: dev', 'late: early']);
  });
});

describe('the target', () => {
  it('is prod by default, given or not: everything listed up to it', () => {
    assert.deepEqual(shape(['dev', 'prod', 'dr']), ['dev:', 'prod: dev']);
    assert.deepEqual(shape(['dev', 'prod', 'dr'], 'prod'), ['dev:', 'prod: dev']);
    assert.deepEqual(shape(['dev', 'prod', 'dr'], ''), ['dev:', 'prod: dev']);
  });
  it('prod includes what is listed before it even when it does not depend on it', () => {
    assert.deepEqual(shape(['dev', 'side < dev', 'prod < dev', 'dr']), ['dev:', 'side: dev', 'prod: dev']);
  });
  it('prod brings what it depends on, even if listed after it', () => {
    assert.deepEqual(shape(['dev', 'prod < canary', 'canary < dev', 'dr']), ['dev:', 'canary: dev', 'prod: canary']);
  });
  it('is everything when the Pipeline has no prod', () => {
    assert.deepEqual(shape(['dev', 'live', 'dr']), ['dev:', 'live: dev', 'dr: live']);
    assert.deepEqual(shape(['dev', 'live', 'dr'], 'prod'), ['dev:', 'live: dev', 'dr: live']);
  });
  it('by another name is that environment and what it depends on, through others too', () => {
    assert.deepEqual(shape(['dev', 'side < dev', 'test < dev', 'stage', 'prod'], 'stage'), ['dev:', 'test: dev', 'stage: test']);
  });
  it('in a wave does not bring the rest of its wave', () => {
    assert.deepEqual(shape(['dev', 'eu(1)', 'prod(1)', 'us(1)'], 'us'), ['dev:', 'us: dev']);
    assert.deepEqual(shape(['dev', 'eu(1)', 'prod(1)', 'us(1)']), ['dev:', 'eu: dev', 'prod: dev']);
  });
  it('that is unknown is refused with the names there are', () => {
    assert.deepEqual(refusal(['dev', 'live'], 'stage'), {
      code: 'UnknownTarget',
      message: 'intent.targetEnvironment is "stage", which the Pipeline does not have; it has: dev, live.',
    });
  });
});

describe('skips', () => {
  it('let successors inherit the dependencies of the skipped environment', () => {
    assert.deepEqual(shape(['dev', 'test', 'stage', 'prod'], undefined, ['test']), ['dev:', 'stage: dev', 'prod: stage']);
  });
  it('inherit through several skipped ones in a row', () => {
    assert.deepEqual(shape(['dev', 'test', 'stage', 'prod'], undefined, ['stage', 'test']), ['dev:', 'prod: dev']);
  });
  it('leave nothing to wait for where the first is skipped', () => {
    assert.deepEqual(shape(['dev', 'prod'], undefined, ['dev']), ['prod:']);
  });
  it('of a whole wave make the next one wait for what that wave waited for', () => {
    assert.deepEqual(shape(['dev', 'a(1)', 'b(1)', 'prod(2)'], undefined, ['a', 'b']), ['dev:', 'prod: dev']);
  });
  it('of a part of a wave keep the rest and what the part waited for', () => {
    assert.deepEqual(shape(['dev', 'a(1)', 'b(1)', 'prod(2)'], undefined, ['a']), ['dev:', 'b: dev', 'prod: dev b']);
  });
  it('of an unknown environment are refused', () => {
    assert.equal(refusal(['dev', 'prod'], undefined, ['tset']).code, 'UnknownSkip');
  });
  it('of the target are refused, given or defaulted', () => {
    assert.equal(refusal(['dev', 'test', 'prod'], 'test', ['test']).code, 'TargetSkipped');
    assert.equal(refusal(['dev', 'test', 'prod'], undefined, ['prod']).code, 'TargetSkipped');
  });
  it('of everything are refused, because a Bundle would be Verified without having been anywhere', () => {
    assert.equal(refusal(['dev', 'live'], undefined, ['dev', 'live']).code, 'NothingToPromote');
    assert.equal(refusal([]).code, 'NothingToPromote');
  });
  it('of an environment out of scope are a warning', () => {
    const result = plan(['dev', 'test', 'prod'], 'dev', ['test', 'test']);
    assert.ok(result.ok);
    assert.deepEqual(
      result.warnings.map((warning) => warning.code),
      ['SkipOutOfScope'],
    );
  });
});

describe('broken pipelines', () => {
  it('with a cycle are refused with its path', () => {
    const reason = refusal(['a < c', 'b < a', 'c < b', 'z < a']);
    assert.equal(reason.code, 'Cycle');
    assert.match(reason.message, /a → c → b → a/);
  });
  it('with an environment that depends on itself are refused', () => {
    assert.match(refusal(['a', 'b < b']).message, /b → b/);
  });
  it('with a cycle made by waves and order together are refused', () => {
    assert.equal(refusal(['a(1) < b', 'b(2)']).code, 'Cycle');
  });
  it('are refused for a cycle out of scope or through a skipped environment too', () => {
    assert.equal(refusal(['dev', 'x < y', 'y < x'], 'dev').code, 'Cycle');
    assert.equal(refusal(['dev', 'x < y', 'y < x'], undefined, ['y']).code, 'Cycle');
  });
  it('with an unknown dependency are refused, naming who refers to what', () => {
    const reason = refusal(['dev', 'prod < stage']);
    assert.equal(reason.code, 'MissingNode');
    assert.match(reason.message, /"prod" depends on "stage"/);
  });
  it('with a repeated or an empty name are refused', () => {
    assert.equal(refusal(['dev', 'dev']).code, 'DuplicateNode');
    assert.equal(refusal(['dev', '']).code, 'NodeWithoutName');
  });
});

describe('nodes', () => {
  it('of environments are ready when the PromotionStep is Verified', () => {
    const result = plan(['dev']);
    assert.ok(result.ok);
    assert.deepEqual(result.nodes, [
      {
        id: 'dev',
        kind: 'PromotionStep',
        environment: 'dev',
        dependsOn: [],
        readyWhen: 'self.status.state == "Verified"',
        propagateWhen: 'self.status.state == "Verified"',
      },
    ]);
  });
  it('of gates stand between upstream and environment', () => {
    const gates = [
      { id: 'gate/hours', environment: 'prod' },
      { id: 'gate/soak', environment: 'prod', readyWhen: 'self.status.result == "PASS"' },
      { id: 'gate/skipped', environment: 'test' },
    ];
    assert.deepEqual(shape(['dev', 'test', 'prod'], undefined, ['test'], gates), [
      'dev:',
      'gate/hours: dev',
      'gate/soak: dev',
      'prod: dev gate/hours gate/soak',
    ]);
  });
  it('of a gate with the id of an environment or of another gate are refused', () => {
    assert.equal(refusal(['dev', 'prod'], undefined, [], [{ id: 'dev', environment: 'prod' }]).code, 'DuplicateNode');
    assert.equal(refusal(['dev', 'prod'], undefined, [], [{ id: 'prod', environment: 'prod' }]).code, 'DuplicateNode');
  });
});
