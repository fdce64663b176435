/** The resources that the demo applies. */

import type { Bundle } from '../api/kinds/bundle.ts';
import type { Namespace } from '../api/kinds/native.ts';
import type { Pipeline } from '../api/kinds/pipeline.ts';
import { API_VERSION } from '../api/meta.ts';
import { bundleName } from '../api/names.ts';
import { PIPELINE_LABEL } from '../core/labels.ts';
import { CHART_ENVIRONMENT, SAMPLE_ENVIRONMENTS, SAMPLE_IMAGE, SAMPLE_PIPELINE } from './sample-repository.ts';

/** Where the demo's own resources are. */
export const SAMPLE_NAMESPACE = 'default';

/** A namespace for each environment. */
export const sampleNamespaces = (): Namespace[] =>
  SAMPLE_ENVIRONMENTS.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));

/** The Pipeline over the repository at that URL. */
export const samplePipeline = (url: string): Pipeline => ({
  apiVersion: API_VERSION,
  kind: 'Pipeline',
  metadata: { name: SAMPLE_PIPELINE, namespace: SAMPLE_NAMESPACE },
  spec: {
    git: { url, branch: 'main', provider: 'git' },
    environments: SAMPLE_ENVIRONMENTS.map((name) => ({
      name,
      health: { type: 'resource' },
      ...(name === CHART_ENVIRONMENT ? { update: { strategy: 'chart', chart: { file: 'values.yaml', path: 'image.tag' } } } : {}),
    })),
  },
});

/** A Bundle of the sample's image. */
export const sampleBundle = (tag: string): Bundle => ({
  apiVersion: API_VERSION,
  kind: 'Bundle',
  metadata: {
    name: bundleName(SAMPLE_PIPELINE, tag).name,
    namespace: SAMPLE_NAMESPACE,
    labels: { [PIPELINE_LABEL]: SAMPLE_PIPELINE },
  },
  spec: { type: 'image', pipeline: SAMPLE_PIPELINE, images: [{ repository: SAMPLE_IMAGE, tag }], provenance: { author: 'demo' } },
});
