/** When a mirror is packed: at a quiet time, or now and then when there is none. */
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { GitLimits } from './limits.ts';
import { countClutter, packMirror } from './packing.ts';
import type { GitRunner } from './process.ts';
import type { SharedLock } from './serial.ts';

/** What housekeeping of one mirror needs. */
export interface HousekeepingOptions {
  readonly path: string;
  /** For the log. */
  readonly address: string;
  readonly lock: SharedLock;
  readonly clock: Clock;
  readonly limits: GitLimits;
  readonly log: Log;
  readonly runner: GitRunner;
  /** Ends the reading process, which would hold on to packs that go away. */
  readonly stopReading: () => Promise<void>;
}

/** Operations after which a mirror that is never quiet is looked at. */
const lookEvery = 1000;
/** Such a mirror is packed only when it is this many times over its limits. */
const patience = 10;

/** Packs one mirror on our own schedule. */
export class Housekeeping {
  readonly #options: HousekeepingOptions;
  #operations = 0;
  #cancel: () => void = () => undefined;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  /** Told at the end of each operation. */
  rest(): void {
    const { clock, limits, lock } = this.#options;
    this.#cancel();
    this.#operations += 1;
    if (this.#operations % lookEvery === 0) void lock.exclusive(() => this.#pack(patience));
    this.#cancel = clock.at(clock.now() + limits.quietMs, () => {
      if (lock.quiet) void lock.exclusive(() => this.#pack(1));
    });
  }

  async #pack(tolerance: number): Promise<void> {
    const { path, address, limits, log, runner, stopReading } = this.#options;
    try {
      const { loose, packs } = countClutter(path);
      if (loose < limits.looseObjects * tolerance && packs < limits.packs * tolerance) return;
      await stopReading();
      const objects = await packMirror(path, runner, limits.cloneMs);
      log.debug('Git mirror packed', { repository: address, objects });
    } catch (error) {
      log.warn('Git mirror could not be packed', { repository: address, error: error instanceof Error ? error.message : 'unknown' });
    }
  }
}
