import { isJsonObject, type JsonObject, setMember } from "../json/value.ts";
import { BoundedCauses, type Causes, fieldDuplicate, fieldInvalid } from "../meta/field-cause.ts";
import type { StatusCause } from "../meta/status.ts";
import { goJson } from "../text/go-format.ts";
import type { SchemaNode } from "./node.ts";
import { FieldPath, visitChildren } from "./walk.ts";

/** Returns duplicate items in lists of type set and map (apiextensions' listtype.ValidateListSetsAndMaps). */
export function checkListTypes(root: SchemaNode, object: unknown): StatusCause[] {
  const causes = new BoundedCauses();
  if (!root.tasks.listTypes) return causes.items;
  const visit = (value: unknown, node: SchemaNode, place: FieldPath): void => {
    if (causes.full) return;
    if (Array.isArray(value)) {
      if (node.listType === "set") causes.add(repeatedItems(value, place));
      else if (node.listType === "map") causes.add(repeatedKeys(value, node, place));
    }
    visitChildren(value, node, { place, task: "listTypes", visit });
  };
  visit(object, root, FieldPath.root);
  return causes.items;
}

function* repeatedKeys(list: readonly unknown[], node: SchemaNode, place: FieldPath): Causes {
  const wrong = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (wrong >= 0) {
    const detail = "must be an object for an array of list-type map";
    yield fieldInvalid(place.item(wrong).toString(), list[wrong], detail);
    return;
  }
  const keys = node.schema["x-kubernetes-list-map-keys"] ?? [];
  const identity = (item: unknown): unknown => identityOf(item, keys);
  for (const at of repetitions(list, identity)) yield fieldDuplicate(place.item(at).toString(), keysOf(list[at], keys));
}

function* repeatedItems(list: readonly unknown[], place: FieldPath): Causes {
  for (const at of repetitions(list, sameIfEqual)) yield fieldDuplicate(place.item(at).toString(), list[at]);
}

/** Returns the keys that an item has. */
function keysOf(item: unknown, names: readonly string[]): JsonObject {
  const keys: JsonObject = {};
  if (isJsonObject(item)) for (const name of names) if (Object.hasOwn(item, name)) setMember(keys, name, item[name]);
  return keys;
}

/** Returns a value that equals for items with equal keys. Most lists have one key, whose value suffices. */
function identityOf(item: unknown, names: readonly string[]): unknown {
  const [only] = names;
  if (names.length !== 1 || only === undefined) return sameIfEqual(keysOf(item, names));
  return isJsonObject(item) && Object.hasOwn(item, only) ? sameIfEqual(item[only]) : NO_KEY;
}

const NO_KEY = "\0";

/** Returns a value that is the same for equal values only: a scalar itself, or a text that no scalar can be. */
function sameIfEqual(value: unknown): unknown {
  if (typeof value === "object" && value !== null) return `\0${goJson(value)}`;
  return typeof value === "string" && value.startsWith("\0") ? `\0\0${value}` : value;
}

/** Yields the positions of second occurrences; a third one does not count. */
function* repetitions(list: readonly unknown[], identity: (item: unknown) => unknown): Generator<number, void> {
  if (list.length < 2) return;
  const seen = new Map<unknown, boolean>();
  for (const [at, item] of list.entries()) {
    const key = identity(item);
    const told = seen.get(key);
    if (told === false) yield at;
    seen.set(key, told !== undefined);
  }
}
