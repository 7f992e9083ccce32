import { isJsonObject, type JsonObject, memberOf } from "../../json/value.ts";
import { quote } from "../../quote.ts";
import type { JsonSchema } from "../../schema.ts";
import { PATCH } from "./directives.ts";
import { malformed } from "./fault.ts";
import type { PatchField } from "./field.ts";
import { areObjects, asObjects, byMergeKey, byValue, type Identity, inOrder } from "./items.ts";

type Items = readonly unknown[];

/** How an object is merged into another. */
export type MergeObjects = (original: JsonObject, patch: JsonObject, at: Place) => JsonObject;

/** Where a patch is at. */
export interface Place {
  readonly schema: JsonSchema | undefined;
  readonly path: string;
}

/** A list that is to be changed. */
export interface ListMerge {
  readonly original: Items;
  readonly patch: Items;
  readonly field: PatchField;
  readonly path: string;
  readonly merge: MergeObjects;
}

/** Both lists as one: items that are in both are merged. @throws ApiError 400, 422 */
export function mergeLists(list: ListMerge): Items {
  const { original, patch, path, field } = list;
  const objects = areObjects([original, patch], path);
  if (objects === undefined) return original;
  const { mergeKey } = field;
  if (objects !== (mergeKey !== undefined)) {
    throw malformed(objects ? "cannot merge lists without merge key" : "the items are to be objects", path);
  }
  if (mergeKey === undefined) {
    const merged = new Set([...original, ...patch]);
    return inOrder([...merged], { order: patch, live: original, identity: byValue });
  }
  const identity = byMergeKey(mergeKey, path);
  const { live, wanted } = carriedOut(list, identity);
  return inOrder(mergeItems({ ...list, original: live, patch: wanted }, identity), { order: wanted, live, identity });
}

/** The scalars that are not to go. @throws ApiError 400, 422 */
export function deleteScalars(original: Items, deletions: Items, path: string): Items {
  if (areObjects([original, deletions], path) === true) throw malformed("invalid patch format of primitive list", path);
  const gone = new Set(deletions);
  return original.filter((item) => !gone.has(item));
}

/** Carries out what `$patch` in items says: those that go from the list, and a list that is replaced. */
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

/** The items that no item of the patch deletes. @throws ApiError 400 */
export function withoutDeleted(original: Items, patch: Items, identity: Identity): Items {
  const deletions = patch.filter((item) => isJsonObject(item) && memberOf(item, PATCH) === "delete");
  const gone = new Set(deletions.map(identity));
  return gone.size === 0 ? original : original.filter((item) => !gone.has(identity(item)));
}

export function unknownDirective(directive: unknown, path: string): Error {
  const given = typeof directive === "string" ? ` ${quote(directive)}` : "";
  return malformed(`unknown patch type${given}: $patch is delete or replace`, path);
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
