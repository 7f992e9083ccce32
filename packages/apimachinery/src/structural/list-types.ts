import { fieldDuplicate, fieldInvalid } from "../field-cause.ts";
import { goJson } from "../go-format.ts";
import { isJsonObject, type JsonObject, setMember } from "../json/value.ts";
import type { StatusCause } from "../status.ts";
import type { SchemaNode } from "./node.ts";
import { Place } from "./place.ts";
import { visitChildren } from "./walk.ts";

/** Items that lists of type set and map have twice (apiextensions' listtype.ValidateListSetsAndMaps). */
export function checkListTypes(root: SchemaNode, object: unknown): StatusCause[] {
  const causes: StatusCause[] = [];
  if (!root.tasks.listTypes) return causes;
  const visit = (value: unknown, node: SchemaNode, place: Place): void => {
    if (Array.isArray(value)) {
      if (node.listType === "set") causes.push(...repeatedItems(value, place));
      else if (node.listType === "map") causes.push(...repeatedKeys(value, node, place));
    }
    visitChildren(value, node, { place, task: "listTypes", visit });
  };
  visit(object, root, Place.root);
  return causes;
}

function repeatedKeys(list: readonly unknown[], node: SchemaNode, place: Place): StatusCause[] {
  const wrong = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (wrong >= 0) {
    const detail = "must be an object for an array of list-type map";
    return [fieldInvalid(place.item(wrong).toString(), list[wrong], detail)];
  }
  const keys = node.schema["x-kubernetes-list-map-keys"] ?? [];
  const identity = (item: unknown): unknown => identityOf(item, keys);
  return repetitions(list, identity).map((at) => fieldDuplicate(place.item(at).toString(), keysOf(list[at], keys)));
}

function repeatedItems(list: readonly unknown[], place: Place): StatusCause[] {
  return repetitions(list, sameIfEqual).map((at) => fieldDuplicate(place.item(at).toString(), list[at]));
}

/** The keys that an item has. */
function keysOf(item: unknown, names: readonly string[]): JsonObject {
  const keys: JsonObject = {};
  if (isJsonObject(item)) for (const name of names) if (Object.hasOwn(item, name)) setMember(keys, name, item[name]);
  return keys;
}

/** What two items with the same keys have in common. Most lists have one key, whose value will do. */
function identityOf(item: unknown, names: readonly string[]): unknown {
  const [only] = names;
  if (names.length !== 1 || only === undefined) return sameIfEqual(keysOf(item, names));
  return isJsonObject(item) && Object.hasOwn(item, only) ? sameIfEqual(item[only]) : NO_KEY;
}

const NO_KEY = "\0";

/** What only equal values have in common: themselves if they are scalars, else their text, which no scalar can be. */
function sameIfEqual(value: unknown): unknown {
  if (typeof value === "object" && value !== null) return `\0${goJson(value)}`;
  return typeof value === "string" && value.startsWith("\0") ? `\0\0${value}` : value;
}

/** Where values are there for the second time; a third time does not count. */
function repetitions(list: readonly unknown[], identity: (item: unknown) => unknown): number[] {
  const found: number[] = [];
  if (list.length < 2) return found;
  const seen = new Map<unknown, boolean>();
  for (const [at, item] of list.entries()) {
    const key = identity(item);
    const told = seen.get(key);
    if (told === false) found.push(at);
    seen.set(key, told !== undefined);
  }
  return found;
}
