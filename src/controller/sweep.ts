/** Removes AuditEvents past their retention, page by page, soon after the start and every hour. */
import { expiredAudits } from '../core/audit/expired.ts';
import type { ResourceEffect } from '../core/effect.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Store, StoreError } from '../ports/store.ts';
import { writeResources } from './effects/write-resources.ts';

/** Late enough to keep out of the way of a start, early enough for a process that is restarted often. */
const FIRST_MS = 60_000;
const EVERY_MS = 3_600_000;
const PAGE = 500;

/** What a sweep works with; the retention is in milliseconds. */
export interface SweepPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly auditRetentionMs: number;
}

/** Deletes them one by one; the first refusal. One that is refused does not keep those behind it, a store that is away does. */
const removeAll = async (store: Store, deletions: readonly ResourceEffect[]): Promise<StoreError | undefined> => {
  let first: StoreError | undefined;
  for (const deletion of deletions) {
    const error = await writeResources(store, [deletion]);
    first ??= error;
    if (error?.code === 'Unavailable') return error;
  }
  return first;
};

/** One sweep; what could not be read or deleted is left to the next. */
export const sweepAudits = async ({ store, clock, log, auditRetentionMs }: SweepPorts): Promise<void> => {
  let token: string | undefined;
  do {
    const page = await store.list('AuditEvent', { limit: PAGE, ...(token === undefined ? {} : { continue: token }) });
    const error = page.ok ? await removeAll(store, expiredAudits(page.value.items, auditRetentionMs, clock.now())) : page.error;
    if (error) log.warn('old AuditEvents could not be removed', { code: error.code, reason: error.message });
    if (!page.ok || error?.code === 'Unavailable') return;
    token = page.value.continue;
  } while (token !== undefined);
};

/** Sweeps after a minute and then every hour; the result ends it. */
export const startSweep = (ports: SweepPorts): (() => void) => {
  const { clock, log } = ports;
  let cancel = (): void => {};
  let stopped = false;
  const schedule = (afterMs: number): void => {
    if (stopped) return;
    cancel = clock.at(clock.now() + afterMs, () => {
      void sweepAudits(ports)
        .catch((error: unknown) => log.error('removing old AuditEvents failed by a bug', { error }))
        .then(() => schedule(EVERY_MS));
    });
  };
  schedule(FIRST_MS);
  return () => {
    stopped = true;
    cancel();
  };
};
