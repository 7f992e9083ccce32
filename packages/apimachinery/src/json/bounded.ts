import { compareUtf8 } from "./value.ts";

/** Maximum number of items: a longer list helps no reader, and formatting a million items would take seconds. */
const MOST = 1_000;

/** Limit on all items together, in characters: each item may hold a long path or a quoted value. */
export const MOST_TEXT: number = 2 ** 20;

/** Bounded list of reported items: at most the first thousand, fewer if they are long. */
export class Bounded<T> {
  readonly items: T[] = [];
  readonly #lengthOf: (item: T) => number;
  #text = 0;

  /** @param lengthOf Returns the length of an item, in characters. */
  constructor(lengthOf: (item: T) => number) {
    this.#lengthOf = lengthOf;
  }

  /** Whether the list takes no more items. */
  get full(): boolean {
    return this.items.length >= MOST || this.#text >= MOST_TEXT;
  }

  /** Takes items until the list is full, and does not iterate over the rest. */
  add(items: Iterable<T>): this {
    if (this.full) return this;
    for (const item of items) {
      this.items.push(item);
      this.#text += this.#lengthOf(item);
      if (this.full) break;
    }
    return this;
  }

  /** Drops all items after the first `count`. */
  truncate(count: number): void {
    for (const item of this.items.splice(count)) this.#text -= this.#lengthOf(item);
  }
}

/** Paths of unknown fields as field validation names them, bounded in number. */
export class UnknownFields extends Bounded<string> {
  constructor() {
    super((path) => path.length);
  }

  sorted(): string[] {
    return this.items.sort(compareUtf8);
  }
}
