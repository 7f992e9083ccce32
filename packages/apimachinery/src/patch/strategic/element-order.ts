import { isJsonObject, type JsonObject, memberOf } from "../../json/value.ts";
import { PATCH, withoutDirectives } from "./directives.ts";
import { malformed } from "./fault.ts";
import { patchField } from "./field.ts";
import { areObjects, byMergeKey, byValue, type Identity, inOrder } from "./items.ts";
import { type ListMerge, type MergeObjects, mergeLists, type Place, withoutDeleted } from "./lists.ts";

type Items = readonly unknown[];

/** The list `name` in the order of `$setElementOrder/<name>`, with what the patch says of its items. `undefined`: there is none. */
export function orderedList(
  { original, patch, merge }: { original: JsonObject; patch: JsonObject; merge: MergeObjects },
  { name, order, at }: { name: string; order: unknown; at: Place },
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

/** The order of a live list when the patch has deleted from it: as in Kubernetes, what is new takes the places that are free. */
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

/** Whether the patch has its items in the very order that it asks for. @throws ApiError 400 */
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
