/** Reads that lag behind, as those of a cache do. A view never goes back by itself; with several views, two reads in a row may. */
import type { Resource } from '../../src/api/meta.ts';
import type { KindName } from '../../src/api/registry.ts';
import type { Random } from './random.ts';
import { keyOf, type StoreCore } from './store-core.ts';

/** What a read sees of one kind. */
export interface Snapshot {
  readonly objects: ReadonlyMap<string, Resource>;
  readonly revision: number;
}

interface View {
  position: number;
  revision: number;
  readonly objects: Map<string, Resource>;
}

/** The caches of one incarnation. */
export class StoreViews {
  readonly #core: StoreCore;
  readonly #random: Random;
  readonly #views = new Map<string, View>();
  readonly #still = new Map<KindName, Snapshot>();

  constructor(core: StoreCore, random: Random) {
    this.#core = core;
    this.#random = random;
  }

  /** The kind as it was when this was first asked for it. */
  still(kind: KindName): Snapshot {
    const known = this.#still.get(kind);
    if (known) return known;
    const snapshot = { objects: new Map(this.#core.all(kind)), revision: this.#core.revision };
    this.#still.set(kind, snapshot);
    return snapshot;
  }

  /** What a stale read of the kind sees: any state between what this view showed last and now. */
  stale(kind: KindName): Snapshot {
    const log = this.#core.changes(kind);
    const key = `${kind}/${this.#random.below(2)}`;
    let view = this.#views.get(key);
    if (!view) {
      view = { position: 0, revision: 1, objects: new Map() };
      this.#views.set(key, view);
      advance(view, log, Math.max(0, log.length - this.#random.below(10)));
    }
    if (this.#random.chance(0.5)) advance(view, log, this.#random.between(view.position, log.length));
    return view;
  }
}

const advance = (view: View, log: ReturnType<StoreCore['changes']>, to: number): void => {
  for (; view.position < to; view.position += 1) {
    const change = log[view.position];
    if (!change) return;
    const { namespace, name } = change.object.metadata;
    if (change.type === 'DELETED') view.objects.delete(keyOf(namespace, name));
    else view.objects.set(keyOf(namespace, name), change.object);
    view.revision = change.revision;
  }
};
