import { isJsonObject, type JsonObject, memberOf } from "../../json/value.ts";
import type { JsonSchema } from "../../schema.ts";
import { quote } from "../../text/go-format.ts";
import { malformed } from "../errors.ts";
import { PATCH, type PatchField, patchField, withoutDirectives } from "./directives.ts";
import { areObjects, asObjects, byMergeKey, byValue, type Identity, inOrder } from "./items.ts";

export type Items = readonly unknown[];

/** Merges an object into another. */
export type MergeObjects = (original: JsonObject, patch: JsonObject, at: SchemaPosition) => JsonObject;

/** Position of a patch in the schema. */
export interface SchemaPosition {
  readonly schema: JsonSchema | undefined;
  readonly path: string;
}

/** List to change. */
export interface ListMerge {
  readonly original: Items;
  readonly patch: Items;
  readonly field: PatchField;
  readonly path: string;
  readonly merge: MergeObjects;
}

/** Merges two lists: items that are in both are merged. @throws ApiError 400, 422 */
export function mergeLists(list: ListMerge): Items {
  const { original, patch, path, field } = list;
  const objects = areObjects([original, patch], path);
  if (objects === undefined) return original;
  const { mergeKey } = field;
  if (objects !== (mergeKey !== undefined)) {
    throw malformed(objects ? "cannot merge lists without merge key" : "the items must be objects", path);
  }
  if (mergeKey === undefined) {
    const merged = new Set([...original, ...patch]);
    return inOrder([...merged], { order: patch, live: original, identity: byValue });
  }
  const identity = byMergeKey(mergeKey, path);
  const { live, wanted } = carriedOut(list, identity);
  return inOrder(mergeItems({ ...list, original: live, patch: wanted }, identity), { order: wanted, live, identity });
}

/** Returns the scalars that are not deleted. @throws ApiError 400, 422 */
export function deleteScalars(original: Items, deletions: Items, path: string): Items {
  if (areObjects([original, deletions], path) === true) throw malformed("invalid patch format of primitive list", path);
  const gone = new Set(deletions);
  return original.filter((item) => !gone.has(item));
}

/** Applies `$patch` directives in items: deletes items, or replaces the list. */
function carriedOut({ original, patch, path }: ListMerge, identity: Identity): { live: Items; wanted: Items } {
  const wanted: unknown[] = [];
  let replaced = false;
  for (const item of asObjects(patch)) {
    const directive = memberOf(item, PATCH);
    if (!Object.hasOwn(item, PATCH)) wanted.push(item);
    else if (directive === "replace") replaced = true;
    else if (directive !== "delete") throw unknownDirective(directive, path);
  }
  if (replaced) return { live: wanted, wanted: [] };
  return { live: withoutDeleted(original, patch, identity), wanted };
}

/** Returns the items that no item of the patch deletes. @throws ApiError 400 */
function withoutDeleted(original: Items, patch: Items, identity: Identity): Items {
  const deletions = patch.filter((item) => isJsonObject(item) && memberOf(item, PATCH) === "delete");
  const gone = new Set(deletions.map(identity));
  return gone.size === 0 ? original : original.filter((item) => !gone.has(identity(item)));
}

export function unknownDirective(directive: unknown, path: string): Error {
  const given = typeof directive === "string" ? ` ${quote(directive)}` : "";
  return malformed(`unknown patch type${given}: set $patch to delete or replace`, path);
}

function mergeItems({ original, patch, field, path, merge }: ListMerge, identity: Identity): unknown[] {
  const merged = [...original];
  const places = new Map<unknown, number>();
  for (const [at, item] of merged.entries()) if (!places.has(identity(item))) places.set(identity(item), at);
  for (const item of asObjects(patch)) {
    const key = identity(item);
    const at = places.get(key);
    if (at === undefined) places.set(key, merged.push(item) - 1);
    else merged[at] = merge(merged[at] as JsonObject, item, { schema: field.schema?.items, path: `${path}[${at}]` });
  }
  return merged;
}

/**
 * Returns the list `name` in the order of `$setElementOrder/<name>`, with the patch applied to its items. `undefined` without
 * such a list.
 */
export function orderedList(
  { original, patch, merge }: { original: JsonObject; patch: JsonObject; merge: MergeObjects },
  { name, order, at }: { name: string; order: unknown; at: SchemaPosition },
): Items | undefined {
  const { path } = at;
  const field = patchField(at.schema, name);
  const identity = field.mergeKey === undefined ? byValue : byMergeKey(field.mergeKey, path);
  const items = (value: unknown): Items => {
    if (Array.isArray(value)) return value;
    throw malformed("expected a list", path);
  };
  const wanted = items(order);
  const live = Object.hasOwn(original, name) ? items(memberOf(original, name)) : undefined;
  const patched = Object.hasOwn(patch, name) ? items(memberOf(patch, name)) : undefined;
  if (live === undefined && patched === undefined) return undefined;
  checkOrder(patched ?? [], wanted, { identity, path });
  const merged = combined({ original: live, patch: patched, field, path, merge });
  if (areObjects([live ?? [], patched ?? []], path) === undefined) return merged;
  const lived = field.strategy === "merge" ? settledOrder(live ?? [], patched ?? [], identity) : (live ?? []);
  return inOrder(merged, { order: wanted, live: lived, identity });
}

/** Returns the order of a live list after deletions by the patch: as in Kubernetes, new items take the free positions. */
function settledOrder(live: Items, patch: Items, identity: Identity): Items {
  const left = withoutDeleted(live, patch, identity);
  if (left.length === live.length) return live;
  const known = new Set(left.map(identity));
  const added = patch.filter((item) => !isDirective(item) && !known.has(identity(item)));
  return [...left, ...added].slice(0, live.length);
}

function combined(
  list: Omit<ListMerge, "original" | "patch"> & { original: Items | undefined; patch: Items | undefined },
): Items {
  const { original, patch, field } = list;
  if (patch === undefined) return original ?? [];
  if (original === undefined) return withoutDirectives(patch) as Items;
  return field.strategy === "merge" ? mergeLists({ ...list, original, patch }) : patch;
}

/** Checks that the items of the patch are in the order that it requests. @throws ApiError 400 */
function checkOrder(patch: Items, order: Items, { identity, path }: { identity: Identity; path: string }): void {
  if (patch.length === 0 || order.length === 0) return;
  const items = patch.filter((item) => !isDirective(item));
  let next = 0;
  for (const item of order) if (next < items.length && identity(items[next]) === identity(item)) next += 1;
  if (next < items.length) throw malformed("the order in the patch's list does not match $setElementOrder", path);
}

function isDirective(item: unknown): boolean {
  return isJsonObject(item) && Object.hasOwn(item, PATCH);
}
