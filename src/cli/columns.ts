/** The table of each kind. A kind without a row here does not compile. */
import { formatImage } from '../api/image-reference.ts';
import type { Condition } from '../api/meta.ts';
import { bundleVersion } from '../api/names.ts';
import type { KindMap, KindName } from '../api/registry.ts';
import { ageOf } from './age.ts';

/** Columns of one kind; NAMESPACE is put in front where several namespaces are shown. */
export interface Columns<T> {
  readonly header: readonly string[];
  readonly row: (object: T, now: number) => readonly string[];
}

const age = (object: KindMap[KindName], now: number): string => ageOf(object.metadata.creationTimestamp, now);
const text = (of: string | number | undefined): string => (of === undefined || of === '' ? '-' : String(of));
const many = (of: readonly (string | undefined)[]): string => text(of.filter((item) => item !== undefined).join(', '));

const conditionOf = (conditions: readonly Partial<Condition>[] | undefined, type: string): string =>
  text(conditions?.find((condition) => condition.type === type)?.status);

/** The environments that a Bundle carries a record of, when its steps are not looked at. */
const recorded = (bundle: KindMap['Bundle']): string => many((bundle.status?.environments ?? []).slice(-1).map((record) => record.name));

/** Every kind. */
export const COLUMNS: { readonly [K in KindName]: Columns<KindMap[K]> } = {
  Bundle: {
    header: ['BUNDLE', 'PHASE', 'ENV', 'AGE'],
    row: (bundle, now) => [bundle.metadata.name, text(bundle.status?.phase ?? 'Available'), recorded(bundle), age(bundle, now)],
  },
  Pipeline: {
    header: ['PIPELINE', 'ENVIRONMENTS', 'READY', 'REPOSITORY', 'AGE'],
    row: (pipeline, now) => [
      pipeline.metadata.name,
      many((pipeline.spec?.environments ?? []).map((environment) => environment.name)),
      conditionOf(pipeline.status?.conditions, 'Ready'),
      text(pipeline.spec?.git?.url),
      age(pipeline, now),
    ],
  },
  Graph: {
    header: ['GRAPH', 'BUNDLE', 'NODES', 'ACCEPTED', 'READY', 'AGE'],
    row: (graph, now) => [
      graph.metadata.name,
      text(graph.spec?.bundle),
      String(graph.spec?.nodes.length ?? 0),
      conditionOf(graph.status?.conditions, 'Accepted'),
      conditionOf(graph.status?.conditions, 'Ready'),
      age(graph, now),
    ],
  },
  PromotionStep: {
    header: ['STEP', 'BUNDLE', 'ENV', 'STATE', 'AGE', 'MESSAGE'],
    row: (step, now) => [
      step.metadata.name,
      text(step.spec?.bundle),
      text(step.spec?.environment),
      step.status?.state ?? 'Pending',
      age(step, now),
      text(step.status?.message),
    ],
  },
  PolicyGate: {
    header: ['GATE', 'RESULT', 'EXPRESSION', 'AGE'],
    row: (gate, now) => [gate.metadata.name, text(gate.status?.result), text(gate.spec?.expression), age(gate, now)],
  },
  Subscription: {
    header: ['SUBSCRIPTION', 'TYPE', 'PIPELINE', 'LAST SEEN', 'AGE'],
    row: (subscription, now) => [
      subscription.metadata.name,
      text(subscription.spec?.type),
      text(subscription.spec?.pipeline),
      text(subscription.status?.lastSeen),
      age(subscription, now),
    ],
  },
  AuditEvent: {
    header: ['TIME', 'ACTION', 'PIPELINE', 'BUNDLE', 'ENV', 'MESSAGE'],
    row: ({ spec }) => [
      text(spec?.timestamp),
      text(spec?.action),
      text(spec?.pipeline),
      text(spec?.bundle),
      text(spec?.environment),
      text(spec?.message),
    ],
  },
  ScheduleClock: {
    header: ['CLOCK', 'INTERVAL', 'LAST TICK', 'AGE'],
    row: (clock, now) => [clock.metadata.name, text(clock.spec?.interval), ageOf(clock.status?.lastTick, now), age(clock, now)],
  },
  MetricCheck: {
    header: ['CHECK', 'ENV', 'VALUE', 'RESULT', 'AGE'],
    row: (check, now) => [
      check.metadata.name,
      text(check.spec?.environment),
      text(check.status?.value),
      text(check.status?.result),
      age(check, now),
    ],
  },
  Secret: {
    header: ['SECRET', 'TYPE', 'KEYS', 'AGE'],
    row: (secret, now) => [secret.metadata.name, text(secret.type ?? 'Opaque'), many(Object.keys(secret.data ?? {})), age(secret, now)],
  },
  ConfigMap: {
    header: ['CONFIGMAP', 'KEYS', 'AGE'],
    row: (map, now) => [map.metadata.name, many([...Object.keys(map.data ?? {}), ...Object.keys(map.binaryData ?? {})]), age(map, now)],
  },
  Namespace: {
    header: ['NAMESPACE', 'STATUS', 'AGE'],
    row: (namespace, now) => [namespace.metadata.name, text(namespace.status?.phase ?? 'Active'), age(namespace, now)],
  },
  Event: {
    header: ['EVENT', 'TYPE', 'REASON', 'MESSAGE', 'AGE'],
    row: (event, now) => [event.metadata.name, text(event.type), text(event.reason), text(event.message), age(event, now)],
  },
  Deployment: {
    header: ['DEPLOYMENT', 'AVAILABLE', 'IMAGES', 'AGE'],
    row: (deployment, now) => [
      deployment.metadata.name,
      conditionOf(deployment.status?.conditions, 'Available'),
      many((deployment.spec?.template?.spec?.containers ?? []).map((container) => container.image)),
      age(deployment, now),
    ],
  },
  Job: {
    header: ['JOB', 'ACTIVE', 'SUCCEEDED', 'FAILED', 'AGE'],
    row: (job, now) => [
      job.metadata.name,
      String(job.status?.active ?? 0),
      String(job.status?.succeeded ?? 0),
      String(job.status?.failed ?? 0),
      age(job, now),
    ],
  },
  Lease: {
    header: ['LEASE', 'HOLDER', 'RENEWED', 'AGE'],
    row: (lease, now) => [lease.metadata.name, text(lease.spec?.holderIdentity), ageOf(lease.spec?.renewTime, now), age(lease, now)],
  },
};

/** What a Bundle carries, on one line: its images, else its configuration commit. */
export const contentOf = (bundle: KindMap['Bundle']): string =>
  many((bundle.spec?.images ?? []).map(formatImage)) === '-'
    ? text(bundle.spec?.configRef?.commitSHA)
    : many((bundle.spec?.images ?? []).map(formatImage));

/** The version of a Bundle as it shows everywhere. */
export const versionOf = (bundle: KindMap['Bundle']): string => text(bundle.status?.version ?? bundleVersion(bundle.spec ?? {}));
