/** AuditEvents outlive their Bundles, but not for ever. */
import type { AuditEvent } from '../../api/kinds/audit-event.ts';
import type { ResourceEffect } from '../effect.ts';
import { fromTimestamp } from '../time.ts';

/** Deletions of the events that are older than the retention (milliseconds). An event without a readable time is kept. */
export const expiredAudits = (events: readonly AuditEvent[], retentionMs: number, now: number): readonly ResourceEffect[] =>
  events.flatMap(({ metadata: { name, namespace = 'default', uid = '' }, spec }) => {
    const at = fromTimestamp(spec?.timestamp);
    if (at === undefined || now - at < retentionMs) return [];
    return [{ kind: 'DeleteResource', ref: { kind: 'AuditEvent', namespace, name }, uid } as const];
  });
