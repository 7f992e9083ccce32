import SortedBTree from "sorted-btree";
import { compareSortable } from "../engine/key-order.ts";
import type { Version } from "./version.ts";

/** Every key that the history knows, by its sortable text, with its newest version. */
export interface Tree {
  get(order: string): Version | undefined;
  set(order: string, version: Version): unknown;
  delete(order: string): boolean;
  clear(): void;
  /** Goes from `low` to below `high` until the callback gives a `break`. */
  forRange(low: string, high: string, includeHigh: false, visit: (order: string, version: Version) => Visit): unknown;
}

type Visit = { readonly break: true } | undefined;

// The package is CommonJS: its class arrives as a property of the default export under Node, as that export elsewhere.
const module = SortedBTree as unknown as { readonly default?: unknown };
const BTree = (module.default ?? module) as new (entries: undefined, compare: typeof compareSortable) => Tree;

export function emptyTree(): Tree {
  return new BTree(undefined, compareSortable);
}
