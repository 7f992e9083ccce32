import { isJsonObject, type JsonObject, memberOf, setMember } from "../json/value.ts";
import { formOf, memberType } from "./form.ts";
import { elementOf } from "./list-element.ts";
import { DEDUCED, type ListType, type MapType, type ValueType } from "./value-type.ts";

/**
 * What is left of `whole`, with the fields that its schema requires of what is left. Conversions between versions are
 * written for objects that are valid, and may not be asked about others.
 */
export function withRequired(left: unknown, whole: unknown, type: ValueType): unknown {
  switch (formOf(type, whole)) {
    case "scalar":
      return left ?? whole;
    case "map":
      if (type.map === undefined || type.map.atomic || !isJsonObject(whole)) return left ?? whole;
      return members(isJsonObject(left) ? left : {}, whole, type.map);
    case "list":
      if (type.list === undefined || type.list.atomic || !Array.isArray(whole)) return left ?? whole;
      return Array.isArray(left) ? elements(left, whole, type.list) : [];
  }
}

function members(left: JsonObject, whole: JsonObject, type: MapType): JsonObject {
  const result: JsonObject = {};
  for (const name of new Set([...Object.keys(left), ...type.required])) {
    const [is, was] = [memberOf(left, name), memberOf(whole, name)];
    if (was !== undefined) setMember(result, name, withRequired(is, was, memberType(type, name) ?? DEDUCED));
    else if (is !== undefined) setMember(result, name, is);
  }
  return result;
}

function elements(left: readonly unknown[], whole: readonly unknown[], type: ListType): unknown[] {
  const were = new Map(whole.map((item) => [elementOf(type, item), item]));
  return left.map((item) => {
    const was = were.get(elementOf(type, item));
    return was === undefined ? item : withRequired(item, was, type.element);
  });
}
