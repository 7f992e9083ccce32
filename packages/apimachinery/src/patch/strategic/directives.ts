import { isJsonObject, type JsonObject, memberOf, setMember } from "../../json/value.ts";
import type { JsonSchema } from "../../schema.ts";
import { malformed } from "../errors.ts";
import { withoutNulls } from "../merge-patch.ts";

export const PATCH = "$patch";
export const RETAIN_KEYS = "$retainKeys";
export const ELEMENT_ORDER = "$setElementOrder";
export const DELETE_FROM_LIST = "$deleteFromPrimitiveList";

/** Returns the list name of a directive `<prefix>/<list>`; `undefined` for other members. */
export function listOf(name: string, prefix: string, path: string): string | undefined {
  if (!name.startsWith(prefix)) return undefined;
  if (name.startsWith(`${prefix}/`)) return name.slice(prefix.length + 1);
  const what = prefix === ELEMENT_ORDER ? "setElementOrder" : "primitive";
  throw malformed(`invalid patch format of ${what} list`, path);
}

/** Returns a new value of the object without nulls and directives; `undefined` if nothing is left. */
export function asNew(value: unknown): unknown {
  return withoutDirectives(withoutNulls(value));
}

/** Returns a value without objects that have a `$patch` directive; `undefined` if nothing is left. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, PATCH)) return undefined;
  const kept: JsonObject = {};
  for (const name of Object.keys(value)) {
    const member = withoutDirectives(memberOf(value, name));
    if (member !== undefined) setMember(kept, name, member);
  }
  return kept;
}

/** Returns the members of the original that `$retainKeys` keeps. @throws ApiError 400 */
export function retained(original: JsonObject, patch: JsonObject, path: string): JsonObject {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return { ...original };
  const list = memberOf(patch, RETAIN_KEYS);
  if (!Array.isArray(list)) throw malformed("invalid patch format of retainKeys", path);
  const keys = new Set<unknown>(list);
  for (const name of Object.keys(patch)) {
    const directive = name === RETAIN_KEYS || name.startsWith(ELEMENT_ORDER) || name.startsWith(DELETE_FROM_LIST);
    if (!directive && memberOf(patch, name) !== null && !keys.has(name))
      throw malformed("invalid patch format of retainKeys", path);
  }
  const kept: JsonObject = {};
  for (const name of Object.keys(original)) if (keys.has(name)) setMember(kept, name, memberOf(original, name));
  return kept;
}

/** Facts of a schema about a member, for strategic merge patches. */
export interface PatchField {
  /** Schema of the value. */
  readonly schema: JsonSchema | undefined;
  /** Without `retainKeys`, which only matters to authors of patches. */
  readonly strategy: "merge" | "replace" | undefined;
  readonly mergeKey: string | undefined;
}

const UNKNOWN: PatchField = { schema: undefined, strategy: undefined, mergeKey: undefined };

/** Returns the facts about a member. If the schema does not name it, objects are merged and lists replaced. */
export function patchField(schema: JsonSchema | undefined, name: string): PatchField {
  const { properties = {}, additionalProperties } = schema ?? {};
  const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (own === undefined)
    return typeof additionalProperties === "object" ? { ...UNKNOWN, schema: additionalProperties } : UNKNOWN;
  const strategies = (own["x-kubernetes-patch-strategy"] ?? "").split(",");
  const strategy = (["merge", "replace"] as const).find((known) => strategies.includes(known));
  return { schema: own, strategy, mergeKey: own["x-kubernetes-patch-merge-key"] };
}

/** Whether objects of this schema accept strategic merge patches: whether it has a patch strategy anywhere. Other kinds answer 415. */
export function hasPatchStrategy(schema: JsonSchema): boolean {
  if (schema["x-kubernetes-patch-strategy"] !== undefined) return true;
  const { properties = {}, additionalProperties, items } = schema;
  const parts = [...Object.values(properties), ...(items === undefined ? [] : [items])];
  if (typeof additionalProperties === "object") parts.push(additionalProperties);
  return parts.some(hasPatchStrategy);
}
