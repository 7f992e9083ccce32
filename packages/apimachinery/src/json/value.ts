/** JSON object. Integers beyond 2^53 are `bigint`; all other values are as from `JSON.parse`. */
export type JsonObject = Record<string, unknown>;

/** Whether a JSON value is an object (no array, not null). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets a member whatever its name. Security: plain assignment to `__proto__` would change the prototype instead. */
export function setMember(object: JsonObject, name: string, value: unknown): void {
  if (name === "__proto__")
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}

/** Returns an own member, never an inherited one (`constructor`, `toString`). */
export function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Returns a deep copy. */
export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const name of Object.keys(value)) setMember(copy, name, cloneJson(value[name]));
  return copy as T;
}

/** Whether two JSON values are equal; ignores the order of members, and members that are `undefined`. */
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

/** Compares texts by their UTF-8 bytes, as Go, etcd and LMDB do; `<` on strings compares UTF-16 units and differs above U+FFFF. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return weight(left) - weight(right);
  }
  return a.length - b.length;
}

/** Only with surrogates does the engine's order, by UTF-16 units, differ from that of UTF-8. */
const SURROGATE = /[\ud800-\udfff]/;

/** Sorts texts by their UTF-8 bytes. Uses the engine's own sort if it gives that order, because there may be very many texts. */
export function sortedUtf8(texts: Iterable<string>): string[] {
  const sorted = [...texts].sort();
  return sorted.some((text) => SURROGATE.test(text)) ? sorted.sort(compareUtf8) : sorted;
}

/** Surrogates stand for code points above all others. */
function weight(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
