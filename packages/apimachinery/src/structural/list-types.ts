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
      if (node.listType === "set") causes.push(...repeatedIn(value, value, place));
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
  return repeatedIn(
    list,
    list.map((item) => keysOf(item, keys)),
    place,
  );
}

/** The keys that an item has. */
function keysOf(item: unknown, names: readonly string[]): JsonObject {
  const keys: JsonObject = {};
  if (isJsonObject(item)) for (const name of names) if (Object.hasOwn(item, name)) setMember(keys, name, item[name]);
  return keys;
}

/** A cause where a value is there for the second time; a third is not told. */
function repeatedIn(list: readonly unknown[], values: readonly unknown[], place: Place): StatusCause[] {
  const causes: StatusCause[] = [];
  if (list.length < 2) return causes;
  const scalars = new Map<unknown, number>();
  const compounds = new Map<unknown, number>();
  for (const [at, value] of values.entries()) {
    const compound = typeof value === "object" && value !== null;
    const [times, key] = compound ? [compounds, goJson(value)] : [scalars, value];
    const before = times.get(key) ?? 0;
    times.set(key, before + 1);
    if (before === 1) causes.push(fieldDuplicate(place.item(at).toString(), value));
  }
  return causes;
}
