import { isJsonObject, type JsonObject, memberOf } from "../../json/value.ts";
import { listOfLists, malformed } from "../errors.ts";

/** Gives what tells an item from others: its merge key's value, or itself. */
export type Identity = (item: unknown) => unknown;

/** By merge key. The identity throws ApiError 400 for an item that has none. */
export function byMergeKey(mergeKey: string, path: string): Identity {
  return (item) => {
    const value = isJsonObject(item) ? memberOf(item, mergeKey) : undefined;
    if (value === undefined) throw malformed(`an item does not contain the declared merge key ${mergeKey}`, path);
    if (typeof value === "object" && value !== null)
      throw malformed(`the merge key ${mergeKey} of an item is no scalar`, path);
    return value;
  };
}

/** Of scalars. */
export const byValue: Identity = (item) => item;

/**
 * Whether the items of all lists are objects; there is no third way but scalars of one type. `undefined`: there are none.
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

/** As the objects that {@link areObjects} said they are. */
export const asObjects = (items: readonly unknown[]): readonly JsonObject[] => items as readonly JsonObject[];

/**
 * Puts a merged list in order: its items that `order` names in that order, the others in that of `live`, and the two
 * interleaved as `live` has them, where `order` leaves the choice.
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

/** Where each item stands first. */
function places(items: readonly unknown[], identity: Identity): Map<unknown, number> {
  const found = new Map<unknown, number>();
  for (const [at, item] of items.entries()) {
    const key = identity(item);
    if (!found.has(key)) found.set(key, at);
  }
  return found;
}
