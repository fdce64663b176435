/**
 * The one place where anything happens: a seeded scheduler over virtual time. It holds every port call and every timer and releases them one by
 * one, in an order that the seed decides. Between two releases it lets the code under test run until that code waits for a port again.
 */
import type { Clock } from '../../src/ports/clock.ts';
import type { Random } from './random.ts';
import type { Trace } from './trace.ts';
import type { PortCall, Target, Turnstile } from './turnstile.ts';

/** How calls are delayed. */
export interface Pace {
  /** Virtual milliseconds before a call can take effect. */
  latency(target: Target): number;
  /** Virtual milliseconds between the effect and the answer; undefined: at once. */
  answerDelay(target: Target): number | undefined;
}

/** What was released. */
export interface Release {
  readonly what: 'effect' | 'answer' | 'effect and answer' | 'timer';
  readonly owner: number;
  readonly label: string;
  readonly writes: boolean;
}

/** What became of a call whose caller died. */
export interface CutOff {
  readonly label: string;
  readonly fate: 'no effect' | 'effect without answer' | 'effect after the crash';
}

/** A run that does not come to rest. */
export class Livelock extends Error {
  override readonly name = 'Livelock';
}

interface Pending {
  readonly owner: number;
  readonly label: string;
  readonly target: Target;
  readonly writes: boolean;
  readonly ready: () => boolean;
  readonly execute: () => string;
  readonly answer: () => void;
  from: number;
  executed: boolean;
  /** The caller died; only the effect is left. */
  orphan: boolean;
}

interface Timer {
  readonly time: number;
  readonly order: number;
  readonly owner: number;
  readonly label: string;
  readonly callback: () => void;
}

/** Owner of what belongs to the simulated world rather than to a process under test. */
export const WORLD = 0;

/** Settings of a scheduler. */
export interface SchedulerOptions {
  readonly random: Random;
  readonly trace: Trace;
  readonly pace: Pace;
  /** Time at the start, in milliseconds since the epoch. */
  readonly start: number;
  /** Steps without any advance of time that count as a livelock. */
  readonly patience?: number;
}

/** Gives the code under test its turn until it waits for a port again. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** See the head of this file. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #pending: Pending[] = [];
  readonly #timers: Timer[] = [];
  readonly #revoked = new Set<number>();
  #now: number;
  #order = 0;
  #still = 0;
  /** Releases so far. */
  steps = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#now = options.start;
  }

  /** Virtual milliseconds since the epoch. */
  now(): number {
    return this.#now;
  }

  /** Calls of that owner which were not answered yet, without those that wait for something to happen. */
  inFlight(owner: number): number {
    return this.#pending.filter((call) => call.owner === owner && (call.executed || call.ready())).length;
  }

  /** A clock whose timers die with the owner. */
  clock(owner: number): Clock {
    return { now: () => this.#now, at: (time, callback) => this.#at(owner, time, { label: 'timer', callback }) };
  }

  /** Something that the simulated world does later. */
  after(delay: number, label: string, callback: () => void): void {
    this.#at(WORLD, this.#now + delay, { label, callback });
  }

  /** A turnstile whose calls die with the owner. */
  turnstile(owner: number): Turnstile {
    return {
      poke: () => undefined,
      call: (call) => this.#call(owner, call),
      later: (label, effect) => {
        this.#pending.push({
          owner,
          label,
          target: 'store',
          writes: true,
          ready: () => true,
          execute: () => {
            effect();
            return 'lands late';
          },
          answer: () => undefined,
          from: this.#now + this.#options.pace.latency('git'),
          executed: false,
          orphan: true,
        });
      },
    };
  }

  /** Ends a process: nothing of it is ever answered again; effects in flight land later if `lands` says so. Tells what became of each call. */
  revoke(owner: number, lands: (label: string) => boolean): readonly CutOff[] {
    this.#revoked.add(owner);
    const timers = this.#timers.filter((timer) => timer.owner !== owner);
    this.#timers.splice(0, this.#timers.length, ...timers);
    const cut: CutOff[] = [];
    const left = this.#pending.filter((call) => {
      if (call.owner !== owner || call.orphan) return true;
      const { label, executed } = call;
      call.orphan = !executed && call.writes && lands(label);
      if (call.orphan) call.from = Math.max(call.from, this.#now) + this.#options.pace.latency(call.target);
      cut.push({ label, fate: executed ? 'effect without answer' : call.orphan ? 'effect after the crash' : 'no effect' });
      return call.orphan;
    });
    this.#pending.splice(0, this.#pending.length, ...left);
    return cut;
  }

  /** Releases one thing, advancing time when nothing can go now. Undefined when there is nothing left at all. */
  async step(): Promise<Release | undefined> {
    const index = this.#choose();
    if (index === undefined) return undefined;
    this.steps += 1;
    this.#still += 1;
    if (this.#still > (this.#options.patience ?? 20_000)) throw new Livelock('thousands of steps without any advance of time');
    if (index < 0) {
      const timer = this.#timers.shift();
      if (!timer) return undefined;
      if (timer.owner === WORLD) this.#options.trace.line(`world: ${timer.label}`);
      timer.callback();
      await turn();
      return { what: 'timer', owner: timer.owner, label: timer.label, writes: false };
    }
    return this.#release(index);
  }

  #at(owner: number, time: number, what: Pick<Timer, 'label' | 'callback'>): () => void {
    if (this.#revoked.has(owner)) return () => undefined;
    this.#order += 1;
    const timer: Timer = { time: Math.max(time, this.#now), order: this.#order, owner, ...what };
    let position = this.#timers.length;
    while (position > 0 && (this.#timers[position - 1]?.time ?? 0) > timer.time) position -= 1;
    this.#timers.splice(position, 0, timer);
    return () => {
      const found = this.#timers.indexOf(timer);
      if (found >= 0) this.#timers.splice(found, 1);
    };
  }

  #call<T>(owner: number, call: PortCall<T>): Promise<T> {
    if (this.#revoked.has(owner)) return new Promise(() => undefined);
    return new Promise<T>((resolve) => {
      let settle = (): void => undefined;
      this.#pending.push({
        owner,
        label: call.label,
        target: call.target,
        writes: call.writes,
        ready: call.ready ?? (() => true),
        execute: () => {
          const answer = call.execute();
          settle = () => resolve(answer);
          return call.show?.(answer) ?? 'ok';
        },
        answer: () => settle(),
        from: this.#now + this.#options.pace.latency(call.target),
        executed: false,
        orphan: false,
      });
    });
  }

  /** Index of a call, -1 for the first timer, undefined for nothing. */
  #choose(): number | undefined {
    for (;;) {
      const candidates: number[] = [];
      let next = Number.POSITIVE_INFINITY;
      for (const [index, call] of this.#pending.entries()) {
        if (!call.executed && !call.ready()) continue;
        if (call.from <= this.#now) candidates.push(index);
        else next = Math.min(next, call.from);
      }
      const first = this.#timers[0];
      if (first && first.time <= this.#now) candidates.push(-1);
      if (candidates.length > 0) return this.#options.random.pick(candidates);
      next = Math.min(next, first?.time ?? Number.POSITIVE_INFINITY);
      if (next === Number.POSITIVE_INFINITY) return undefined;
      this.#now = next;
      this.#still = 0;
    }
  }

  async #release(index: number): Promise<Release> {
    const call = this.#pending[index];
    if (!call) throw new Error('no such call');
    const { owner, label, writes } = call;
    if (call.executed) {
      this.#pending.splice(index, 1);
      this.#options.trace.line(`#${owner} answered: ${label}`);
      call.answer();
      await turn();
      return { what: 'answer', owner, label, writes };
    }
    call.executed = true;
    const shown = call.execute();
    const delay = call.orphan ? undefined : this.#options.pace.answerDelay(call.target);
    this.#options.trace.line(`#${owner}${call.orphan ? ' (dead)' : ''} ${label} → ${shown}${delay === undefined ? '' : ' (answer held)'}`);
    if (delay !== undefined) {
      call.from = this.#now + delay;
      return { what: 'effect', owner, label, writes };
    }
    this.#pending.splice(this.#pending.indexOf(call), 1);
    if (!call.orphan) {
      call.answer();
      await turn();
    }
    return { what: 'effect and answer', owner, label, writes };
  }
}
