/** What waits for a time. */
export interface Due {
  /** When, ms of the clock. */
  due: number;
  /** Where it stands in the heap, kept by it; -1 outside. */
  place: number;
}

/** What waits, the earliest at the top: a binary heap whose members know their place, so that one can leave early. */
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

  /** Takes out a member. */
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
