import { randomUUID } from 'node:crypto';
import { admit } from '../../src/api/admission.ts';
import type { Admit } from '../../src/api/admit.ts';
import { createMemoryStore } from '../sim/memory-store.ts';
import { StoreCore } from '../sim/store-core.ts';
import { openTurnstile } from '../sim/turnstile.ts';
import { manualClock } from './manual-clock.ts';
import { type MakeStore, storeContract } from './store.ts';

const storeWith =
  (rules?: Admit): MakeStore =>
  async () => {
    const clock = manualClock(Date.parse('2026-02-03T04:05:06.789Z'));
    const turnstile = openTurnstile();
    const core = new StoreCore({ now: clock.now, uid: randomUUID, defer: turnstile.later, ...(rules ? { admit: rules } : {}) });
    return {
      store: createMemoryStore({ core, turnstile, actor: 'contract', bookmarkMs: 60_000 }),
      advance: async (milliseconds) => {
        clock.advance(milliseconds);
        turnstile.poke();
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  };

storeContract('in memory', storeWith(), { bounded: false });
storeContract('in memory with admission', storeWith(admit), { bounded: false });
