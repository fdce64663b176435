/** What the command line is handed by the composition root: it reaches the service through these and never imports an adapter. */
import type { Outcome } from '../api/outcome.ts';
import type { Clock } from '../ports/clock.ts';
import type { ClusterReader } from '../ports/cluster.ts';
import type { Store } from '../ports/store.ts';

/** A server that was found. */
export interface Connection {
  readonly store: Store;
  /** Workloads as the store keeps them, for explanations. */
  readonly cluster: ClusterReader;
  /** The namespace of the kubeconfig's context; `default` when it names none. */
  readonly namespace: string;
  /** URL of the server, for messages. */
  readonly server: string;
  /** Ends open connections. */
  close(): Promise<void>;
}

/** Flags of `promoter controller`. */
export interface ControllerOptions {
  readonly dataDir: string;
  /** `host:port`; port 0 takes any free one. */
  readonly httpAddress: string;
  readonly apiAddress: string;
  /** The bundle endpoint is on only when it is set. */
  readonly bundleApiToken?: string;
  readonly policyNamespace: string;
  readonly systemNamespace: string;
  /** Requests per minute and token; 0 is no limit. */
  readonly bundleRateLimit: number;
  /** Workers per resource type. */
  readonly concurrency: number;
  /** How long AuditEvents are kept. */
  readonly auditRetentionMs: number;
  readonly logLevel: string;
  readonly externalUrl?: string;
  /** Accept file:// repositories although a server is bound to an address that others can reach. */
  readonly allowLocalGit: boolean;
}

/** Flags of `promoter demo`. */
export interface DemoOptions {
  /** Run to the end unattended. */
  readonly once: boolean;
  /** One JSON line last; progress goes to stderr. */
  readonly json: boolean;
  /** A new temporary folder when absent. */
  readonly dataDir?: string;
}

/** Where a command writes and what it may do there. */
export interface Terminal {
  /** Writes to standard output as it is. */
  readonly out: (text: string) => void;
  /** Writes to standard error as it is. */
  readonly err: (text: string) => void;
  /** Whether standard output takes colours. */
  readonly colour: boolean;
  /** Whether a person sits in front of standard output. */
  readonly interactive: boolean;
  /** Standard input as text; reading ends as soon as it has more than `most` bytes. */
  readonly readInput: (most: number) => Promise<string>;
}

/** Everything a command needs from outside. */
export interface Wiring {
  readonly version: string;
  readonly clock: Clock;
  readonly terminal: Terminal;
  /** Finds the server: the flag, $PROMOTER_KUBECONFIG, ./.promoter/kubeconfig, $KUBECONFIG, ~/.kube/config. */
  readonly connect: (options: { readonly kubeconfig?: string }) => Promise<Outcome<Connection>>;
  /** Serves until a signal; the outcome of starting, or done when it was stopped. */
  readonly runController: (options: ControllerOptions) => Promise<Outcome<void>>;
  /** The exit code of the demo. */
  readonly runDemo: (options: DemoOptions) => Promise<Outcome<void>>;
}
