import { isJsonObject, memberOf } from "../json/value.ts";
import type { Effort } from "./effort.ts";

/** Whether two JSON values are the same, at a cost that is counted. */
export function same(a: unknown, b: unknown, effort: Effort): boolean {
  effort.spend(1);
  if (a === b) return true;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => same(item, b[at], effort));
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const names = Object.keys(a);
  effort.spendMembers(names.length);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && same(memberOf(a, name), memberOf(b, name), effort));
}
