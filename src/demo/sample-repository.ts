/** The repository that the demo promotes through: one Kustomize base, three overlays, and a chart whose values one of them uses. */

/** Image that the sample deploys; nothing is ever pulled. */
export const SAMPLE_IMAGE = 'ghcr.io/example/shop';
/** What every environment runs before the first Bundle. */
export const FIRST_TAG = '1.0.0';
/** Name of the Pipeline, and of the Deployment in every environment. */
export const SAMPLE_PIPELINE = 'shop';
/** In the order of promotion; each is also the namespace of its Deployment. */
export const SAMPLE_ENVIRONMENTS = ['test', 'staging', 'prod'] as const;
/** The environment whose image is set in a values file. */
export const CHART_ENVIRONMENT = 'staging';

const overlay = (environment: string, replicas: number): string => `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: ${environment}

resources:
  - ../../base

# The line below is all that a promotion changes here.
images:
  - name: ${SAMPLE_IMAGE}
    newTag: "${FIRST_TAG}"

replicas:
  - name: shop
    count: ${replicas}
`;

const chartOverlay = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: staging

helmGlobals:
  chartHome: ../../charts
helmCharts:
  - name: shop
    releaseName: shop
    valuesFile: values.yaml
`;

const values = `replicas: 2

image:
  repository: ${SAMPLE_IMAGE}
  tag: "${FIRST_TAG}" # the line that a promotion changes here
`;

const deployment = (name: string, replicas: string, image: string): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: ${replicas}
  selector:
    matchLabels: { app: shop }
  template:
    metadata:
      labels: { app: shop }
    spec:
      containers:
        - name: shop
          image: ${image}
`;

const readme = `# shop

The manifests of a small shop, one folder per environment. Image versions are written by promoter.
`;

/** Contents by path. */
export const sampleFiles = (): Readonly<Record<string, string>> => ({
  'README.md': readme,
  'base/kustomization.yaml': 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - deployment.yaml\n',
  'base/deployment.yaml': deployment('shop', '1', SAMPLE_IMAGE),
  'charts/shop/Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 0.1.0\n',
  'charts/shop/templates/deployment.yaml': deployment(
    'shop',
    '{{ .Values.replicas }}',
    '"{{ .Values.image.repository }}:{{ .Values.image.tag }}"',
  ),
  'environments/test/kustomization.yaml': overlay('test', 1),
  'environments/staging/kustomization.yaml': chartOverlay,
  'environments/staging/values.yaml': values,
  'environments/prod/kustomization.yaml': overlay('prod', 3),
});
