import { compareUtf8 } from "./value.ts";

/** More of anything helps nobody, and to word a million of them would take seconds. */
const MOST = 1_000;

/** What they may say together, characters: each may name a path, or quote a value, as long as all it was found in. */
export const MOST_TEXT: number = 2 ** 20;

/** What is told of something there may be very much of: the first thousand, and fewer when they are long. */
export class Bounded<T> {
  readonly items: T[] = [];
  readonly #lengthOf: (item: T) => number;
  #text = 0;

  /** @param lengthOf how many characters an item has */
  constructor(lengthOf: (item: T) => number) {
    this.#lengthOf = lengthOf;
  }

  /** Whether nothing more is taken. */
  get full(): boolean {
    return this.items.length >= MOST || this.#text >= MOST_TEXT;
  }

  /** Takes items as they come, until there are enough; those behind are not asked for. */
  add(items: Iterable<T>): this {
    if (this.full) return this;
    for (const item of items) {
      this.items.push(item);
      this.#text += this.#lengthOf(item);
      if (this.full) break;
    }
    return this;
  }

  /** Gives back all but the first so many. */
  truncate(count: number): void {
    for (const item of this.items.splice(count)) this.#text -= this.#lengthOf(item);
  }
}

/** The paths of fields that are unknown, as field validation names them: of very many the first. */
export class UnknownFields extends Bounded<string> {
  constructor() {
    super((path) => path.length);
  }

  sorted(): string[] {
    return this.items.sort(compareUtf8);
  }
}
