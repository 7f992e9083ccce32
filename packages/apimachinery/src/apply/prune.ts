import type { JsonObject } from "../json/value.ts";
import { FieldSet } from "./field-set.ts";
import { fieldsOf } from "./fields-of.ts";
import type { Manager, Managers } from "./managed-fields.ts";
import { remove } from "./remove.ts";
import { withNamedFields } from "./schema-sets.ts";
import type { ValueType } from "./value-type.ts";
import type { Versions } from "./versions.ts";

/** What is to be pruned. */
export interface Pruning {
  /** The live object with the configuration merged onto it. */
  readonly merged: JsonObject;
  /** All managers, the one that applies with what it manages from now on. */
  readonly managers: Managers;
  /** The one that applies, from now on. */
  readonly applier: Manager;
  /** What it managed before. */
  readonly last: Manager | undefined;
}

/** Removes the fields that a manager applied before, applies no more, and that nobody else manages. */
export function prune(versions: Versions, { merged, managers, applier, last }: Pruning): JsonObject {
  const type = last && versions.typeOf(last.apiVersion);
  if (last === undefined || type === undefined || last.set.isEmpty) return merged;
  if (last.apiVersion === applier.apiVersion && last.set.isSubsetOf(applier.set)) return merged;
  const former = versions.convert(merged, last.apiVersion);
  const lastFields = withNamedFields(last.set, type);
  const bare = object(remove(former, lastFields, type));
  const owned = addOwned(versions, { merged: former, pruned: bare, version: last.apiVersion, managers });
  // What nobody managed is not removed with what it stands in.
  const pruned = allFields(versions.convert(owned, last.apiVersion), type);
  const gone = allFields(former, type).difference(pruned).intersection(lastFields);
  return versions.convert(object(remove(former, gone, type)), applier.apiVersion);
}

interface Restoring {
  readonly merged: JsonObject;
  readonly pruned: JsonObject;
  readonly version: string;
  readonly managers: Managers;
}

/** Puts back what somebody manages, version by version; the one that was pruned in comes first. */
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
    whole = versions.convert(whole, apiVersion);
    left = versions.convert(left, apiVersion);
    const kept = allFields(left, type).union(withNamedFields(FieldSet.unionOf(sets), type));
    left = object(remove(whole, allFields(whole, type).difference(kept), type));
  }
  return left;
}

function allFields(value: JsonObject, type: ValueType): FieldSet {
  return withNamedFields(fieldsOf(value, type), type);
}

/** An object never loses its last member here: apiVersion and kind are nobody's. */
function object(value: unknown): JsonObject {
  return value as JsonObject;
}
