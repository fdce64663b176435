/**
 * The contract of ports/store.ts, to be run over every store. It relies on nothing but the port: what a store at the other end of a network
 * cannot offer (a clock that can be moved, small limits) is optional, and the tests that need it are skipped.
 */
import { describe } from 'node:test';
import { deletionContract } from './store-deletion.ts';
import type { Capabilities, MakeStore } from './store-fixtures.ts';
import { listContract } from './store-lists.ts';
import { propertyContract } from './store-properties.ts';
import { watchContract } from './store-watches.ts';
import { writeContract } from './store-writes.ts';

export type { Capabilities, MakeStore, StoreSettings, StoreUnderTest } from './store-fixtures.ts';

/** Declares the tests. */
export const storeContract = (name: string, makeStore: MakeStore, capabilities: Capabilities): void => {
  describe(`store contract: ${name}`, { concurrency: false }, () => {
    writeContract(makeStore);
    listContract(makeStore, capabilities);
    watchContract(makeStore, capabilities);
    deletionContract(makeStore);
    propertyContract(makeStore);
  });
};
