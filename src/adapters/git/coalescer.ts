/** Lets everybody who asks while others are served share the next turn. */
import type { Serial } from './serial.ts';

/** Collects keys until its turn comes, then answers all askers with one run. */
export class Coalescer<R> {
  readonly #turns: Serial;
  readonly #run: (keys: ReadonlySet<string>) => Promise<R>;
  #next: { readonly keys: Set<string>; readonly result: Promise<R> } | undefined;

  constructor(turns: Serial, run: (keys: ReadonlySet<string>) => Promise<R>) {
    this.#turns = turns;
    this.#run = run;
  }

  /** The result of the next turn, which will serve these keys. */
  ask(keys: Iterable<string>): Promise<R> {
    const next = this.#next ?? this.#open();
    for (const key of keys) next.keys.add(key);
    return next.result;
  }

  #open(): { readonly keys: Set<string>; readonly result: Promise<R> } {
    const keys = new Set<string>();
    const result = this.#turns.run(() => {
      this.#next = undefined;
      return this.#run(keys);
    });
    this.#next = { keys, result };
    return this.#next;
  }
}
