/** The table of every kind the service knows: adding a kind is one file and one line here. */
import type { TSchema } from 'typebox';
import { type AuditEvent, auditEventSpecSchema } from './kinds/audit-event.ts';
import { type Bundle, bundleSpecSchema, bundleStatusSchema } from './kinds/bundle.ts';
import { type Graph, graphSpecSchema, graphStatusSchema } from './kinds/graph.ts';
import { type MetricCheck, metricCheckSpecSchema, metricCheckStatusSchema } from './kinds/metric-check.ts';
import type { ConfigMap, Deployment, Event, Job, Lease, Namespace, Secret } from './kinds/native.ts';
import { type Pipeline, pipelineSpecSchema, pipelineStatusSchema } from './kinds/pipeline.ts';
import { type PolicyGate, policyGateSpecSchema, policyGateStatusSchema } from './kinds/policy-gate.ts';
import { type PromotionStep, promotionStepSpecSchema, promotionStepStatusSchema } from './kinds/promotion-step.ts';
import { type ScheduleClock, scheduleClockSpecSchema, scheduleClockStatusSchema } from './kinds/schedule-clock.ts';
import { type Subscription, subscriptionSpecSchema, subscriptionStatusSchema } from './kinds/subscription.ts';
import { GROUP } from './meta.ts';

/** Every kind by name. */
export interface KindMap {
  Bundle: Bundle;
  Pipeline: Pipeline;
  Graph: Graph;
  PromotionStep: PromotionStep;
  PolicyGate: PolicyGate;
  Subscription: Subscription;
  AuditEvent: AuditEvent;
  ScheduleClock: ScheduleClock;
  MetricCheck: MetricCheck;
  Secret: Secret;
  ConfigMap: ConfigMap;
  Namespace: Namespace;
  Event: Event;
  Deployment: Deployment;
  Job: Job;
  Lease: Lease;
}
/** The name of a kind. */
export type KindName = keyof KindMap;

/** What the API needs to know of a kind. */
export interface KindInfo {
  readonly kind: KindName;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** One sentence. */
  readonly description: string;
  /** Absent for Kubernetes' own kinds, which are kept as given. */
  readonly specSchema?: TSchema;
  readonly statusSchema?: TSchema;
  /** Whether status is a subresource of its own. */
  readonly statusSubresource: boolean;
  /** Whether the spec may never change. */
  readonly immutableSpec: boolean;
}

type Served = Pick<KindInfo, 'plural' | 'description'> & Partial<KindInfo>;

const ours = (kind: KindName, info: Served): KindInfo => ({
  kind,
  group: GROUP,
  version: 'v1alpha1',
  singular: kind.toLowerCase(),
  shortNames: [],
  namespaced: true,
  statusSubresource: info.statusSchema !== undefined,
  immutableSpec: false,
  ...info,
});

const native = (kind: KindName, group: string, info: Served): KindInfo => ({
  kind,
  group,
  version: 'v1',
  singular: kind.toLowerCase(),
  shortNames: [],
  namespaced: true,
  statusSubresource: false,
  immutableSpec: false,
  ...info,
});

/** Every kind, with how it is served. */
export const KINDS: Readonly<Record<KindName, KindInfo>> = {
  Bundle: ours('Bundle', {
    plural: 'bundles',
    shortNames: ['bdl'],
    description: 'An immutable, versioned snapshot of what to deploy.',
    specSchema: bundleSpecSchema,
    statusSchema: bundleStatusSchema,
    immutableSpec: true,
  }),
  Pipeline: ours('Pipeline', {
    plural: 'pipelines',
    shortNames: ['pl'],
    description: 'The promotion path of one application.',
    specSchema: pipelineSpecSchema,
    statusSchema: pipelineStatusSchema,
  }),
  Graph: ours('Graph', {
    plural: 'graphs',
    description: 'The dependency graph of one Bundle.',
    specSchema: graphSpecSchema,
    statusSchema: graphStatusSchema,
  }),
  PromotionStep: ours('PromotionStep', {
    plural: 'promotionsteps',
    shortNames: ['ps', 'steps'],
    description: 'One environment promotion for one Bundle.',
    specSchema: promotionStepSpecSchema,
    statusSchema: promotionStepStatusSchema,
  }),
  PolicyGate: ours('PolicyGate', {
    plural: 'policygates',
    shortNames: ['pg', 'gates'],
    description: 'A CEL expression that blocks a promotion until it is true.',
    specSchema: policyGateSpecSchema,
    statusSchema: policyGateStatusSchema,
  }),
  Subscription: ours('Subscription', {
    plural: 'subscriptions',
    shortNames: ['sub'],
    description: 'Watches a registry or a repository and creates Bundles.',
    specSchema: subscriptionSpecSchema,
    statusSchema: subscriptionStatusSchema,
  }),
  AuditEvent: ours('AuditEvent', {
    plural: 'auditevents',
    shortNames: ['audit'],
    description: 'The record of one lifecycle transition.',
    specSchema: auditEventSpecSchema,
    immutableSpec: true,
  }),
  ScheduleClock: ours('ScheduleClock', {
    plural: 'scheduleclocks',
    description: 'The clock at whose ticks gates are evaluated again.',
    specSchema: scheduleClockSpecSchema,
    statusSchema: scheduleClockStatusSchema,
  }),
  MetricCheck: ours('MetricCheck', {
    plural: 'metricchecks',
    shortNames: ['mc'],
    description: 'A metric query whose result gates can read.',
    specSchema: metricCheckSpecSchema,
    statusSchema: metricCheckStatusSchema,
  }),
  Secret: native('Secret', '', { plural: 'secrets', description: 'Secret data.' }),
  ConfigMap: native('ConfigMap', '', { plural: 'configmaps', shortNames: ['cm'], description: 'Configuration data.' }),
  Namespace: native('Namespace', '', {
    plural: 'namespaces',
    shortNames: ['ns'],
    description: 'A namespace.',
    statusSubresource: true,
    namespaced: false,
  }),
  Event: native('Event', '', { plural: 'events', shortNames: ['ev'], description: 'Something that happened.' }),
  Deployment: native('Deployment', 'apps', {
    plural: 'deployments',
    shortNames: ['deploy'],
    description: 'A workload.',
    statusSubresource: true,
  }),
  Job: native('Job', 'batch', { plural: 'jobs', description: 'A task that runs to its end.', statusSubresource: true }),
  Lease: native('Lease', 'coordination.k8s.io', { plural: 'leases', description: 'Who holds what.' }),
};

/** `group/version`, or `version` for the core group. */
export const apiVersionOf = (info: KindInfo): string => (info.group === '' ? info.version : `${info.group}/${info.version}`);
