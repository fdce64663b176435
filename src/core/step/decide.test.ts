import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  audited,
  bundle,
  deployment,
  gate,
  graphWorld,
  NOW,
  noGates,
  pipeline,
  SHA,
  step,
  stepWorld,
  writtenStatus,
} from '../../../test/fixtures/worlds.ts';
import type { Environment } from '../../api/kinds/pipeline.ts';
import type { PromotionStep, PromotionStepStatus } from '../../api/kinds/promotion-step.ts';
import { done, terminal, transient } from '../../api/outcome.ts';
import { startedName } from '../audit/due.ts';
import type { ActivityEffect } from '../effect.ts';
import { decideStep } from './decide.ts';
import { type ActivityResult, settle } from './settle.ts';

const started = (environment: Environment = { name: 'test' }): PromotionStep => {
  const own = step('test');
  const world = stepWorld(own, { pipeline: pipeline([environment, { name: 'prod' }]) });
  return { ...own, status: writtenStatus<PromotionStepStatus>(decideStep(world, NOW), 'PromotionStep') ?? {} };
};

const activityOf = (own: PromotionStep): ActivityEffect => {
  const { activity } = decideStep(stepWorld(own), NOW);
  assert.ok(activity, 'an activity was expected');
  return activity;
};

const after = (own: PromotionStep, result: ActivityResult): PromotionStep => ({
  ...own,
  status: settle(own, activityOf(own), done(result), NOW + 1000) ?? {},
});

/** The step with everything behind it up to the health check. */
const pushed = (environment?: Environment): PromotionStep => {
  const fetched = after(started(environment), { result: 'fetched', tip: SHA });
  const previewed = after(fetched, { result: 'previewed', files: ['environments/test/kustomization.yaml'] });
  const committed = after(previewed, { result: 'committed', commit: 'b'.repeat(40), changed: true });
  return after(committed, { result: 'landed', commit: 'c'.repeat(40), found: false, races: 1 });
};

test('a step starts with a snapshot of its environment, the inferred sequence and a PromotionStarted event', () => {
  const decision = decideStep(stepWorld(step('test')), NOW);
  const status = writtenStatus<PromotionStepStatus>(decision, 'PromotionStep');
  assert.equal(status?.state, 'Promoting');
  assert.deepEqual(
    status?.steps?.map((record) => record.name),
    ['git-clone', 'overlay-set-image', 'git-commit', 'git-push', 'health-check'],
  );
  assert.equal(status?.started?.environment?.name, 'test');
  assert.deepEqual(audited(decision.writes), ['PromotionStarted']);
});

test('the sequence runs in order to the health check, and the commit is what the push landed', () => {
  const own = pushed();
  assert.equal(own.status?.state, 'HealthChecking');
  assert.equal(own.status?.outputs?.['git.commit'], 'c'.repeat(40));
  assert.equal(own.status?.started?.historyBase, SHA);
  assert.match(own.status?.steps?.[3]?.message ?? '', /after 1 lost race/);
});

test('the push carries the run, the place to search from and the trailers', () => {
  const fetched = after(started(), { result: 'fetched', tip: SHA });
  const previewed = after(fetched, { result: 'previewed', files: [] });
  const committed = after(previewed, { result: 'committed', commit: SHA, changed: false });
  const push = activityOf(committed);
  assert.equal(push.kind, 'GitPush');
  if (push.kind !== 'GitPush') return;
  assert.equal(push.run, 'b-uid/test/1');
  assert.equal(push.since, SHA);
  assert.match(
    push.message,
    /\n\nPromoter-Bundle: default\/b\nPromoter-Environment: test\nPromoter-Pipeline: web\nPromoter-Run: b-uid\/test\/1\n$/,
  );
  assert.deepEqual(push.edit, { edit: 'overlay', path: 'environments/test', images: [{ repository: 'ghcr.io/acme/web', tag: '1.1' }] });
});

test('text from outside cannot forge a trailer', () => {
  const hostile = bundle('b', { phase: 'Promoting', sequence: 1, version: '1\nPromoter-Run: forged' });
  const own = after(after(started(), { result: 'fetched', tip: SHA }), { result: 'previewed', files: [] });
  const { activity } = decideStep(stepWorld(own, { bundle: hostile }), NOW);
  assert.equal(activity?.kind, 'GitCommit');
  if (activity?.kind !== 'GitCommit') return;
  assert.equal(activity.message.split('\n').filter((line) => line.startsWith('Promoter-Run:')).length, 1);
});

test('nothing is asked of Git while a newer Bundle exists, a sibling has no place, or a gate applies', () => {
  const own = started();
  const live = bundle('b', { phase: 'Promoting', sequence: 1 });
  const newer = stepWorld(own, { bundle: live, siblings: [live, bundle('n', { phase: 'Promoting', sequence: 2 })] });
  assert.equal(decideStep(newer, NOW).activity, undefined);
  const unplaced = stepWorld(own, { bundle: live, siblings: [live, bundle('n', {}, { version: '2' })] });
  assert.equal(decideStep(unplaced, NOW).activity, undefined);
  const gated = stepWorld(own, { gates: { ...noGates, gates: [gate('default', 'freeze', ['test'])] } });
  assert.equal(decideStep(gated, NOW).activity, undefined);
  assert.equal(decideStep(gated, NOW).reason.code, 'GateClosed');
  const elsewhere = stepWorld(own, { gates: { ...noGates, gates: [gate('default', 'freeze', ['prod'])] } });
  assert.equal(decideStep(elsewhere, NOW).activity?.kind, 'GitFetch');
});

test('an instance or a skip-permission gate never blocks', () => {
  const instance = gate('default', 'i', ['test'], { 'promoter.io/bundle': 'b' });
  const permission = gate('platform-policies', 'p', ['test'], { 'promoter.io/type': 'skip-permission' });
  const world = stepWorld(started(), { gates: { ...noGates, gates: [instance, permission] } });
  assert.equal(decideStep(world, NOW).activity?.kind, 'GitFetch');
});

test('a transient failure keeps the state, counts attempts and is tried again within 30 s', () => {
  let own = started();
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    const effect = activityOf({
      ...own,
      status: { ...own.status, steps: own.status?.steps?.map(({ nextTryAt: _, ...rest }) => rest) ?? [] },
    });
    own = { ...own, status: settle(own, effect, transient('GitUnauthorized', 'no'), NOW) ?? {} };
    const record = own.status?.steps?.[0];
    assert.equal(record?.state, 'Failed');
    assert.equal(record?.attempts, attempt);
    const wait = Date.parse(record?.nextTryAt ?? '') - NOW;
    assert.ok(wait > 0 && wait <= 30_000, `waits ${wait} ms`);
  }
  assert.equal(own.status?.state, 'Promoting');
  const waiting = decideStep(stepWorld(own), NOW);
  assert.equal(waiting.activity, undefined);
  assert.equal(waiting.reason.code, 'GitUnauthorized');
  assert.equal(decideStep(stepWorld(own), waiting.lookAgainAt ?? 0).activity?.kind, 'GitFetch');
});

test('a branch or a repository that has nothing yet is waited for', () => {
  const own = started();
  for (const code of ['GitBranchMissing', 'GitRepositoryEmpty']) {
    const status = settle(own, activityOf(own), terminal(code, 'nothing there'), NOW);
    assert.deepEqual([status?.state, status?.steps?.[0]?.state, status?.reason], ['Promoting', 'Failed', code]);
  }
});

test('a promotion that has not reached its repository follows the Pipeline, one that has does not', () => {
  const own = started();
  const refused = { ...own, status: settle(own, activityOf(own), transient('GitUnauthorized', 'no'), NOW) ?? {} };
  const corrected = pipeline([{ name: 'test' }, { name: 'prod' }]);
  corrected.spec = { ...corrected.spec, git: { ...corrected.spec?.git, url: 'https://git.example/right.git' } };
  assert.deepEqual(
    decideStep(stepWorld(refused), NOW).writes.filter((write) => write.kind === 'UpdateStatus'),
    [],
  );
  const status = writtenStatus<PromotionStepStatus>(decideStep(stepWorld(refused, { pipeline: corrected }), NOW), 'PromotionStep');
  assert.equal(status?.started?.git?.url, 'https://git.example/right.git');
  assert.deepEqual(status?.steps?.[0], { name: 'git-clone', state: 'Running', attempts: 0, startedAt: new Date(NOW).toISOString() });
  assert.equal(status?.transitions?.length, 1, 'it is the same attempt');
  const fetched = after(own, { result: 'fetched', tip: SHA });
  assert.equal(writtenStatus(decideStep(stepWorld(fetched, { pipeline: corrected }), NOW), 'PromotionStep'), undefined);
});

test('a terminal failure ends the step with one PromotionFailed event', () => {
  const own = started();
  const status = settle(own, activityOf(own), terminal('GitURLRefused', 'branch main does not exist'), NOW);
  assert.equal(status?.state, 'Failed');
  assert.equal(status?.message, 'branch main does not exist');
  const decision = decideStep(stepWorld({ ...own, status: status ?? {} }), NOW);
  assert.deepEqual(audited(decision.writes), ['PromotionStarted', 'PromotionFailed']);
});

test('a result for another object of the same name, another attempt or another record changes nothing', () => {
  const own = started();
  const effect = activityOf(own);
  const fetched = done({ result: 'fetched', tip: SHA } as const);
  assert.equal(settle({ ...own, metadata: { ...own.metadata, uid: 'another' } }, effect, fetched, NOW), undefined);
  assert.equal(settle({ ...own, status: { ...own.status, attempt: 2 } }, effect, fetched, NOW), undefined);
  assert.equal(settle(own, { ...effect, index: 3 }, fetched, NOW), undefined);
});

test('a step that exists does not start before its dependencies are Verified, nor after another environment failed', () => {
  const own = step('prod');
  const carried = bundle('b', { phase: 'Promoting', sequence: 1 });
  const graph = graphWorld(carried);
  const after = { ...graph.graph, spec: { pipeline: 'web', bundle: 'b', nodes: [...(graph.graph.spec?.nodes ?? [])] } };
  const prod = after.spec.nodes[1];
  if (prod) after.spec.nodes[1] = { ...prod, dependsOn: ['test'] };
  const waiting = stepWorld(own, { graph: { ...graph, graph: after, steps: [step('test', { state: 'HealthChecking' })] } });
  assert.equal(decideStep(waiting, NOW).reason.code, 'WaitingForUpstream');
  assert.deepEqual(decideStep(waiting, NOW).writes, []);
  const failed = stepWorld(own, { graph: { ...graph, steps: [step('test', { state: 'Failed' })] } });
  assert.equal(decideStep(failed, NOW).reason.code, 'UpstreamFailed');
});

test('a step whose Pipeline is gone or whose Bundle lost its label writes nothing more', () => {
  const own = started();
  assert.equal(decideStep({ ...stepWorld(own), pipeline: undefined }, NOW).activity, undefined);
  const unlabelled = bundle('b', { phase: 'Promoting', sequence: 1 });
  unlabelled.metadata.labels = {};
  assert.equal(decideStep(stepWorld(own, { bundle: unlabelled }), NOW).reason.code, 'LabelMismatch');
});

test('a run that had begun before its status was lost looks for its commit without an end', () => {
  const carried = bundle('b', { phase: 'Promoting', sequence: 1 });
  const world = stepWorld(step('test'), { audits: new Set([startedName(carried, 'test', 1)]) });
  const status = writtenStatus<PromotionStepStatus>(decideStep(world, NOW), 'PromotionStep');
  assert.equal(status?.started?.repeated, true);
  const fetched = after({ ...step('test'), status: status ?? {} }, { result: 'fetched', tip: SHA });
  assert.equal(fetched.status?.started?.historyBase, undefined);
});

test('records that were lost start the sequence over; a sequence that is complete ends', () => {
  const { steps: _, ...lost } = started().status ?? {};
  const over = writtenStatus<PromotionStepStatus>(decideStep(stepWorld({ ...step('test'), status: lost }), NOW), 'PromotionStep');
  assert.deepEqual(
    over?.steps?.map((record) => record.state),
    ['Running', 'Pending', 'Pending', 'Pending', 'Pending'],
  );
  assert.equal(over?.started?.repeated, true);
  const complete = { ...lost, steps: [{ name: 'git-clone', state: 'Succeeded', attempts: 1 }] };
  const ended = writtenStatus<PromotionStepStatus>(decideStep(stepWorld({ ...step('test'), status: complete }), NOW), 'PromotionStep');
  assert.equal(ended?.state, 'Verified');
});

test('a Bundle that is not of images is refused, whatever the steps', () => {
  const config = bundle('b', { phase: 'Promoting', sequence: 1 }, { type: 'mixed' });
  const steps = ['git-clone', 'overlay-set-image', 'git-commit', 'git-push'].map((uses) => ({ uses }));
  const world = stepWorld(step('test'), { bundle: config, pipeline: pipeline([{ name: 'test', steps }, { name: 'prod' }]) });
  const status = writtenStatus<PromotionStepStatus>(decideStep(world, NOW), 'PromotionStep');
  assert.equal(status?.state, 'Failed');
  assert.match(status?.message ?? '', /type mixed is not available/);
});

test('the condition Ready says whether the environment is Verified', () => {
  assert.equal(started().status?.conditions?.[0]?.status, 'False');
  assert.equal(verdict(pushed(), NOW + 2000)?.conditions?.[0]?.status, 'True');
});

test('a sequence that begins with the health check checks health', () => {
  const own = started({ name: 'test', steps: [{ uses: 'health-check' }] });
  assert.equal(own.status?.state, 'HealthChecking');
  assert.equal(verdict(own, NOW + 2000)?.state, 'Verified');
});

test('a rollout inside the bake pauses it and is no alarm', () => {
  const own = pushed({ name: 'test', bake: { minutes: 1, policy: 'fail-on-alarm' } });
  let seen = { ...own, status: verdict(own, NOW + 2000) ?? {} };
  const scaling = deployment('ghcr.io/acme/web:1.1');
  scaling.metadata.generation = 3;
  seen = { ...seen, status: verdict(seen, NOW + 12_000, done([scaling])) ?? {} };
  assert.equal(seen.status.state, 'HealthChecking');
  assert.equal(seen.status.health?.paused, true);
  for (let at = NOW + 32_000; at <= NOW + 82_000; at += 10_000) {
    seen = { ...seen, status: verdict(seen, at) ?? seen.status };
    assert.equal(seen.status.state, 'HealthChecking', 'the pause does not count');
  }
  assert.equal(verdict(seen, NOW + 92_000)?.state, 'Verified');
});

test('old pods that look healthy before an unproven rollout are no healthy look', () => {
  const own = pushed({ name: 'test', bake: { minutes: 1, policy: 'fail-on-alarm' } });
  const unproven = deployment('mirror/web:1.1');
  let seen = { ...own, status: verdict(own, NOW + 2000, done([unproven])) ?? {} };
  assert.equal(seen.status.health?.everHealthy, false);
  const ill = deployment('mirror/web:1.1', 'False');
  seen = { ...seen, status: verdict(seen, NOW + 6000, done([ill])) ?? {} };
  assert.equal(seen.status.state, 'HealthChecking');
});

test('what can never be read fails at once; downtime of the controller does not', () => {
  const own = pushed();
  const world = stepWorld(own, { workloads: terminal('RemoteClusterUnavailable', 'no') });
  assert.equal(writtenStatus<PromotionStepStatus>(decideStep(world, NOW + 2000), 'PromotionStep')?.state, 'Failed');
  const ill = done([deployment('ghcr.io/acme/web:1.1', 'False')]);
  assert.equal(verdict(own, NOW + 7_200_000, ill, NOW + 7_199_000)?.state, 'HealthChecking');
});

test('a result that comes twice, or for a step that has ended, changes nothing', () => {
  const own = started();
  const effect = activityOf(own);
  const moved = after(own, { result: 'fetched', tip: SHA });
  assert.equal(settle(moved, effect, done({ result: 'fetched', tip: SHA }), NOW), undefined);
  const failed = { ...own, status: { ...own.status, state: 'Failed' } };
  assert.equal(settle(failed, effect, done({ result: 'fetched', tip: SHA }), NOW), undefined);
  assert.equal(settle(own, effect, done({ result: 'withdrawn' }), NOW), undefined);
});

test('a base that is gone starts the sequence over', () => {
  const own = after(started(), { result: 'fetched', tip: SHA });
  const status = settle(own, activityOf(own), transient('GitBaseMissing', 'gone'), NOW);
  assert.deepEqual(
    status?.steps?.map((record) => record.state),
    ['Running', 'Pending', 'Pending', 'Pending', 'Pending'],
  );
});

test('an environment that asks for what this version cannot do fails before anything is written', () => {
  const cases: readonly [Environment, RegExp][] = [
    [{ name: 'test', approval: 'pr-review' }, /approval pr-review/],
    [{ name: 'test', renderManifests: true }, /renderManifests/],
    [{ name: 'test', update: { strategy: 'custom' } }, /custom needs steps/],
    [{ name: 'test', steps: [{ uses: 'scan' }] }, /missing input webhook.url/],
    [{ name: 'test', steps: [{ uses: 'integration-test' }] }, /integration-test/],
    [{ name: 'test', health: { type: 'argocd' } }, /gitopsApp/],
    [{ name: 'test', health: { cluster: 'remote' } }, /health.cluster/],
    [{ name: 'test', steps: [{ uses: 'health-check', config: { after: '5m' } }] }, /health-check takes no config/],
    [{ name: 'test', steps: [{ uses: 'git-push' }, { uses: 'git-clone' }] }, /git-push needs git-commit before it/],
    [{ name: 'test', steps: [{ uses: 'git-clone' }, { uses: 'overlay-set-image' }] }, /overlay-set-image needs git-commit behind it/],
    [
      { name: 'test', steps: [{ uses: 'git-clone' }, { uses: 'overlay-set-image' }, { uses: 'git-commit' }] },
      /git-commit needs git-push behind it/,
    ],
    [{ name: 'test', steps: [{ uses: 'overlay-set-image' }, { uses: 'git-commit' }, { uses: 'git-push' }] }, /needs git-clone before it/],
  ];
  for (const [environment, message] of cases) {
    const own = started(environment);
    assert.equal(own.status?.state, 'Failed');
    assert.match(own.status?.message ?? '', message);
  }
});

const verdict = (own: PromotionStep, at: number, workloads = done([deployment('ghcr.io/acme/web:1.1')]), observingSince = NOW - 1000) =>
  writtenStatus<PromotionStepStatus>(decideStep(stepWorld(own, { workloads, observingSince }), at), 'PromotionStep');

test('a healthy Deployment that runs the new image is Verified at once; the old image blocks', () => {
  const own = pushed();
  const verified = verdict(own, NOW + 2000);
  assert.equal(verified?.state, 'Verified');
  assert.deepEqual(Object.keys(verified?.evidence?.timing ?? {}), [
    'started',
    'git-clone',
    'overlay-set-image',
    'git-commit',
    'git-push',
    'health-check',
    'verified',
  ]);
  const old = verdict(own, NOW + 2000, done([deployment('ghcr.io/acme/web:1.0')]));
  assert.equal(old?.state, 'HealthChecking');
  assert.equal(old?.health?.reason, 'OldRevision');
});

test('health that nothing proves must hold for the settle time', () => {
  const own = pushed();
  const unproven = done([deployment('other/image:9')]);
  const first = { ...own, status: verdict(own, NOW + 2000, unproven) ?? {} };
  assert.equal(first.status.state, 'HealthChecking');
  assert.equal(first.status.health?.reason, 'Settling');
  const held = verdict(first, NOW + 12_000, unproven);
  assert.equal(held?.state, 'Verified');
  assert.match(held?.steps?.at(-1)?.message ?? '', /unproven/);
});

test('without a healthy observation the step fails after health.timeout, and a healthy one counts from there', () => {
  const own = pushed({ name: 'test', health: { timeout: '1m' } });
  const ill = done([deployment('ghcr.io/acme/web:1.1', 'False')]);
  assert.equal(verdict(own, NOW + 59_000, ill)?.state, 'HealthChecking');
  const failed = verdict(own, NOW + 62_000, ill);
  assert.equal(failed?.state, 'Failed');
  assert.equal(failed?.reason, 'HealthTimeout');
});

test('a bake longer than the timeout is fine while healthy, and an alarm starts it again', () => {
  let own = pushed({ name: 'test', bake: { minutes: 5 }, health: { timeout: '1m' } });
  let at = NOW + 2000;
  for (; at < NOW + 280_000; at += 10_000) own = { ...own, status: verdict(own, at) ?? own.status ?? {} };
  assert.equal(own.status?.state, 'HealthChecking');
  const alarmed = { ...own, status: verdict(own, at, done([deployment('ghcr.io/acme/web:1.1', 'False')])) ?? {} };
  assert.equal(alarmed.status.state, 'HealthChecking');
  assert.equal(alarmed.status.health?.healthySince, undefined);
});

test('the bake ends in Verified at its minute', () => {
  let own = pushed({ name: 'test', bake: { minutes: 1 } });
  for (let at = NOW + 2000; at <= NOW + 52_000; at += 10_000) own = { ...own, status: verdict(own, at) ?? own.status ?? {} };
  assert.equal(own.status?.state, 'HealthChecking');
  assert.equal(verdict(own, NOW + 62_000)?.state, 'Verified');
});

test('time in which no controller looked does not count as healthy', () => {
  const own = pushed({ name: 'test', bake: { minutes: 1 } });
  const seen = { ...own, status: verdict(own, NOW + 2000) ?? {} };
  const back = verdict(seen, NOW + 3_600_000, undefined, NOW + 3_599_000);
  assert.equal(back?.state, 'HealthChecking');
});

test('fail-on-alarm ends in Failed or, with abort, in AbortedByAlarm; ill health before the first healthy look is no alarm', () => {
  const bake = { minutes: 5, policy: 'fail-on-alarm' };
  const ill = done([deployment('ghcr.io/acme/web:1.1', 'False')]);
  const early = pushed({ name: 'test', bake });
  assert.equal(verdict(early, NOW + 2000, ill)?.state, 'HealthChecking');
  const seen = { ...early, status: verdict(early, NOW + 2000) ?? {} };
  assert.equal(verdict(seen, NOW + 12_000, ill)?.state, 'Failed');
  const aborting = pushed({ name: 'test', bake, onHealthFailure: 'abort' });
  const healthy = { ...aborting, status: verdict(aborting, NOW + 2000) ?? {} };
  assert.equal(verdict(healthy, NOW + 12_000, ill)?.state, 'AbortedByAlarm');
});

test('a Deployment that is missing, or a cluster that cannot be read, is not healthy and no alarm', () => {
  const own = pushed();
  assert.equal(verdict(own, NOW + 2000, done([]))?.health?.reason, 'DeploymentMissing');
  const world = stepWorld(own, { workloads: transient('ClusterUnreachable', 'connection refused') });
  assert.equal(writtenStatus<PromotionStepStatus>(decideStep(world, NOW + 2000), 'PromotionStep')?.health?.reason, 'ClusterUnreachable');
});
