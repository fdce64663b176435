/** What the demo needs of a running service; the composition root starts it. */

import type { Outcome } from '../api/outcome.ts';
import type { ControllerOptions } from '../cli/wiring.ts';
import type { Clock } from '../ports/clock.ts';
import type { ClusterReader } from '../ports/cluster.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';

/** Controller, store and servers in this process. */
export interface Service {
  readonly store: Store;
  readonly cluster: ClusterReader;
  readonly apiUrl: string;
  readonly httpUrl: string;
  /** Path of the kubeconfig that the resource API wrote. */
  readonly kubeconfig: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Takes at most 20 seconds. */
  readonly stop: () => Promise<void>;
}

/** Starts one. */
export type StartService = (options: ControllerOptions) => Promise<Outcome<Service>>;
