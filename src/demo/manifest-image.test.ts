import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageOfFolder } from './manifest-image.ts';
import { CHART_ENVIRONMENT, SAMPLE_ENVIRONMENTS, sampleFiles } from './sample-repository.ts';

const inFolder = (environment: string, files = sampleFiles()) =>
  imageOfFolder(async (name) => files[`environments/${environment}/${name}`]);

test('every environment of the sample runs the first version', async () => {
  for (const environment of SAMPLE_ENVIRONMENTS) assert.equal(await inFolder(environment), 'ghcr.io/example/shop:1.0.0');
});

test('the environment with a chart is the one with a values file', () => {
  const charts = SAMPLE_ENVIRONMENTS.filter((environment) => sampleFiles()[`environments/${environment}/values.yaml`] !== undefined);
  assert.deepEqual(charts, [CHART_ENVIRONMENT]);
});

test('new names, digests and numbers are read; a folder that names no image has none', async () => {
  const image = (text: string) => imageOfFolder(async (name) => (name === 'kustomization.yaml' ? text : undefined));
  assert.equal(await image('images: [{name: a, newName: b, newTag: 2, digest: "sha256:00"}]'), 'b:2@sha256:00');
  assert.equal(await image('images: []'), undefined);
  assert.equal(await image(''), undefined);
  assert.equal(await image('helmCharts: [{name: x, valuesFile: none.yaml}]'), undefined);
});
