import { isJsonObject, type JsonObject } from "../json/value.ts";
import { FieldSet } from "./field-set.ts";
import { filledMap, formOf, memberType } from "./form.ts";
import { elementOf } from "./list-element.ts";
import { DEDUCED, type ListType, type MapType, type ValueType } from "./value-type.ts";

/**
 * The fields that a value has, which is what whoever applies it owns: its scalars, what is atomic, empty and null
 * members, members of maps and elements of lists (those whose names no schema declares).
 */
export function fieldsOf(value: unknown, type: ValueType): FieldSet {
  const { map, list } = type;
  switch (formOf(type, value)) {
    case "scalar":
      return FieldSet.leaf;
    case "map":
      if (map === undefined || map.atomic) return FieldSet.leaf;
      return isJsonObject(value) ? fieldsOfMap(value, map) : FieldSet.empty;
    case "list":
      if (list === undefined || list.atomic) return FieldSet.leaf;
      return Array.isArray(value) ? fieldsOfList(value, list) : FieldSet.empty;
  }
}

function fieldsOfMap(value: JsonObject, type: MapType): FieldSet {
  const fields = new Map<string, FieldSet>();
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    const below = fieldsOf(member, memberType(type, name) ?? DEDUCED);
    const isOwn =
      type.fields?.get(name) === undefined ||
      member === null ||
      (isJsonObject(member) && filledMap(member) === undefined);
    const node = isOwn ? withSelf(below) : below;
    if (!node.isEmpty) fields.set(name, node);
  }
  return fields.size === 0 ? FieldSet.empty : new FieldSet(false, fields, undefined);
}

function fieldsOfList(list: readonly unknown[], type: ListType): FieldSet {
  const items = new Map<string, FieldSet>();
  for (const item of list) {
    const element = elementOf(type, item);
    if (typeof element !== "string") continue;
    // Of elements that the list holds twice only the name is owned, not what is in one of them.
    items.set(element, items.has(element) ? FieldSet.leaf : withSelf(fieldsOf(item, type.element)));
  }
  return items.size === 0 ? FieldSet.empty : new FieldSet(false, undefined, items);
}

/** The same fields, and the one at which they stand. */
export function withSelf(below: FieldSet): FieldSet {
  return below.hasChildren ? new FieldSet(true, below.fields, below.items) : FieldSet.leaf;
}
