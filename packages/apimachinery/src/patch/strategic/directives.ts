import { isJsonObject, type JsonObject, memberOf, setMember } from "../../json/value.ts";
import { withoutNulls } from "../merge-patch.ts";
import { malformed } from "./fault.ts";

export const PATCH = "$patch";
export const RETAIN_KEYS = "$retainKeys";
export const ELEMENT_ORDER = "$setElementOrder";
export const DELETE_FROM_LIST = "$deleteFromPrimitiveList";

/** The name of the list that a directive `<prefix>/<list>` is about; `undefined` for members that are none. */
export function listOf(name: string, prefix: string, path: string): string | undefined {
  if (!name.startsWith(prefix)) return undefined;
  if (name.startsWith(`${prefix}/`)) return name.slice(prefix.length + 1);
  const what = prefix === ELEMENT_ORDER ? "setElementOrder" : "primitive";
  throw malformed(`invalid patch format of ${what} list`, path);
}

/** A value that is new in the object: without nulls and directives. `undefined`: nothing is left. */
export function asNew(value: unknown): unknown {
  return withoutDirectives(withoutNulls(value));
}

/** Without what has a `$patch` directive. `undefined`: nothing is left. */
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

/** What `$retainKeys` leaves of the original. @throws ApiError 400 */
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
