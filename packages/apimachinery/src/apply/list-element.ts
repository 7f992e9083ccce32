import { compareUtf8 } from "../json/order.ts";
import { isJsonObject, memberOf } from "../json/value.ts";
import { quote } from "../quote.ts";
import { keyElement, type ListElement, valueElement } from "./path-element.ts";
import type { ListType } from "./value-type.ts";

/** What names the element of a list that is a set or has keys; `problem` says in Kubernetes' words why nothing does. */
export function elementOf(type: ListType, item: unknown): ListElement | { readonly problem: string } {
  return type.keys.length === 0 ? elementOfSet(item) : elementByKeys(type, item);
}

function elementOfSet(item: unknown): ListElement | { readonly problem: string } {
  if (isJsonObject(item)) return { problem: "associative list without keys has an element that's a map type" };
  if (Array.isArray(item)) return { problem: "not supported: associative list with lists as elements" };
  if (item === null) return { problem: "associative list without keys has an element that's an explicit null" };
  return valueElement(item);
}

function elementByKeys(type: ListType, item: unknown): ListElement | { readonly problem: string } {
  if (item === null) return { problem: "associative list with keys may not have a null element" };
  if (!isJsonObject(item)) return { problem: "associative list with keys may not have non-map elements" };
  const keys: [string, unknown][] = [];
  for (const name of type.keys) {
    const given = memberOf(item, name);
    const value = given === undefined ? type.element.map?.fields?.get(name)?.default : given;
    if (value !== undefined) keys.push([name, value]);
  }
  if (keys.length === 0) {
    const names = type.keys.map(quote).join(" ");
    const problem = `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`;
    return { problem };
  }
  if (keys.length > 1) keys.sort(([a], [b]) => compareUtf8(a, b));
  return keyElement(keys);
}
