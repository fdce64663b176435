import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { makeScene, type Scene } from '../../test/fixtures/scene.ts';
import { bundle, deployment, gate, graphOf, NOW, pipeline, stepOf } from '../../test/fixtures/worlds.ts';
import { createClusterReader } from '../adapters/cluster-store.ts';
import type { Bundle } from '../api/kinds/bundle.ts';
import type { Deployment } from '../api/kinds/native.ts';
import type { Health } from '../api/kinds/pipeline.ts';
import type { PolicyGate } from '../api/kinds/policy-gate.ts';
import type { PromotionStep } from '../api/kinds/promotion-step.ts';
import { decideBundle } from '../core/bundle/decide.ts';
import { isFinished } from '../core/bundle/phases.ts';
import type { Decision, ResourceEffect } from '../core/effect.ts';
import { decideGraph } from '../core/graph/decide.ts';
import { decideStep } from '../core/step/decide.ts';
import { isEnded, stateOf } from '../core/step/states.ts';
import { gatherBundle, gatherGraph, gatherStep } from '../world/gather.ts';
import { writeResources } from './effects/write-resources.ts';
import { type Change, createInterest } from './interest.ts';
import { type Key, keyText } from './keys.ts';

type Thing = Change['object'];

const ENVIRONMENTS = ['test', 'prod'] as const;

const healths: fc.Arbitrary<Health> = fc.constantFrom(
  {},
  { labelSelector: { app: 'web' } },
  { resource: { name: 'api', namespace: 'test' } },
);

const stepPlans = fc.record({
  state: fc.constantFrom('none', 'Pending', 'Promoting', 'HealthChecking', 'Verified', 'Failed'),
  health: healths,
});

const bundlePlans = fc.record({
  phase: fc.constantFrom('Available', 'Promoting', 'Promoting', 'Superseded', 'Verified'),
  placed: fc.boolean(),
  labelled: fc.constantFrom(true, true, true, false),
  graph: fc.boolean(),
  steps: fc.tuple(stepPlans, stepPlans),
});

const scenes = fc.record({
  pipeline: fc.constantFrom(true, true, true, false),
  bundles: fc.array(bundlePlans, { minLength: 1, maxLength: 3 }),
  gates: fc.subarray(['default/test', 'default/prod', 'platform-policies/test', 'platform-policies/prod']),
  deployments: fc.subarray(['test/web', 'test/api', 'prod/web']),
});
type Plan = typeof scenes extends fc.Arbitrary<infer T> ? T : never;

const gateOf = (place: string): PolicyGate => {
  const [namespace = '', environment = ''] = place.split('/');
  return gate(namespace, `g-${environment}`, [environment]);
};

const deploymentOf = (place: string, available: 'True' | 'False' = 'True'): Deployment => {
  const [namespace = '', name = ''] = place.split('/');
  const own = deployment('ghcr.io/acme/web:1.1', available);
  return { ...own, metadata: { name, namespace, generation: 2, labels: { app: 'web' } } };
};

const stepsOf = (plan: Plan['bundles'][number], own: Bundle): readonly PromotionStep[] =>
  plan.steps.flatMap(({ state, health }, index) => {
    if (state === 'none') return [];
    const environment = ENVIRONMENTS[index] ?? 'test';
    const transitions = [
      { at: new Date(NOW).toISOString(), from: 'Pending', to: 'Promoting', reason: 'Promoting', message: '', attempt: 1 },
    ];
    const names = ['git-clone', 'health-check'];
    const steps = names.map((name, at) => ({ name, state: state === 'HealthChecking' && at === 0 ? 'Succeeded' : 'Running', attempts: 0 }));
    const started = { git: { url: 'https://git.example/d.git' }, environment: { name: environment, health } };
    const begun = { state, attempt: 1, transitions, started, steps };
    return [stepOf(graphOf(own), environment, state === 'Pending' ? {} : begun)];
  });

const thingsOf = (plan: Plan): readonly Thing[] => [
  ...(plan.pipeline ? [pipeline()] : []),
  ...plan.bundles.flatMap((given, index): Thing[] => {
    const name = `b${index}`;
    const own = bundle(name, { phase: given.phase, ...(given.placed ? { sequence: index + 1 } : {}) }, { version: `${index}` });
    if (!given.labelled) own.metadata.labels = {};
    const accepted = { type: 'Accepted', status: 'True', reason: 'Valid', message: '', lastTransitionTime: new Date(NOW).toISOString() };
    const graph = { ...graphOf(own), status: { conditions: [accepted] } };
    return [own, ...(given.graph ? [graph, ...stepsOf(given, own)] : [])];
  }),
  ...plan.gates.map(gateOf),
  ...plan.deployments.map((place) => deploymentOf(place)),
];

/** Something that may happen to the scene. */
const happenings = fc.record({
  what: fc.constantFrom('delete', 'delete', 'phase', 'place', 'label', 'state', 'nodes', 'environments', 'gate', 'deployment', 'bundle'),
  index: fc.nat(20),
});
type Happening = typeof happenings extends fc.Arbitrary<infer T> ? T : never;

const pick = <T>(all: readonly T[], index: number): T | undefined => all[index % Math.max(1, all.length)];
const ofKind = <K extends Thing['kind']>(things: readonly Thing[], kind: K): readonly Extract<Thing, { kind: K }>[] =>
  things.filter((thing): thing is Extract<Thing, { kind: K }> => thing.kind === kind);

const bundleChange = (things: readonly Thing[], { what, index }: Happening): Thing | undefined => {
  const own = pick(ofKind(things, 'Bundle'), index);
  if (own === undefined) return undefined;
  switch (what) {
    case 'phase':
      return { ...own, status: { ...own.status, phase: pick(['Available', 'Promoting', 'Superseded', 'Failed'], index >> 2) ?? '' } };
    case 'place':
      return { ...own, status: { ...own.status, sequence: 1 + (index >> 2) } };
    case 'label':
      return { ...own, metadata: { ...own.metadata, labels: index % 2 ? {} : { 'promoter.io/pipeline': 'web' } } };
    default:
      return bundle(`b${index % 4}`, { phase: 'Available' }, { version: `new-${index}` });
  }
};

/** The change, or undefined when there is nothing that it could happen to. */
const changeOf = (things: readonly Thing[], happening: Happening): Change | undefined => {
  const { what, index } = happening;
  const modified = (object: Thing | undefined): Change | undefined => object && { type: 'MODIFIED', object };
  switch (what) {
    case 'delete': {
      const object = pick(things, index);
      return object && { type: 'DELETED', object };
    }
    case 'state': {
      const own = pick(ofKind(things, 'PromotionStep'), index);
      return modified(own && { ...own, status: { ...own.status, state: pick(['Promoting', 'Verified', 'Failed'], index >> 2) ?? '' } });
    }
    case 'nodes': {
      const own = pick(ofKind(things, 'Graph'), index);
      return modified(own?.spec && { ...own, spec: { ...own.spec, nodes: own.spec.nodes.slice(0, 1) } });
    }
    case 'environments': {
      const own = pick(ofKind(things, 'Pipeline'), index);
      return modified(own && { ...own, spec: { ...own.spec, environments: [{ name: 'test' }, { name: 'uat' }, { name: 'prod' }] } });
    }
    case 'gate':
      return modified(gateOf(pick(['default/test', 'default/prod', 'platform-policies/test', 'platform-policies/prod'], index) ?? ''));
    case 'deployment':
      return modified(deploymentOf(pick(['test/web', 'test/api', 'prod/web'], index) ?? '', 'False'));
    default:
      return modified(bundleChange(things, happening));
  }
};

const isLive = (thing: Thing): boolean => {
  if (thing.kind === 'Bundle') return !isFinished(thing.status);
  if (thing.kind === 'PromotionStep') return !isEnded(stateOf(thing.status));
  return thing.kind === 'Graph';
};

/** Keys of what is still promoted, in the scene or not (a Graph may not exist yet). */
const keysOf = (things: readonly Thing[]): readonly Key[] =>
  things.filter(isLive).flatMap((thing): Key[] => {
    const { name } = thing.metadata;
    const named = (kind: Key['kind']): Key => ({ kind, namespace: 'default', name });
    if (thing.kind === 'Bundle') return [named('Bundle'), named('Graph')];
    return thing.kind === 'PromotionStep' ? [named('PromotionStep')] : [];
  });

const decisionOf = async (scene: Scene, key: Key): Promise<Decision | undefined> => {
  const ok = <T>(gathered: { readonly ok: boolean; readonly value?: T }): T | undefined => gathered.value;
  if (key.kind === 'Bundle') {
    const world = ok(await gatherBundle(scene.context, key));
    return world && decideBundle(world, NOW);
  }
  if (key.kind === 'Graph') {
    const world = ok(await gatherGraph(scene.context, key));
    return world && decideGraph(world, NOW);
  }
  const world = ok(await gatherStep(scene.context, createClusterReader(scene.store), key));
  return world && decideStep(world, NOW);
};

/** What a decision would do and say: versions do not matter. */
const gist = (decision: Decision | undefined): string => {
  const strip = (name: string, value: unknown): unknown => (name === 'resourceVersion' || name === 'generation' ? undefined : value);
  return JSON.stringify([decision?.reason, decision?.activity, decision?.lookAgainAt, decision?.writes], strip);
};

const gists = async (scene: Scene, keys: readonly Key[]): Promise<readonly string[]> => {
  const all: string[] = [];
  for (const key of keys) all.push(gist(await decisionOf(scene, key)));
  return all;
};

test('whoever decides otherwise because of a change is woken by it', async () => {
  let changedDecisions = 0;
  await fc.assert(
    fc.asyncProperty(scenes, fc.array(happenings, { minLength: 1, maxLength: 4 }), async (plan, all) => {
      let things = thingsOf(plan);
      const scene = makeScene(things);
      const interest = createInterest();
      for (const object of things) interest.affected({ type: 'ADDED', object });
      for (const happening of all) {
        const change = changeOf(things, happening);
        if (change === undefined) continue;
        const { kind, namespace, name } = { kind: change.object.kind, ...change.object.metadata };
        const others = things.filter(
          (thing) => thing.kind !== kind || thing.metadata.name !== name || thing.metadata.namespace !== namespace,
        );
        const keys = keysOf(things);
        const before = await gists(scene, keys);
        if (change.type === 'DELETED') scene.remove(change.object);
        else scene.put(change.object);
        things = change.type === 'DELETED' ? others : [...others, change.object];
        const { now, later } = interest.affected(change);
        const woken = new Set([...now, ...later].map(keyText));
        const after = await gists(scene, keys);
        const live = new Set(keysOf(things).map(keyText));
        keys.forEach((key, at) => {
          if (before[at] === after[at]) return;
          changedDecisions += 1;
          if (live.has(keyText(key)))
            assert.ok(woken.has(keyText(key)), `${keyText(key)} sleeps\nbefore ${before[at]}\nafter ${after[at]}`);
        });
      }
    }),
    { numRuns: 400 },
  );
  assert.ok(changedDecisions > 200, `only ${changedDecisions} decisions changed: the scenes say too little`);
});

/** A change of the object that others could read. */
const telling = (object: Thing): Thing => {
  if (object.kind === 'Bundle')
    return { ...object, status: { ...object.status, phase: object.status?.phase === 'Failed' ? 'Superseded' : 'Failed' } };
  if (object.kind === 'PromotionStep')
    return { ...object, status: { ...object.status, state: object.status?.state === 'Failed' ? 'Verified' : 'Failed' } };
  return object;
};

const selects = (labels: string, thing: Thing): boolean =>
  labels === '' || labels.split(',').every((label) => thing.metadata.labels?.[label.split('=')[0] ?? ''] === label.split('=')[1]);

test('what a look has read wakes its key when it changes or goes', async () => {
  await fc.assert(
    fc.asyncProperty(scenes, async (plan) => {
      const things = thingsOf(plan);
      const scene = makeScene(things);
      for (const key of keysOf(things)) {
        scene.reads.length = 0;
        const decision = await decisionOf(scene, key);
        if (decision === undefined) continue;
        const found = things.filter((thing) =>
          scene.reads.some(
            ({ kind, namespace, name }) =>
              kind === thing.kind &&
              namespace === thing.metadata.namespace &&
              (name === thing.metadata.name || name.includes('=') || name === '') &&
              (name === thing.metadata.name || selects(name, thing)),
          ),
        );
        for (const object of found) {
          for (const change of [
            { type: 'MODIFIED', object: telling(object) },
            { type: 'DELETED', object },
          ] as const) {
            const interest = createInterest();
            for (const thing of things) interest.affected({ type: 'ADDED', object: thing });
            const { now, later } = interest.affected(change);
            const own = keyText({ ...key, kind: key.kind }) === `${object.kind}/default/${object.metadata.name}`;
            if (own && change.type === 'DELETED') continue;
            const woken = [...now, ...later].map(keyText);
            assert.ok(
              woken.includes(keyText(key)),
              `${keyText(key)} read ${object.kind} ${object.metadata.name}; ${change.type} wakes ${woken.join(' ')}`,
            );
          }
        }
      }
    }),
    { numRuns: 60 },
  );
});

/** What the watches tell of the writes. */
const toldOf = async (scene: Scene, writes: readonly ResourceEffect[]): Promise<readonly Change[]> => {
  const told: Change[] = [];
  for (const write of writes) {
    const { kind, name } = write.kind === 'DeleteResource' ? write.ref : { kind: write.object.kind, name: write.object.metadata.name };
    const watched = (['Bundle', 'Graph', 'PromotionStep', 'Pipeline'] as const).find((candidate) => candidate === kind);
    const read = watched && (await scene.store.get(watched, 'default', name));
    if (read?.ok) told.push({ type: write.kind === 'CreateResource' ? 'ADDED' : 'MODIFIED', object: read.value });
  }
  return told;
};

test('whoever has more to do after its own writes is woken by them', async () => {
  let looksWithWrites = 0;
  await fc.assert(
    fc.asyncProperty(scenes, async (plan) => {
      const things = thingsOf(plan);
      const keys = things.flatMap((thing): Key[] =>
        thing.kind === 'Bundle' || thing.kind === 'Graph' || thing.kind === 'PromotionStep'
          ? [{ kind: thing.kind, namespace: 'default', name: thing.metadata.name }]
          : [],
      );
      for (const key of keys) {
        const scene = makeScene(things);
        const interest = createInterest();
        for (const object of things) interest.affected({ type: 'ADDED', object });
        const first = await decisionOf(scene, key);
        const writes = first?.writes ?? [];
        if (writes.length === 0) continue;
        looksWithWrites += 1;
        assert.equal(await writeResources(scene.store, writes), undefined);
        const woken = (await toldOf(scene, writes)).flatMap((change) => interest.affected(change).now.map(keyText));
        const again = await decisionOf(scene, key);
        if (woken.includes(keyText(key)) || again === undefined) continue;
        assert.deepEqual(again.writes, [], `${keyText(key)} sleeps with writes to make`);
        assert.equal(again.activity !== undefined, first?.activity !== undefined, `${keyText(key)} sleeps with an activity to start`);
      }
    }),
    { numRuns: 100 },
  );
  assert.ok(looksWithWrites > 50, `only ${looksWithWrites} looks wrote anything`);
});
