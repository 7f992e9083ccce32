import { isJsonObject, type JsonObject } from "../json/value.ts";
import { FieldSet } from "./field-set.ts";
import {
  DEDUCED,
  elementOf,
  filledMap,
  formOf,
  type ListType,
  type MapType,
  memberType,
  UNTYPED,
  type ValueType,
} from "./value-type.ts";

/**
 * Returns the fields that a value has, all of which its applier owns: scalars, atomic values, empty and null members, list
 * elements, and members that no schema declares.
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
    // Of elements with the same name only the name is owned, not their fields.
    items.set(element, items.has(element) ? FieldSet.leaf : withSelf(fieldsOf(item, type.element)));
  }
  return items.size === 0 ? FieldSet.empty : new FieldSet(false, undefined, items);
}

/** Returns the same fields, and the field at this node. */
function withSelf(below: FieldSet): FieldSet {
  return below.hasChildren ? new FieldSet(true, below.fields, below.items) : FieldSet.leaf;
}

/**
 * Adds the declared fields above the fields of a set: the owner of `spec.text` also owns `spec` if the schema declares it.
 * Stored sets leave these fields out because they follow from the schema.
 */
export function withNamedFields(set: FieldSet, type: ValueType | undefined): FieldSet {
  return set.mapChildren(
    (child, name) => {
      if (!child.hasChildren) return child;
      const below = withNamedFields(child, type?.map && memberType(type.map, name));
      const isDeclared = type?.map?.fields?.get(name) !== undefined;
      return isDeclared && !below.has ? withSelf(below) : below;
    },
    (child, element) => withNamedFields(child, element.startsWith("k:") ? type?.list?.element : undefined),
  );
}

/**
 * Adapts a set that was written under an older schema: of a value that has become atomic only the whole is owned. A value
 * that is no longer atomic needs no change. Returns the same set if nothing changes.
 */
export function reconcile(set: FieldSet, { map, list }: ValueType): FieldSet {
  if (!set.hasChildren) return set;
  const below = (type: ValueType | undefined) => (child: FieldSet) => reconciledChild(child, type);
  if (map !== undefined) {
    if (isUntypedMap(map)) return set;
    return set.mapChildren((child, name) => reconciledChild(child, memberType(map, name)), below(map.element));
  }
  return list === undefined ? set : set.mapChildren(below(list.element), below(list.element));
}

function reconciledChild(child: FieldSet, type: ValueType | undefined): FieldSet {
  if (type === undefined || !child.hasChildren) return child;
  const first = type.map ?? (type.scalar === undefined ? type.list : undefined);
  if (first === undefined || (type.map !== undefined && isUntypedMap(type.map))) return child;
  return first.atomic ? FieldSet.leaf : reconcile(child, type);
}

/** Whether a type was deduced from values: such a type does not know which values are atomic. */
function isUntypedMap({ fields, element }: MapType): boolean {
  return fields === undefined && element !== UNTYPED && element?.scalar === "untyped";
}
