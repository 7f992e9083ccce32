export interface BoundedCacheOptions<V> {
  /** The most that all values together may weigh. */
  readonly capacity: number;
  /** What a value weighs. @default 1 */
  readonly weigh?: (value: V) => number;
}

/** Values by key, the least recently used forgotten first. A value heavier than the capacity is made but not kept. */
export class BoundedCache<V> {
  readonly #capacity: number;
  readonly #weigh: (value: V) => number;
  /** In the order of use, which a Map keeps for us: the least recently used comes first. */
  readonly #values = new Map<string, V>();
  #weight = 0;

  constructor({ capacity, weigh = () => 1 }: BoundedCacheOptions<V>) {
    this.#capacity = capacity;
    this.#weigh = weigh;
  }

  /** How many values are kept. */
  get size(): number {
    return this.#values.size;
  }

  /** The value kept under `key`, else what `make` returns. A throw is passed on and nothing is kept. */
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
