/** What objects are found by: any number of texts for each. */
export type Indexer<T> = (object: T) => readonly string[];

/** Objects by what an indexer says of them. */
export class StoreIndex<T> {
  readonly #indexer: Indexer<T>;
  readonly #values = new Map<string, Set<T>>();
  /** What each was filed under: an indexer that answers otherwise later must not leave anything behind. */
  readonly #filed = new Map<T, readonly string[]>();

  constructor(indexer: Indexer<T>) {
    this.#indexer = indexer;
  }

  get(value: string): T[] {
    return [...(this.#values.get(value) ?? [])];
  }

  add(object: T): void {
    const values = this.#indexer(object);
    if (values.length === 0) return;
    this.#filed.set(object, values);
    for (const value of values) {
      const objects = this.#values.get(value);
      if (objects === undefined) this.#values.set(value, new Set([object]));
      else objects.add(object);
    }
  }

  remove(object: T): void {
    for (const value of this.#filed.get(object) ?? []) {
      const objects = this.#values.get(value);
      objects?.delete(object);
      if (objects?.size === 0) this.#values.delete(value);
    }
    this.#filed.delete(object);
  }
}
