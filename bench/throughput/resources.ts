/** The resources of a fleet: a Pipeline, a Bundle and a Deployment in each environment for every app. */
import type { Bundle } from '../../src/api/kinds/bundle.ts';
import type { Deployment } from '../../src/api/kinds/native.ts';
import type { Pipeline } from '../../src/api/kinds/pipeline.ts';
import { API_VERSION } from '../../src/api/meta.ts';
import { PIPELINE_LABEL } from '../../src/core/labels.ts';
import { appName, ENVIRONMENTS, imageOf, overlayFolder } from '../sample/manifests.ts';
import { BRANCH } from '../sample/remote.ts';

/** The version that everything is promoted to. */
export const TAG = '2.0.0';
/** The version that runs before. */
export const OLD_TAG = '1.0.0';
const NAMESPACE = 'default';

/** The Pipeline of an app over the repository at that URL. */
export const pipelineOf = (app: number, url: string): Pipeline => ({
  apiVersion: API_VERSION,
  kind: 'Pipeline',
  metadata: { name: appName(app), namespace: NAMESPACE },
  spec: {
    git: { url, branch: BRANCH, provider: 'local' },
    environments: ENVIRONMENTS.map((name) => ({ name, path: overlayFolder(app, name), health: { type: 'resource' } })),
  },
});

/** The Bundle of an app. */
export const bundleOf = (app: number): Bundle => ({
  apiVersion: API_VERSION,
  kind: 'Bundle',
  metadata: { name: `${appName(app)}-${TAG}`, namespace: NAMESPACE, labels: { [PIPELINE_LABEL]: appName(app) } },
  spec: { type: 'image', pipeline: appName(app), images: [{ repository: imageOf(app), tag: TAG }], provenance: { author: 'bench' } },
});

/** The Deployments of an app with an image of that tag, all of it available. */
export const deploymentsOf = (app: number, tag: string): Deployment[] =>
  ENVIRONMENTS.map((namespace) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: appName(app), namespace },
    spec: { replicas: 1, template: { spec: { containers: [{ name: 'app', image: `${imageOf(app)}:${tag}` }] } } },
    status: {
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      availableReplicas: 1,
      conditions: [{ type: 'Available', status: 'True' }],
    },
  }));
