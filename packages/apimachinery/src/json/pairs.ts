/** A set of pairs of non-negative integers, of few bytes and nanoseconds each. */
export class PairSet {
  /** Each pair in two neighbouring places, the first number raised by one: 0 is free. */
  #places = new Int32Array(128);
  #size = 0;

  /** @returns whether it was not there yet */
  add(a: number, b: number): boolean {
    if (4 * this.#size >= this.#places.length) this.#grow();
    const at = placeOf(this.#places, a, b);
    if (this.#places[at] !== 0) return false;
    this.#places[at] = a + 1;
    this.#places[at + 1] = b;
    this.#size += 1;
    return true;
  }

  #grow(): void {
    const old = this.#places;
    const wider = new Int32Array(4 * old.length);
    for (let from = 0; from < old.length; from += 2) {
      const first = old[from] ?? 0;
      if (first === 0) continue;
      const second = old[from + 1] ?? 0;
      const at = placeOf(wider, first - 1, second);
      wider[at] = first;
      wider[at + 1] = second;
    }
    this.#places = wider;
  }
}

/** Where a pair is, or where it belongs. The length of `places` is a power of two. */
function placeOf(places: Int32Array, a: number, b: number): number {
  const mask = places.length - 1;
  let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  let at = ((hash ^ (hash >>> 13)) << 1) & mask;
  while (places[at] !== 0 && (places[at] !== a + 1 || places[at + 1] !== b)) at = (at + 2) & mask;
  return at;
}
