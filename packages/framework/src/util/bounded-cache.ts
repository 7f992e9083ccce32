export interface BoundedCacheOptions<V> {
  /** Maximum total weight of the values. */
  readonly capacity: number;
  /** Returns the weight of a value. @default 1 */
  readonly weigh?: (value: V) => number;
}

/** Values by key; evicts the least recently used. Returns a value heavier than the capacity without keeping it. */
export class BoundedCache<V> {
  readonly #capacity: number;
  readonly #weigh: (value: V) => number;
  /** In the order of use, since a Map keeps its order: the least recently used comes first. */
  readonly #values = new Map<string, V>();
  #weight = 0;

  constructor({ capacity, weigh = () => 1 }: BoundedCacheOptions<V>) {
    this.#capacity = capacity;
    this.#weigh = weigh;
  }

  /** Number of values in the cache. */
  get size(): number {
    return this.#values.size;
  }

  /** Returns the value under `key`, or what `make` returns. When `make` throws, nothing is kept. */
  get(key: string, make: () => V): V {
    const known = this.#values.get(key);
    if (known !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, known);
      return known;
    }
    const made = make();
    const weight = this.#weigh(made);
    if (weight > this.#capacity) return made;
    this.#weight += weight;
    this.#values.set(key, made);
    this.#shed();
    return made;
  }

  #shed(): void {
    for (const [key, value] of this.#values) {
      if (this.#weight <= this.#capacity) return;
      this.#values.delete(key);
      this.#weight -= this.#weigh(value);
    }
  }
}
