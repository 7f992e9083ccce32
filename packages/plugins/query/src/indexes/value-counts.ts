import type { FieldValue } from "../order/sort-key.ts";

/** Maximum number of values that are counted each; further ones are counted together. */
const MOST_VALUES = 1000;

/** Number of objects for each value of a field. */
export interface CountedValues {
  /** Values and their numbers of objects, most frequent first. A missing value is null. */
  readonly values: readonly { readonly value: string | number | null; readonly count: number }[];
  /** Number of objects with other values than the first 1,000. */
  readonly others: number;
}

/** Counts the values of a field. Memory: at most 1,000 values. */
export class ValueCounts {
  readonly #counts = new Map<FieldValue, number>();
  #others = 0;

  add(value: FieldValue): void {
    const count = this.#counts.get(value);
    // Once values are counted together, a new one joins them: which of them it was is not known.
    if (count === undefined && (this.#others > 0 || this.#counts.size >= MOST_VALUES)) this.#others += 1;
    else this.#counts.set(value, (count ?? 0) + 1);
  }

  remove(value: FieldValue): void {
    const count = this.#counts.get(value);
    if (count === undefined) this.#others -= 1;
    else if (count > 1 || this.#others > 0) this.#counts.set(value, count - 1);
    else this.#counts.delete(value);
  }

  values(): CountedValues {
    const values = [...this.#counts]
      .filter(([, count]) => count > 0)
      .sort(([value, count], [other, otherCount]) => otherCount - count || (String(value) < String(other) ? -1 : 1))
      .map(([value, count]) => ({ value: typeof value === "bigint" ? Number(value) : (value ?? null), count }));
    return { values, others: this.#others };
  }
}
