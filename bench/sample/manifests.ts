/** Manifests as a GitOps repository holds them: one to two kilobytes a file, no two alike. */

/** The environments of every app, in their order. */
export const ENVIRONMENTS = ['test', 'uat', 'prod'] as const;

const APPS_PER_TEAM = 100;
const BASE_FILES = ['configmap', 'deployment', 'hpa', 'kustomization', 'networkpolicy', 'pdb', 'service', 'serviceaccount'] as const;
const OVERLAY_FILES = ['config', 'kustomization', 'replicas', 'resources'] as const;

/** Files of one app: its base, and an overlay for each environment. */
export const FILES_PER_APP = BASE_FILES.length + ENVIRONMENTS.length * OVERLAY_FILES.length;

/** Name of an app. */
export const appName = (app: number): string => `app-${String(app).padStart(5, '0')}`;

/** Image repository of an app. */
export const imageOf = (app: number): string => `registry.example.com/shop/${appName(app)}`;

/** Folder of an app. */
const appFolder = (app: number): string => `teams/team-${String(Math.floor(app / APPS_PER_TEAM)).padStart(3, '0')}/${appName(app)}`;

/** Folder of an app's overlay of one environment. */
export const overlayFolder = (app: number, environment: string): string => `${appFolder(app)}/overlays/${environment}`;

/** Path of the file that promotions edit. */
export const kustomizationPath = (app: number, environment: string): string => `${overlayFolder(app, environment)}/kustomization.yaml`;

/** Path of a file that only people edit. */
export const deploymentPath = (app: number): string => `${appFolder(app)}/base/deployment.yaml`;

/** The same numbers for the same seed (xorshift). */
const noise = (seed: number): (() => string) => {
  let state = (Math.imul(seed, 2654435761) ^ 0x9e3779b9) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0).toString(36);
  };
};

const lines = (seed: number, count: number): string => {
  const word = noise(seed);
  return Array.from({ length: count }, (_, index) => `    setting-${String(index).padStart(2, '0')}: "${word()}-${word()}"`).join('\n');
};

const manifest = (kind: string, name: string, seed: number): string =>
  `apiVersion: v1
kind: ${kind}
metadata:
  name: ${name}
  labels:
    app.kubernetes.io/name: ${name}
    app.kubernetes.io/managed-by: kustomize
  annotations:
    example.com/revision: "0"
spec:
  values:
${lines(seed, 24 + (seed % 24))}
`;

const kustomization = (app: number, environment: string, seed: number): string =>
  `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: ${environment}
resources:
  - ../../base
patches:
  - path: replicas.yaml # how many of it
  - path: resources.yaml
images:
  # Written by promotions.
  - name: ${imageOf(app)}
    newTag: "1.0.0"
configMapGenerator:
  - name: ${appName(app)}-environment
    files: [config.yaml]
commonAnnotations:
${lines(seed, 20)}
`;

/** Every file of an app, path and text, in the order in which Git keeps them. */
export function* filesOf(app: number): Generator<readonly [path: string, text: string]> {
  const name = appName(app);
  let seed = app * FILES_PER_APP + 1;
  for (const kind of BASE_FILES) yield [`${appFolder(app)}/base/${kind}.yaml`, manifest(kind, name, seed++)];
  for (const environment of ENVIRONMENTS.toSorted()) {
    const folder = overlayFolder(app, environment);
    for (const kind of OVERLAY_FILES) {
      const text = kind === 'kustomization' ? kustomization(app, environment, seed++) : manifest(kind, name, seed++);
      yield [`${folder}/${kind}.yaml`, text];
    }
  }
}

/** The kustomization with another tag. */
export const withTag = (text: string, tag: string): string => text.replace(/newTag: .*/, `newTag: "${tag}"`);

/** The manifest as a person who touched it left it. */
export const withRevision = (text: string, revision: string): string => text.replace(/revision: .*/, `revision: "${revision}"`);
