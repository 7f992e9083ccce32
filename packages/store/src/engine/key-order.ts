import type { KeyRange } from "../store.ts";

/** Only beyond it do code units and bytes in UTF-8 disagree about the order. */
const BEYOND = /[\ud800-\uffff]/;

/**
 * A text that JavaScript orders as the bytes of the key in UTF-8 are ordered: most keys are their own. In the others
 * surrogates, which stand for the highest characters, change places with the code units above them.
 */
export function sortable(key: string): string {
  if (!BEYOND.test(key)) return key;
  let order = "";
  for (let index = 0; index < key.length; index++) {
    const unit = key.charCodeAt(index);
    const moved = unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
    order += String.fromCharCode(moved);
  }
  return order;
}

/** Compares what {@link sortable} gives. */
export function compareSortable(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A range to compare {@link sortable} keys with. */
export class SortableRange {
  readonly from: string;
  readonly to: string;

  constructor(range: KeyRange) {
    this.from = sortable(range.from);
    this.to = sortable(range.to);
  }

  has(order: string): boolean {
    return order >= this.from && order < this.to;
  }
}
