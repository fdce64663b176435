import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '../../../test/fixtures/worlds.ts';
import type { Image } from '../../api/kinds/bundle.ts';
import type { Deployment } from '../../api/kinds/native.ts';
import { done, terminal, transient } from '../../api/outcome.ts';
import { resolveEnvironment } from '../../api/resolve.ts';
import { type Observation, observe } from './observe.ts';
import { type HealthTarget, healthTarget } from './target.ts';

const TARGET: HealthTarget = healthTarget(resolveEnvironment({}, { name: 'test' }, 'default'), 'web');
const SELECTED: HealthTarget = { ...TARGET, selector: { app: 'web' } };
const WEB = 'ghcr.io/acme/web';
const IMAGES: readonly Image[] = [{ repository: WEB, tag: '1.1' }];
const DIGEST = `sha256:${'d'.repeat(64)}`;

const seen = (found: readonly Deployment[], images = IMAGES, target = TARGET): Observation => observe(done(found), target, images);
const gist = ({ verdict, proven, reason }: Observation) => [verdict, proven, reason.code];

const withStatus = (changes: Deployment['status'], replicas = 1): Deployment => {
  const own = deployment(`${WEB}:1.1`);
  return { ...own, spec: { ...own.spec, replicas }, status: { ...own.status, ...changes } };
};

const running = (...images: readonly string[]): Deployment => {
  const own = deployment('');
  return {
    ...own,
    spec: { replicas: 1, template: { spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) } } },
  };
};

test('a Deployment that is Available and runs the image in the wanted version is healthy, and proven', () => {
  assert.deepEqual(gist(seen([deployment(`${WEB}:1.1`)])), ['healthy', true, 'Healthy']);
});

test('a status that does not say which generation it speaks of proves nothing', () => {
  const { observedGeneration: _, ...silent } = deployment(`${WEB}:1.1`).status ?? {};
  assert.deepEqual(gist(seen([{ ...deployment(`${WEB}:1.1`), status: silent }])), ['healthy', false, 'Healthy']);
  const { generation: __, ...metadata } = deployment(`${WEB}:1.1`).metadata;
  assert.deepEqual(gist(seen([{ ...deployment(`${WEB}:1.1`), metadata }])), ['healthy', false, 'Healthy']);
});

test('another version of an image of the Bundle contradicts, whatever is Available', () => {
  const cases: readonly [string, Image, 'healthy' | 'contradicted'][] = [
    [`${WEB}:1.0`, { repository: WEB, tag: '1.1' }, 'contradicted'],
    [`${WEB}`, { repository: WEB, tag: '1.1' }, 'contradicted'],
    [`${WEB}:1.1@${DIGEST}`, { repository: WEB, tag: '1.1' }, 'healthy'],
    [`${WEB}:9@${DIGEST}`, { repository: WEB, tag: '1.1', digest: DIGEST }, 'healthy'],
    [`${WEB}:1.1@sha256:${'e'.repeat(64)}`, { repository: WEB, tag: '1.1', digest: DIGEST }, 'contradicted'],
    [`${WEB}:1.1`, { repository: WEB, tag: '1.1', digest: DIGEST }, 'healthy'],
    [`${WEB}:1.1`, { repository: WEB, digest: DIGEST }, 'contradicted'],
    [`${WEB}@${DIGEST}`, { repository: WEB, digest: DIGEST }, 'healthy'],
  ];
  for (const [image, wanted, verdict] of cases) {
    const observation = seen([deployment(image)], [wanted]);
    assert.equal(observation.verdict, verdict, `${image} for ${JSON.stringify(wanted)}`);
    assert.equal(observation.proven, verdict === 'healthy');
  }
  assert.match(seen([deployment(`${WEB}:1.0`)]).reason.message, /container web runs ghcr\.io\/acme\/web:1\.0, not 1\.1/);
});

test('one container in an old version contradicts, also one that only runs first; others do not matter', () => {
  assert.equal(seen([running(`${WEB}:1.1`, `${WEB}:1.0`)]).verdict, 'contradicted');
  const own = deployment(`${WEB}:1.1`);
  const first: Deployment = {
    ...own,
    spec: { ...own.spec, template: { spec: { ...own.spec?.template?.spec, initContainers: [{ name: 'init', image: `${WEB}:1.0` }] } } },
  };
  assert.match(seen([first]).reason.message, /container init/);
  assert.deepEqual(gist(seen([running('envoy:3', `${WEB}:1.1`, 'not an image ::')])), ['healthy', true, 'Healthy']);
  assert.deepEqual(gist(seen([running('envoy:3')])), ['healthy', false, 'Healthy']);
  assert.deepEqual(gist(seen([running(`mirror/${WEB}:1.0`)])), ['healthy', false, 'Healthy'], 'another registry proves nothing');
});

test('a rollout under way blocks and is not ill health', () => {
  const scaled = deployment(`${WEB}:1.1`);
  const cases: readonly [Deployment, RegExp | undefined][] = [
    [{ ...scaled, metadata: { ...scaled.metadata, generation: 3 } }, /generation 3 has not been observed/],
    [withStatus({ updatedReplicas: 1 }, 3), /1 of 3 replicas are updated/],
    [withStatus({ updatedReplicas: 3, replicas: 5 }, 3), /2 replicas of the old version/],
    [withStatus({ updatedReplicas: 3, replicas: 3 }, 3), undefined],
    [withStatus({ updatedReplicas: 0 }, 0), undefined],
    [withStatus({ replicas: 5 }, 3), undefined],
  ];
  for (const [own, message] of cases) {
    const observation = seen([own]);
    assert.equal(observation.verdict, message ? 'progressing' : 'healthy');
    if (message) assert.match(observation.reason.message, message);
  }
});

test('a condition that is missing, False or Unknown is ill health, with what the cluster says', () => {
  assert.deepEqual(gist(seen([withStatus({ conditions: [] })])), ['unhealthy', false, 'ConditionMissing']);
  const said = withStatus({ conditions: [{ type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable', message: '' }] });
  assert.match(seen([said]).reason.message, /Available is False \(MinimumReplicasUnavailable\)/);
  assert.match(seen([withStatus({ conditions: [{ type: 'Available' }] })]).reason.message, /Available is Unknown \(no message\)/);
  const { status: _, ...bare } = deployment(`${WEB}:1.1`);
  assert.deepEqual(gist(seen([bare])), ['unhealthy', false, 'ConditionMissing']);
  const other = withStatus({ conditions: [{ type: 'Progressing', status: 'True' }] });
  assert.equal(observe(done([other]), { ...TARGET, condition: 'Progressing' }, IMAGES).verdict, 'healthy');
});

test('nothing found is ill health and says what was looked for', () => {
  assert.match(seen([]).reason.message, /Deployment test\/web not found/);
  assert.match(seen([], IMAGES, SELECTED).reason.message, /no Deployment in namespace test matches/);
});

test('what could not be read is unknown, what never can be is impossible', () => {
  assert.deepEqual(gist(observe(transient('StoreUnavailable', 'no'), TARGET, IMAGES)), ['unknown', false, 'StoreUnavailable']);
  assert.deepEqual(gist(observe(terminal('InvalidSelector', 'no'), TARGET, IMAGES)), ['impossible', false, 'InvalidSelector']);
});

test('of several, one that is not healthy decides, ill health before a rollout', () => {
  const good = deployment(`${WEB}:1.1`);
  const ill = deployment(`${WEB}:1.1`, 'False');
  const old = deployment(`${WEB}:1.0`);
  assert.equal(seen([good, old, ill], IMAGES, SELECTED).verdict, 'unhealthy');
  assert.equal(seen([good, old], IMAGES, SELECTED).verdict, 'contradicted');
  assert.match(seen([good, good], IMAGES, SELECTED).reason.message, /2 Deployments are healthy/);
});

test('of several, all that run an image of the Bundle must prove it, and at least one must', () => {
  const good = deployment(`${WEB}:1.1`);
  const stranger = deployment('envoy:3');
  const silent: Deployment = { ...good, status: { conditions: [{ type: 'Available', status: 'True' }] } };
  assert.equal(seen([good, stranger], IMAGES, SELECTED).proven, true);
  assert.equal(seen([good, silent], IMAGES, SELECTED).proven, false);
  assert.equal(seen([stranger, stranger], IMAGES, SELECTED).proven, false);
});
