/** Runs that wait for the same repository and credential; whoever comes while a push is under way shares the next one. */
import type { Outcome } from '../../api/outcome.ts';
import type { Pushed, PushPlan } from '../../ports/git.ts';
import type { PushGroup } from './push-group.ts';
import type { Batch } from './push-member.ts';
import { newMember } from './push-member.ts';
import type { Session } from './session.ts';

/** Serialises and groups the pushes of one session. */
export class PushQueue {
  readonly #session: Session;
  readonly #group: PushGroup;
  readonly #groupSize: number;
  readonly #batches: Batch[] = [];
  #draining = false;

  constructor(session: Session, group: PushGroup, groupSize: number) {
    this.#session = session;
    this.#group = group;
    this.#groupSize = groupSize;
  }

  /** Lands a run; see the port. */
  push(plan: PushPlan, guard: () => Promise<boolean>): Promise<Outcome<Pushed>> {
    const { member, result } = newMember(plan, guard);
    const last = this.#batches.at(-1);
    if (last !== undefined && !last.closed && last.members.length < this.#groupSize) last.members.push(member);
    else this.#batches.push({ members: [member], closed: false, fetchFirst: false });
    if (!this.#draining) void this.#drain();
    return result;
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    while (this.#batches.length > 0) await this.#next();
    this.#draining = false;
  }

  async #next(): Promise<void> {
    let batch: Batch | undefined;
    const { mirror } = this.#session;
    try {
      const outcome = await this.#session.use(() =>
        mirror.remote.run(() => {
          // Taken only now, so that everybody who came while others had their turn is in it.
          batch ??= this.#take();
          const taken = batch;
          return this.#session.withAccess((access) => this.#group.attempt(taken, access));
        }),
      );
      if (outcome.outcome === 'done') this.#batches.unshift(...outcome.value);
      else for (const member of (batch ?? this.#take()).members) member.settle(outcome);
    } catch (error) {
      for (const member of (batch ?? this.#take()).members) member.fail(error);
    }
  }

  #take(): Batch {
    const first = this.#batches.shift() ?? { members: [], closed: false, fetchFirst: false };
    if (first.closed) return first;
    const members = [...first.members];
    let { fetchFirst } = first;
    for (let next = this.#batches[0]; next !== undefined && !next.closed; next = this.#batches[0]) {
      if (members.length + next.members.length > this.#groupSize) break;
      this.#batches.shift();
      members.push(...next.members);
      fetchFirst ||= next.fetchFirst;
    }
    return { members, closed: false, fetchFirst };
  }
}
