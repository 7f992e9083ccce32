import { isJsonObject, type JsonObject, memberOf, setMember } from "../json/value.ts";
import { FieldSet } from "./field-set.ts";
import { fieldsOf, withNamedFields } from "./fields-of.ts";
import type { Manager, Managers } from "./managed-fields.ts";
import { remove } from "./remove.ts";
import { DEDUCED, elementOf, formOf, type ListType, type MapType, memberType, type ValueType } from "./value-type.ts";
import type { Versions } from "./versions.ts";

/** Input of {@link prune}. */
export interface ApplyPruning {
  /** Live object with the configuration merged into it. */
  readonly merged: JsonObject;
  /** All managers, the applier with its new fields among them. */
  readonly managers: Managers;
  /** Manager that applies, with its new fields. */
  readonly applier: Manager;
  /** The applier with its previous fields. */
  readonly last: Manager | undefined;
}

/** Removes the fields that the applier applied before, no longer applies, and that no other manager owns. */
export function prune(versions: Versions, { merged, managers, applier, last }: ApplyPruning): JsonObject {
  const type = last && versions.typeOf(last.apiVersion);
  if (last === undefined || type === undefined || last.set.isEmpty) return merged;
  if (last.apiVersion === applier.apiVersion && last.set.isSubsetOf(applier.set)) return merged;
  const former = versions.convert(merged, last.apiVersion);
  const lastFields = withNamedFields(last.set, type);
  const bare = object(remove(former, lastFields, type));
  const owned = addOwned(versions, { merged: former, pruned: bare, version: last.apiVersion, managers });
  // Fields without an owner are not removed with their parent.
  const gone = allFields(former, type).difference(allFields(owned, type)).intersection(lastFields);
  return converted(versions, { left: object(remove(former, gone, type)), whole: former }, applier.apiVersion);
}

interface Restoring {
  readonly merged: JsonObject;
  readonly pruned: JsonObject;
  readonly version: string;
  readonly managers: Managers;
}

/** Converts a pruned object to another version. */
function converted(
  versions: Versions,
  { left, whole }: { readonly left: JsonObject; readonly whole: JsonObject },
  apiVersion: string,
): JsonObject {
  const version = String(whole["apiVersion"]);
  const type = versions.typeOf(version);
  if (version === apiVersion || type === undefined) return versions.convert(left, apiVersion);
  return versions.convert(object(withRequired(left, whole, type)), apiVersion);
}

/** Restores the fields that managers own, version by version; the version of the pruning comes first, and again at the end. */
function addOwned(versions: Versions, { merged, pruned, version, managers }: Restoring): JsonObject {
  const owned = new Map<string, FieldSet[]>([[version, []]]);
  for (const { apiVersion, set } of managers.values()) {
    const sets = owned.get(apiVersion);
    if (sets === undefined) owned.set(apiVersion, [set]);
    else sets.push(set);
  }
  let [whole, left] = [merged, pruned];
  for (const [apiVersion, sets] of owned) {
    const type = versions.typeOf(apiVersion);
    if (type === undefined) continue;
    left = converted(versions, { left, whole }, apiVersion);
    whole = versions.convert(whole, apiVersion);
    const kept = allFields(left, type).union(withNamedFields(FieldSet.unionOf(sets), type));
    left = object(remove(whole, allFields(whole, type).difference(kept), type));
  }
  return converted(versions, { left, whole }, version);
}

function allFields(value: JsonObject, type: ValueType): FieldSet {
  return withNamedFields(fieldsOf(value, type), type);
}

/** An object never loses its last member here: no manager owns apiVersion and kind. */
function object(value: unknown): JsonObject {
  return value as JsonObject;
}

/**
 * Returns `left` with the fields of `whole` that its schema requires. Conversions between versions expect valid objects and
 * may fail for others.
 */
function withRequired(left: unknown, whole: unknown, type: ValueType): unknown {
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
