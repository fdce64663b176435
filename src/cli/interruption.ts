/** Being asked to end: once to end in order, twice to end at once. */

/** A terminal and the programs between it and us may each hand on the same Ctrl-C. */
const SAME_REQUEST_MS = 500;
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Resolves at the first SIGINT, SIGTERM or SIGHUP; another one half a second later or more ends the process at once. */
export const interruption = (of: NodeJS.Process): Promise<void> =>
  new Promise((resolve) => {
    let first: number | undefined;
    for (const [signal, code] of Object.entries(SIGNALS)) {
      of.on(signal, () => {
        if (first !== undefined && performance.now() - first > SAME_REQUEST_MS) of.exit(code);
        first ??= performance.now();
        resolve();
      });
    }
  });
