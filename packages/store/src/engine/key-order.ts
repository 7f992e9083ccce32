import type { KeyRange } from "../store.ts";

/** UTF-16 code units and UTF-8 bytes sort differently only from here on. */
const BEYOND = /[\ud800-\uffff]/;

/**
 * Returns a text that JavaScript sorts like the key's UTF-8 bytes, for most keys the key itself. In other keys it swaps
 * surrogates, which encode the highest characters, with the code units above them.
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

/** Compares results of {@link sortable}. */
export function compareSortable(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Range of {@link sortable} keys. */
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
