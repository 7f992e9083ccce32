/** A JSON object. Integers beyond 2^53 are `bigint` in it, everything else is as `JSON.parse` gives it. */
export type JsonObject = Record<string, unknown>;

/** Whether a JSON value is an object (no array, not null). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets a member whatever its name: plain assignment to `__proto__` would change the prototype instead. */
export function setMember(object: JsonObject, name: string, value: unknown): void {
  if (name === "__proto__")
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}

/** A member of its own, never one that objects inherit (`constructor`, `toString`). */
export function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A deep copy. */
export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const name of Object.keys(value)) setMember(copy, name, cloneJson(value[name]));
  return copy as T;
}

/** Whether two JSON values are equal; the order of members does not count, members that are `undefined` are none. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && equalItems(a, b);
  return isJsonObject(a) && isJsonObject(b) && equalMembers(a, b);
}

function equalItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (!equalJson(a[at], b[at])) return false;
  return true;
}

function equalMembers(a: JsonObject, b: JsonObject): boolean {
  let count = 0;
  for (const name of Object.keys(a)) {
    const value = a[name];
    if (value === undefined) continue;
    if (!equalJson(value, memberOf(b, name))) return false;
    count += 1;
  }
  for (const name of Object.keys(b)) if (b[name] !== undefined) count -= 1;
  return count === 0;
}
