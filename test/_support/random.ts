// Pseudorandom numbers that are the same in every run, so that failures can be repeated.

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1 (after mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** From 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  /** Returns the results of `count` calls of `make`. */
  many<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }

  /** Returns up to `length` of the given characters. */
  text(characters: string, length: number): string {
    return this.many(this.below(length + 1), () => this.pick([...characters])).join("");
  }
}
