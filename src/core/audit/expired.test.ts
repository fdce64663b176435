import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEvent } from '../../api/kinds/audit-event.ts';
import { API_VERSION } from '../../api/meta.ts';
import { expiredAudits } from './expired.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 1);

const event = (name: string, timestamp: string | undefined): AuditEvent => ({
  apiVersion: API_VERSION,
  kind: 'AuditEvent',
  metadata: { name, namespace: 'default', uid: name },
  spec: timestamp === undefined ? {} : { timestamp },
});

test('events older than the retention are deleted, younger and unreadable ones kept', () => {
  const events = [
    event('old', new Date(NOW - 90 * DAY).toISOString()),
    event('young', new Date(NOW - 90 * DAY + 1).toISOString()),
    event('none', undefined),
    event('nonsense', 'yesterday'),
  ];
  const effects = expiredAudits(events, 90 * DAY, NOW);
  assert.deepEqual(
    effects.map((effect) => (effect.kind === 'DeleteResource' ? effect.ref.name : '')),
    ['old'],
  );
});
