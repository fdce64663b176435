/** Every port call of the in-memory adapters goes through a turnstile, which decides when it takes effect and when its caller hears of it. */

/** What a call is made to. */
export type Target = 'store' | 'watch' | 'git' | 'cluster';

/** One port call. */
export interface PortCall<T> {
  readonly target: Target;
  /** What is asked, for the trace. */
  readonly label: string;
  /** Whether it changes something outside: such a call may still land after its caller died. */
  readonly writes: boolean;
  /** Whether it can take effect yet; always when absent. */
  readonly ready?: () => boolean;
  /** Takes effect and gives the answer. */
  readonly execute: () => T;
  /** The answer in a few words, for the trace. */
  readonly show?: (answer: T) => string;
}

/** Where port calls wait. */
export interface Turnstile {
  /** Settles when the turnstile says so, or never. */
  call<T>(call: PortCall<T>): Promise<T>;
  /** An effect that nobody waits for and that happens later. */
  later(label: string, effect: () => void): void;
  /** Something changed that a call may wait for. */
  poke(): void;
}

/** A turnstile that lets everything through at once: the adapters then behave like well-behaved real ones. */
export const openTurnstile = (): Turnstile => {
  let waiting: { readonly ready: () => boolean; readonly go: () => void }[] = [];
  const poke = () => {
    for (const waiter of [...waiting]) {
      if (!waiter.ready()) continue;
      waiting = waiting.filter((other) => other !== waiter);
      waiter.go();
    }
  };
  return {
    poke,
    call: <T>({ ready, execute }: PortCall<T>) =>
      new Promise<T>((resolve) => {
        if (!ready || ready()) resolve(execute());
        else waiting.push({ ready, go: () => resolve(execute()) });
        poke();
      }),
    later: (_label, effect) => {
      effect();
      poke();
    },
  };
};
