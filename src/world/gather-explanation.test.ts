import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeScene, type Scene } from '../../test/fixtures/scene.ts';
import { bundle, graphOf, ownedBy, pipeline, stepOf } from '../../test/fixtures/worlds.ts';
import { createClusterReader } from '../adapters/cluster-store.ts';
import type { BundleSpec, BundleStatus } from '../api/kinds/bundle.ts';
import { gatherExplanation } from './gather-explanation.ts';

const ask = (scene: Scene, name?: string) =>
  gatherExplanation(scene.context, createClusterReader(scene.store), {
    namespace: 'default',
    pipeline: 'web',
    ...(name === undefined ? {} : { bundle: name }),
  });

const chosenFrom = async (...bundles: readonly [string, BundleStatus, BundleSpec?][]): Promise<string | undefined> => {
  const scene = makeScene([pipeline(), ...bundles.map(([name, status, spec]) => bundle(name, status, { version: name, ...spec }))]);
  const world = await ask(scene);
  assert.ok(world.ok);
  return world.value.bundle?.bundle.metadata.name;
};

test('the newest Bundle that is under way is explained, and what has ended only when nothing is', async () => {
  const old = ['old', { phase: 'Promoting', sequence: 1 }] as const;
  assert.equal(await chosenFrom([...old], ['new', { phase: 'Promoting', sequence: 2 }]), 'new');
  assert.equal(await chosenFrom([...old], ['done', { phase: 'Verified', sequence: 2 }]), 'old');
  assert.equal(await chosenFrom(['a', { phase: 'Superseded', sequence: 1 }], ['z', { phase: 'Failed', sequence: 2 }]), 'z');
  assert.equal(await chosenFrom([...old], ['new', {}]), 'new', 'one that takes its place next is the newest');
});

test('a Bundle that the controller ignores, or that gets no place, does not hide the one in flight', async () => {
  const live = ['live', { phase: 'Promoting', sequence: 1 }] as const;
  assert.equal(await chosenFrom([...live], ['stranger', {}, { pipeline: 'other' }]), 'live');
  assert.equal(await chosenFrom([...live], ['twin', {}, { version: 'live' }]), 'live', 'its version exists already');
  assert.equal(await chosenFrom(['stranger', {}, { pipeline: 'other' }]), 'stranger', 'unless there is nothing else');
  assert.equal(await chosenFrom(['done', { phase: 'Verified', sequence: 1 }], ['twin', {}, { version: 'done' }]), 'twin');
});

test('a Bundle by name must be one of this Pipeline', async () => {
  const scene = makeScene([pipeline(), bundle('b', { phase: 'Promoting', sequence: 1 }), bundle('s', {}, { pipeline: 'other' })]);
  const found = await ask(scene, 'b');
  assert.equal(found.ok && found.value.bundle?.bundle.metadata.name, 'b');
  for (const name of ['nope', 's', '']) {
    const refused = await ask(scene, name);
    assert.equal(refused.ok ? 'found' : refused.error.code, 'NotFound');
    assert.match(refused.ok ? '' : refused.error.message, new RegExp(`has no Bundle "${name}"`));
  }
});

test('a Pipeline that does not exist is NotFound; one without a Bundle has nothing to explain', async () => {
  const missing = await ask(makeScene());
  assert.equal(missing.ok ? '' : missing.error.code, 'NotFound');
  const empty = await ask(makeScene([pipeline()]));
  assert.deepEqual(empty.ok && [empty.value.bundle, empty.value.graph, empty.value.steps], [undefined, undefined, []]);
});

test('the Worlds are those that the decisions see: Graph and steps of this very Bundle', async () => {
  const b = bundle('b', { phase: 'Promoting', sequence: 1 });
  const graph = graphOf(b);
  const world = await ask(makeScene([pipeline(), b, graph, stepOf(graph, 'test'), stepOf(graph, 'prod')]));
  assert.ok(world.ok);
  assert.equal(world.value.graph?.bundle?.metadata.uid, 'b-uid');
  assert.deepEqual(world.value.steps.map(({ step, bundle: own }) => [step.spec?.environment, own?.metadata.uid]).sort(), [
    ['prod', 'b-uid'],
    ['test', 'b-uid'],
  ]);

  const stranger = ownedBy({ ...b, metadata: { ...b.metadata, uid: 'former' } }, graph);
  const foreign = await ask(makeScene([pipeline(), b, stranger, stepOf(stranger, 'test')]));
  assert.ok(foreign.ok);
  assert.deepEqual([foreign.value.graph, foreign.value.steps, foreign.value.bundle?.graphTaken], [undefined, [], true]);
});

test('a read that is refused is the answer', async () => {
  const scene = makeScene([pipeline(), bundle('b', { phase: 'Promoting', sequence: 1 })]);
  const error = { code: 'Unavailable', message: 'no' } as const;
  const broken = { ...scene.context.store, get: async () => ({ ok: false, error }) as const };
  const answer = await gatherExplanation({ ...scene.context, store: broken }, createClusterReader(scene.store), {
    namespace: 'default',
    pipeline: 'web',
  });
  assert.deepEqual(answer, { ok: false, error });
});
