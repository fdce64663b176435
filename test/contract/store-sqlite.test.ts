import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/adapters/store-sqlite/index.ts';
import { admit } from '../../src/api/admission.ts';
import type { Admit } from '../../src/api/admit.ts';
import { manualClock } from './manual-clock.ts';
import { type MakeStore, storeContract } from './store.ts';

const passAll: Admit = ({ object }) => ({ ok: true, object, warnings: [] });

const storeWith =
  (rules: Admit): MakeStore =>
  async (settings = {}) => {
    const directory = mkdtempSync(join(tmpdir(), 'promoter-store-'));
    const clock = manualClock(Date.parse('2026-02-03T04:05:06.789Z'));
    const opened = await openSqliteStore({ directory, clock, admit: rules, ...settings });
    if (opened.outcome !== 'done') throw new Error(opened.reason.message);
    const store = opened.value;
    return {
      store,
      advance: async (milliseconds) => clock.advance(milliseconds),
      [Symbol.asyncDispose]: async () => {
        await store.close();
        rmSync(directory, { recursive: true, force: true });
      },
    };
  };

storeContract('SQLite', storeWith(passAll), { bounded: true });
storeContract('SQLite with admission', storeWith(admit), { bounded: true });
