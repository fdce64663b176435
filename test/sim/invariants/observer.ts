/** What an invariant is: it hears of everything that becomes durable and says what must not have happened. */
import type { Deployment } from '../../../src/api/kinds/native.ts';
import type { Resource } from '../../../src/api/meta.ts';
import type { Outcome } from '../../../src/api/outcome.ts';
import type { PushPlan } from '../../../src/ports/git.ts';
import type { FaultProfile } from '../faults.ts';
import type { GitRemotes, Landed } from '../git-remotes.ts';
import type { Scenario } from '../scenario.ts';
import type { Change, StoreCore } from '../store-core.ts';

/** Something that must never happen. */
export interface Violation {
  /** Such as `I2`. */
  readonly invariant: string;
  readonly message: string;
}

/** What invariants look at. */
export interface Scene {
  readonly scenario: Scenario;
  readonly profile: FaultProfile;
  readonly core: StoreCore;
  readonly remotes: GitRemotes;
  readonly now: () => number;
  /** Whether all status was wiped at some moment: what only status knew is then gone. */
  readonly wiped: () => boolean;
  /** Whether somebody else wrote what this folder's images are, so that a promotion may or may not be what is there. */
  readonly disturbed: (url: string, path: string) => boolean;
  readonly report: (violation: Violation) => void;
  /** Takes down the end of a Pipeline where the scenario allows but one, so that it can be compared with the run without faults. */
  readonly concluded: (pipeline: string, end: string) => void;
}

/** One observation of a Deployment by the process under test. */
export interface Observed {
  readonly at: number;
  readonly incarnation: number;
  readonly namespace: string;
  readonly name: string;
  readonly seen: Outcome<Deployment | undefined>;
}

/** Any of these may be absent. */
export interface Observer {
  changed?(change: Change): void;
  landed?(landed: Landed): void;
  /** A guard is asked; the result hears its answer. */
  guardAsked?(plan: PushPlan): (answer: boolean) => void;
  observed?(observation: Observed): void;
  /** The process under test was told that its write of this object failed. */
  refused?(object: Resource): void;
  /** The process under test was told that a read failed: what it was gathering is given up. */
  unread?(): void;
  /** Everything has come to rest. */
  ended?(): void;
}

/** Actor of the moment at which all status is lost. */
export const WIPE = 'wipe';
