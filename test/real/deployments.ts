/** Deployments that follow a branch, as a GitOps tool would have it, through the resource API. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createHttpStore } from '../../src/adapters/store-http/create-http-store.ts';
import { loadKubeconfig } from '../../src/adapters/store-http/kubeconfig.ts';
import { startStandIn } from '../../src/demo/gitops-stand-in.ts';

/** What is followed. */
export interface Followed {
  readonly kubeconfig: string;
  readonly repository: string;
  readonly environments: readonly string[];
  readonly workload: string;
}

/** Follows branch `main` until the test ends. */
export const followBranch = async (context: TestContext, followed: Followed): Promise<void> => {
  const access = await loadKubeconfig(followed.kubeconfig);
  assert.ok(access.outcome === 'done');
  const store = createHttpStore(access.value);
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const { repository, environments, workload } = followed;
  const standIn = await startStandIn({ store, repository, branch: 'main', environments, workload, log });
  context.after(async () => {
    await standIn.stop();
    store.close();
  });
};
