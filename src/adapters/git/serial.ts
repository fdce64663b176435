/** Order between operations of one mirror. */

/** Runs one task at a time, in the order in which they came. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the task after all earlier ones; its result or error is the caller's. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const next = this.#last.then(task, task);
    this.#last = next.catch(() => undefined);
    return next;
  }
}

/** Many at once, or one alone. Whoever wants to be alone waits for those inside and holds up those who come later. */
export class SharedLock {
  #inside = 0;
  #alone = false;
  #waiting: { readonly alone: boolean; readonly enter: () => void }[] = [];

  /** Whether nobody is inside or waiting. */
  get quiet(): boolean {
    return this.#inside === 0 && !this.#alone && this.#waiting.length === 0;
  }

  /** Runs together with other shared tasks. */
  async shared<T>(task: () => Promise<T>): Promise<T> {
    if (this.#alone || this.#waiting.length > 0) await this.#wait(false);
    else this.#inside += 1;
    try {
      return await task();
    } finally {
      this.#inside -= 1;
      this.#admit();
    }
  }

  /** Runs with nobody else inside. */
  async exclusive<T>(task: () => Promise<T>): Promise<T> {
    if (this.#alone || this.#inside > 0) await this.#wait(true);
    else this.#alone = true;
    try {
      return await task();
    } finally {
      this.#alone = false;
      this.#admit();
    }
  }

  #wait(alone: boolean): Promise<void> {
    return new Promise((enter) => this.#waiting.push({ alone, enter }));
  }

  /** The place is taken here and not by the one who wakes up, so that nobody slips in between. */
  #admit(): void {
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined || this.#alone || (next.alone && this.#inside > 0)) return;
      this.#waiting.shift();
      if (next.alone) this.#alone = true;
      else this.#inside += 1;
      next.enter();
    }
  }
}
