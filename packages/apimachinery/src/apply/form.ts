import { isJsonObject, type JsonObject, memberOf } from "../json/value.ts";
import type { MapType, ValueType } from "./value-type.ts";

/** As what a value is treated: what it is, or, if its type does not know such values (null is one), the type's first. */
export type Form = "map" | "scalar" | "list";

export function formOf(type: ValueType, value: unknown): Form {
  if (Array.isArray(value)) {
    if (type.list !== undefined) return "list";
  } else if (isJsonObject(value)) {
    if (type.map !== undefined) return "map";
  } else if (value !== null && value !== undefined && type.scalar !== undefined) return "scalar";
  if (type.map !== undefined) return "map";
  return type.scalar === undefined ? "list" : "scalar";
}

/** The type of a member; undefined if there may be none of that name. */
export function memberType(type: MapType, name: string): ValueType | undefined {
  return type.fields?.get(name) ?? type.element;
}

/** An object that has members; undefined for anything else. */
export function filledMap(value: unknown): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  for (const name in value) if (Object.hasOwn(value, name) && memberOf(value, name) !== undefined) return value;
  return undefined;
}

/** A list that has elements; undefined for anything else. */
export function filledList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) && value.length > 0 ? value : undefined;
}
