import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { createHttpStore } from '../../src/adapters/store-http/create-http-store.ts';
import { makeApi } from './api-under-test.ts';
import { type MakeStore, storeContract } from './store.ts';

// Certificates are made once and serve every server.
const dataDir = mkdtempSync(join(tmpdir(), 'promoter-api-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));

/** A store behind the resource API, in front of SQLite, all over TLS. */
const makeStore: MakeStore = async (settings = {}) => {
  const api = await makeApi({ ...settings, dataDir });
  const store = createHttpStore(api.access);
  return {
    store,
    advance: async (milliseconds) => api.clock.advance(milliseconds),
    [Symbol.asyncDispose]: async () => {
      store.close();
      await api[Symbol.asyncDispose]();
    },
  };
};

storeContract('HTTP, over the resource API and SQLite', makeStore, { bounded: true });
