import { isJsonObject, type JsonObject, memberOf, setMember } from "../json/value.ts";
import { ApiError } from "../meta/api-error.ts";
import { cannotUnmarshal, undecodable } from "./errors.ts";

/**
 * Applies a JSON merge patch (RFC 7386) as a Kubernetes API server does: null removes, objects are merged, all other values
 * replace. Unlike the RFC, nulls are also removed from objects within lists where a value is new or replaces a scalar or a
 * list. The result shares parts with `document` and `patch`; neither is changed.
 *
 * @throws ApiError 400 for a patch that is not an object
 */
export function applyMergePatch(document: JsonObject, patch: unknown): JsonObject {
  if (patch === null) throw ApiError.badRequest("Invalid JSON Patch");
  if (!isJsonObject(patch)) throw undecodable(cannotUnmarshal(patch, "value of type map[string]interface {}"));
  return mergeObjects(document, patch);
}

function mergeObjects(current: JsonObject, patch: JsonObject): JsonObject {
  const merged = { ...current };
  for (const name of Object.keys(patch)) {
    const value = memberOf(patch, name);
    if (value === null) delete merged[name];
    else setMember(merged, name, mergeValue(memberOf(current, name), value));
  }
  return merged;
}

function mergeValue(current: unknown, value: unknown): unknown {
  if (!isJsonObject(current)) return withoutNulls(value);
  return isJsonObject(value) ? mergeObjects(current, value) : value;
}

/** Removes null members at any depth; null elements of a list stay. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const pruned: JsonObject = {};
  for (const name of Object.keys(value)) {
    const member = memberOf(value, name);
    if (member !== null) setMember(pruned, name, withoutNulls(member));
  }
  return pruned;
}
