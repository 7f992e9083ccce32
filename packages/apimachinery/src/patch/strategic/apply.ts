import { isJsonObject, type JsonObject, memberOf, setMember } from "../../json/value.ts";
import { ApiError } from "../../meta/api-error.ts";
import type { JsonSchema } from "../../schema.ts";
import { below, cannotUnmarshal, malformed } from "../errors.ts";
import {
  asNew,
  DELETE_FROM_LIST,
  ELEMENT_ORDER,
  listOf,
  PATCH,
  patchField,
  RETAIN_KEYS,
  retained,
} from "./directives.ts";
import { deleteScalars, mergeLists, orderedList, type SchemaPosition, unknownDirective } from "./lists.ts";

/**
 * Applies a strategic merge patch: Kubernetes' merge patch that can merge lists. `schema` declares in
 * `x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key` which lists are merged, and by which key. Directives are
 * `$patch: delete|replace`, `$retainKeys`, `$setElementOrder/<list>` and `$deleteFromPrimitiveList/<list>`. As in Kubernetes,
 * directives and nulls within new items of a merged list stay: prune the result by the schema. The result shares parts with
 * `document` and `patch`; neither is changed.
 *
 * @throws ApiError 400 for a malformed patch, also where Kubernetes answers 500; 422 for lists of lists
 */
export function applyStrategicMergePatch(document: JsonObject, patch: unknown, schema: JsonSchema): JsonObject {
  if (patch === null) return document;
  if (!isJsonObject(patch)) throw ApiError.badRequest(cannotUnmarshal(patch, "value of type map[string]interface {}"));
  return mergeObjects(document, patch, { schema, path: "" });
}

function mergeObjects(original: JsonObject, patch: JsonObject, at: SchemaPosition): JsonObject {
  if (Object.hasOwn(patch, PATCH)) return replaced(patch, at);
  const merged = retained(original, patch, at.path);
  const settled = new Set<string>([RETAIN_KEYS]);
  for (const directive of Object.keys(patch)) {
    const path = below(at.path, directive);
    const name = listOf(directive, ELEMENT_ORDER, path);
    if (name === undefined) continue;
    const parts = { original: merged, patch, merge: mergeObjects };
    const list = orderedList(parts, { name, order: memberOf(patch, directive), at: { schema: at.schema, path } });
    if (list !== undefined) setMember(merged, name, list);
    settled.add(directive).add(name);
  }
  for (const directive of Object.keys(patch)) {
    const name = listOf(directive, DELETE_FROM_LIST, below(at.path, directive));
    if (name === undefined) continue;
    deleteFrom(merged, { name, deletions: memberOf(patch, directive), path: below(at.path, directive) });
    settled.add(directive);
  }
  for (const name of Object.keys(patch))
    if (!settled.has(name)) mergeMember(merged, { name, value: memberOf(patch, name), at });
  return merged;
}

function replaced(patch: JsonObject, { path }: SchemaPosition): JsonObject {
  const directive = memberOf(patch, PATCH);
  if (directive === "delete") return {};
  if (directive !== "replace") throw unknownDirective(directive, path);
  const { [PATCH]: _, ...rest } = patch;
  return rest;
}

function deleteFrom(
  merged: JsonObject,
  { name, deletions, path }: { name: string; deletions: unknown; path: string },
): void {
  const list = memberOf(merged, name);
  if (deletions === null) delete merged[name];
  else if (!Array.isArray(deletions)) throw malformed("invalid patch format of primitive list", path);
  else if (Array.isArray(list)) setMember(merged, name, deleteScalars(list, deletions, path));
}

function mergeMember(
  merged: JsonObject,
  { name, value, at }: { name: string; value: unknown; at: SchemaPosition },
): void {
  if (value === null) {
    delete merged[name];
    return;
  }
  const current = memberOf(merged, name);
  const path = below(at.path, name);
  if (isJsonObject(current) && isJsonObject(value)) {
    const { schema, strategy } = patchField(at.schema, name);
    setMember(merged, name, strategy === "replace" ? value : mergeObjects(current, value, { schema, path }));
  } else if (Array.isArray(current) && Array.isArray(value)) {
    const field = patchField(at.schema, name);
    const list = { original: current, patch: value, field, path, merge: mergeObjects };
    setMember(merged, name, field.strategy === "merge" ? mergeLists(list) : value);
  } else {
    const fresh = asNew(value);
    if (fresh === undefined) delete merged[name];
    else setMember(merged, name, fresh);
  }
}
