import type { Type } from 'typebox';
import type { TypedResource } from '../meta.ts';
import { fields, text, timestamp } from '../schema.ts';

/** AuditEvent.spec (spec, "AuditEvent"). */
export const auditEventSpecSchema = fields(
  {
    timestamp: timestamp('When it happened.'),
    action: text('PromotionStarted, PromotionSucceeded, PromotionFailed or PromotionSuperseded.', { maxLength: 64 }),
    pipeline: text('Pipeline.', { maxLength: 253 }),
    bundle: text('Bundle.', { maxLength: 253 }),
    environment: text('Environment; empty when the event is about the whole Bundle.', { maxLength: 63 }),
    image: text('The images of the Bundle.', { maxLength: 1024 }),
    message: text('What happened, for people.', { maxLength: 4096 }),
    actor: text('Who or what did it.', { maxLength: 256 }),
  },
  'One lifecycle transition. Immutable.',
);

export type AuditEventSpec = Type.Static<typeof auditEventSpecSchema>;
/** The record of one lifecycle transition, written once and never updated. */
export type AuditEvent = TypedResource<'AuditEvent', AuditEventSpec, never>;

/** The actions of the specification (spec, "Events"). */
export const AUDIT_ACTIONS = ['PromotionStarted', 'PromotionSucceeded', 'PromotionFailed', 'PromotionSuperseded'] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];
