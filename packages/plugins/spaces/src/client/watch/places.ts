import type { Place } from "./cursor.ts";

/** How many are copied beside the rows, at each change. */
const ROW = 32;

/** Places by number, immutable: a change copies one row and the list of rows, so that each event of a thousand Spaces can have its own at the cost of two short copies. */
export class Places implements Iterable<Place> {
  readonly #rows: readonly (readonly (Place | undefined)[])[];

  constructor(rows: readonly (readonly (Place | undefined)[])[] = []) {
    this.#rows = rows;
  }

  /** The same with another place at a number, or none. */
  with(at: number, place: Place | undefined): Places {
    const row = [...(this.#rows[Math.floor(at / ROW)] ?? [])];
    row[at % ROW] = place;
    const rows = [...this.#rows];
    rows[Math.floor(at / ROW)] = row;
    return new Places(rows);
  }

  *[Symbol.iterator](): Generator<Place> {
    for (const row of this.#rows) for (const place of row ?? []) if (place !== undefined) yield place;
  }
}
