import { isJsonObject, type JsonObject, memberOf } from "../../json/value.ts";
import { listOfLists, malformed } from "../errors.ts";

/** Returns the identity of an item: the value of its merge key, or the item itself. */
export type Identity = (item: unknown) => unknown;

/** Identifies items by merge key. The identity throws ApiError 400 for an item without the key. */
export function byMergeKey(mergeKey: string, path: string): Identity {
  return (item) => {
    const value = isJsonObject(item) ? memberOf(item, mergeKey) : undefined;
    if (value === undefined) throw malformed(`an item does not contain the declared merge key ${mergeKey}`, path);
    if (typeof value === "object" && value !== null)
      throw malformed(`the merge key ${mergeKey} of an item is not a scalar`, path);
    return value;
  };
}

/** Identifies scalars by themselves. */
export const byValue: Identity = (item) => item;

/**
 * Whether the items of all lists are objects; if not, they are scalars of one type. `undefined` without items.
 *
 * @throws ApiError 400 for mixed items, 422 for lists of lists
 */
export function areObjects(lists: readonly (readonly unknown[])[], path: string): boolean | undefined {
  const kinds = new Set<string>();
  for (const list of lists) for (const item of list) kinds.add(kindOf(item));
  const [first] = kinds;
  if (first === "array") throw listOfLists(path);
  if (kinds.size > 1 || kinds.has("null")) throw malformed("list element types are not identical", path);
  return kinds.size === 0 ? undefined : kinds.has("object");
}

function kindOf(item: unknown): string {
  if (item === null) return "null";
  if (Array.isArray(item)) return "array";
  if (typeof item === "number") return Number.isInteger(item) ? "integer" : "number";
  return typeof item === "bigint" ? "integer" : typeof item;
}

/** Casts items after a check by {@link areObjects}. */
export const asObjects = (items: readonly unknown[]): readonly JsonObject[] => items as readonly JsonObject[];

/**
 * Orders a merged list: items in `order` by that order, the others by that of `live`. Where both leave the choice, they are
 * interleaved as in `live`.
 */
export function inOrder(
  merged: readonly unknown[],
  by: { readonly order: readonly unknown[]; readonly live: readonly unknown[]; readonly identity: Identity },
): unknown[] {
  const { identity } = by;
  const wanted = places(by.order, identity);
  const lived = places(by.live, identity);
  const [named, others] = [[] as unknown[], [] as unknown[]];
  for (const item of merged) (wanted.has(identity(item)) ? named : others).push(item);
  const sorted = (items: unknown[], place: ReadonlyMap<unknown, number>): unknown[] =>
    items.sort((a, b) => (place.get(identity(a)) ?? 0) - (place.get(identity(b)) ?? 0));
  return interleave(sorted(others, lived), sorted(named, wanted), (item) => lived.get(identity(item)));
}

function interleave(
  others: readonly unknown[],
  named: readonly unknown[],
  place: (item: unknown) => number | undefined,
): unknown[] {
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    const here = place(item);
    while (here !== undefined && next < others.length && (place(others[next]) ?? here) < here)
      result.push(others[next++]);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

/** Returns the first position of each item. */
function places(items: readonly unknown[], identity: Identity): Map<unknown, number> {
  const found = new Map<unknown, number>();
  for (const [at, item] of items.entries()) {
    const key = identity(item);
    if (!found.has(key)) found.set(key, at);
  }
  return found;
}
