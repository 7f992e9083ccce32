import { type JsonObject, setMember } from "../json/value.ts";
import type { FieldSet } from "./field-set.ts";
import {
  DEDUCED,
  elementOf,
  filledList,
  filledMap,
  formOf,
  type ListType,
  type MapType,
  memberType,
  type ValueType,
} from "./value-type.ts";

/**
 * Returns a value without the fields of a set. A parent that loses its last member or element becomes null, as in Kubernetes,
 * unless the set has it too. Shares unchanged parts, and returns the value itself if nothing changes.
 */
export function remove(value: unknown, fields: FieldSet, type: ValueType): unknown {
  if (!fields.hasChildren) return value;
  switch (formOf(type, value)) {
    case "scalar":
      return value;
    case "map":
      return type.map === undefined || type.map.atomic ? null : removeMembers(value, fields, type.map);
    case "list":
      return type.list === undefined || type.list.atomic ? null : removeElements(value, fields, type.list);
  }
}

function removeMembers(value: unknown, fields: FieldSet, type: MapType): unknown {
  const map = filledMap(value);
  if (map === undefined) return null;
  if (fields.fields === undefined) return map;
  const kept: JsonObject = {};
  let isSame = true;
  let isEmpty = true;
  for (const name of Object.keys(map)) {
    const node = fields.fields.get(name);
    if (node?.has) {
      isSame = false;
      continue;
    }
    const member = node === undefined ? map[name] : remove(map[name], node, memberType(type, name) ?? DEDUCED);
    isSame &&= member === map[name];
    isEmpty = false;
    setMember(kept, name, member);
  }
  if (isSame) return map;
  return isEmpty ? null : kept;
}

function removeElements(value: unknown, fields: FieldSet, type: ListType): unknown {
  const list = filledList(value);
  if (list === undefined) return null;
  if (fields.items === undefined) return list;
  const kept: unknown[] = [];
  let isSame = true;
  for (const item of list) {
    const element = elementOf(type, item);
    const node = typeof element === "string" ? fields.items.get(element) : undefined;
    if (node?.has) {
      isSame = false;
      continue;
    }
    const left = node === undefined ? item : remove(item, node, type.element);
    isSame &&= left === item;
    kept.push(left);
  }
  if (isSame) return list;
  return kept.length === 0 ? null : kept;
}

/**
 * Returns only those fields of a set that have nothing below them in it ({@link FieldSet.leaves}), with their parent objects
 * and lists. Undefined if the value has none of them.
 */
export function extract(value: unknown, fields: FieldSet, type: ValueType): unknown {
  const { map, list } = type;
  if (!fields.hasChildren) return value;
  switch (formOf(type, value)) {
    case "scalar":
      return value;
    case "map":
      return map === undefined || map.atomic ? value : extractMembers(value, fields, map);
    case "list":
      return list === undefined || list.atomic ? value : extractElements(value, fields, list);
  }
}

function extractMembers(value: unknown, fields: FieldSet, type: MapType): unknown {
  const map = filledMap(value);
  if (map === undefined) return value;
  const kept: JsonObject = {};
  for (const name of Object.keys(map)) {
    const node = fields.fields?.get(name);
    if (node !== undefined) setMember(kept, name, extractMember(map[name], node, memberType(type, name) ?? DEDUCED));
  }
  return kept;
}

/** An object that was set to be empty stays empty: members of other managers do not count. */
function extractMember(value: unknown, fields: FieldSet, type: ValueType): unknown {
  const isEmptied = !fields.hasChildren && formOf(type, value) === "map" && type.map?.atomic === false;
  return isEmptied && filledMap(value) !== undefined ? {} : extract(value, fields, type);
}

function extractElements(value: unknown, fields: FieldSet, type: ListType): unknown {
  const list = filledList(value);
  if (list === undefined) return value;
  return list.flatMap((item) => {
    const element = elementOf(type, item);
    const node = typeof element === "string" ? fields.items?.get(element) : undefined;
    return node === undefined ? [] : [extract(item, node, type.element)];
  });
}
