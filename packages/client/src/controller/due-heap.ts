/** Entry of a {@link DueHeap}. */
export interface Due {
  /** Time at which the entry is due, in ms of the clock. */
  due: number;
  /** Index in the heap, set by the heap; -1 if the entry is not in it. */
  place: number;
}

/** Binary heap with the earliest entry at the top. Entries know their index, so that any of them can be removed early. */
export class DueHeap<T extends Due> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  /** Removes an entry. */
  remove(item: T): void {
    const at = item.place;
    const last = this.#items.pop();
    item.place = -1;
    if (last === undefined || last === item) return;
    this.#rise(last, at);
    this.#sink(last, last.place);
  }

  clear(): void {
    for (const item of this.#items) item.place = -1;
    this.#items.length = 0;
  }

  #put(item: T, at: number): void {
    this.#items[at] = item;
    item.place = at;
  }

  #rise(item: T, from: number): void {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#items[above];
      if (parent === undefined || parent.due <= item.due) break;
      this.#put(parent, at);
      at = above;
    }
    this.#put(item, at);
  }

  #sink(item: T, from: number): void {
    let at = from;
    for (;;) {
      const [left, right] = [this.#items[2 * at + 1], this.#items[2 * at + 2]];
      if (left === undefined) break;
      const child = right !== undefined && right.due < left.due ? right : left;
      if (child.due >= item.due) break;
      const below = child.place;
      this.#put(child, at);
      at = below;
    }
    this.#put(item, at);
  }
}
