import type { CacheEvent, CacheListener, ReadableCache } from "@virtual-workspaces/framework/storage";

/** Character after the slash behind the logical cluster in the keys of a cache. */
const AFTER_SLASH = "0";

/** Logical clusters that have, or had, objects in a cache. */
export class ClusterNames implements CacheListener {
  readonly names: Set<string> = new Set();
  readonly #cache: ReadableCache;
  readonly #listeners = new Set<() => void>();

  constructor(cache: ReadableCache) {
    this.#cache = cache;
    cache.listen(this);
    this.#read();
  }

  /** Notifies of further logical clusters. */
  listen(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  event({ key: { cluster } }: CacheEvent): void {
    if (this.names.has(cluster)) return;
    this.names.add(cluster);
    for (const listener of this.#listeners) listener();
  }

  expired(): void {
    this.names.clear();
    this.#read();
  }

  /** Reads one key of each logical cluster. */
  #read(): void {
    const { objects } = this.#cache.snapshot();
    for (let from = ""; ; ) {
      const [first] = objects.entries(from);
      if (first === undefined) return;
      const { cluster } = first[1].key;
      this.names.add(cluster);
      from = `${cluster}${AFTER_SLASH}`;
    }
  }
}
