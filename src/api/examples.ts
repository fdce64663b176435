/** One complete object of each kind: shown in the reference pages, and admitted as it stands by a test. */
import type { Resource } from './meta.ts';
import { API_VERSION } from './meta.ts';
import type { KindMap, KindName } from './registry.ts';

/** The kinds that have an example: all of ours. */
export type ExampleKind = Exclude<KindName, 'Secret' | 'ConfigMap' | 'Namespace' | 'Event' | 'Deployment' | 'Job' | 'Lease'>;

const resource = <K extends ExampleKind>(
  kind: K,
  name: string,
  spec: NonNullable<KindMap[K]['spec']>,
  labels?: Record<string, string>,
) => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name, namespace: 'default', ...(labels === undefined ? {} : { labels }) },
  spec,
});

/** The examples by kind. */
export const EXAMPLES: Readonly<Record<ExampleKind, Resource>> = {
  Bundle: resource(
    'Bundle',
    'web-1.29.0',
    {
      type: 'image',
      pipeline: 'web',
      images: [
        {
          repository: 'ghcr.io/acme/web',
          tag: '1.29.0',
          digest: 'sha256:9b2a28eb47540823042a2ba401386845089bb7b62a9637d55816132c4c3c36eb',
        },
      ],
      provenance: {
        commitSHA: '4f2c8d1a7be0935c6d21e8f4470a9b3e5c6d7f80',
        ciRunURL: 'https://ci.example.com/acme/web/runs/1842',
        author: 'ada',
        timestamp: '2026-03-02T09:30:00Z',
      },
      intent: { targetEnvironment: 'prod' },
    },
    { 'promoter.io/pipeline': 'web' },
  ),
  Pipeline: resource('Pipeline', 'web', {
    git: { url: 'https://github.com/acme/deploy.git', branch: 'main', provider: 'host-a', secretRef: { name: 'deploy-token' } },
    environments: [
      { name: 'test', health: { type: 'resource', timeout: '5m' } },
      { name: 'staging', dependsOn: ['test'], bake: { minutes: 10 } },
      { name: 'prod', dependsOn: ['staging'], update: { strategy: 'overlay' } },
    ],
    historyLimit: 20,
  }),
  Graph: resource('Graph', 'web-1.29.0', {
    pipeline: 'web',
    bundle: 'web-1.29.0',
    nodes: [
      { id: 'test', kind: 'PromotionStep', environment: 'test', dependsOn: [], readyWhen: "self.status.state == 'Verified'" },
      { id: 'prod', kind: 'PromotionStep', environment: 'prod', dependsOn: ['test'] },
    ],
  }),
  PromotionStep: resource(
    'PromotionStep',
    'web-1.29.0-prod',
    { pipeline: 'web', bundle: 'web-1.29.0', environment: 'prod', inputs: { 'integration_test.timeout': '30m' } },
    { 'promoter.io/bundle': 'web-1.29.0' },
  ),
  PolicyGate: resource(
    'PolicyGate',
    'no-weekend',
    { expression: '!schedule.isWeekend', message: 'Production does not change on weekends.', recheckInterval: '5m' },
    { 'promoter.io/scope': 'org', 'promoter.io/applies-to': 'prod' },
  ),
  Subscription: resource('Subscription', 'web-images', {
    type: 'image',
    pipeline: 'web',
    image: { registry: 'ghcr.io/acme/web', tagFilter: '^v[0-9]+[.][0-9]+[.][0-9]+$', interval: '5m' },
  }),
  AuditEvent: resource(
    'AuditEvent',
    'web-1.29.0-prod-promotionsucceeded-1f0c5a9be2d4',
    {
      timestamp: '2026-03-02T10:12:44Z',
      action: 'PromotionSucceeded',
      pipeline: 'web',
      bundle: 'web-1.29.0',
      environment: 'prod',
      image: 'ghcr.io/acme/web:1.29.0',
      message: 'web-1.29.0 is healthy in prod',
      actor: 'promoter',
    },
    { 'promoter.io/pipeline': 'web', 'promoter.io/action': 'PromotionSucceeded' },
  ),
  ScheduleClock: resource('ScheduleClock', 'promoter-clock', { interval: '1m' }),
  MetricCheck: resource('MetricCheck', 'error-rate', {
    pipeline: 'web',
    environment: 'staging',
    provider: 'prometheus',
    prometheusURL: 'http://prometheus.monitoring:9090',
    query: 'sum(rate(http_requests_total{code=~"5.."}[5m])) / sum(rate(http_requests_total[5m]))',
    interval: '1m',
    threshold: { operator: '<', value: '0.01' },
    noData: 'fail',
  }),
};
