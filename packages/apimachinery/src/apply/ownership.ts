import type { JsonObject } from "../json/value.ts";
import type { Conflict } from "./apply-error.ts";
import { ADDED, changed, compare, MODIFIED, REMOVED } from "./compare.ts";
import type { FieldSet } from "./field-set.ts";
import { type Manager, type Managers, withFields } from "./managed-fields.ts";
import { reconcile } from "./schema-sets.ts";
import type { Versions } from "./versions.ts";

/** A change of an object, and who managed it before. Both objects are in the versions' own version. */
export interface Change {
  readonly live: JsonObject;
  readonly next: JsonObject;
  readonly managers: Managers;
  /** The id of who makes the change: nothing is taken from it. */
  readonly self: string;
  /** What this change cannot set, and so does not take. */
  readonly ignored: FieldSet;
}

/** What a change does to the managers. */
export interface Outcome {
  /** What it takes from others. */
  readonly conflicts: readonly Conflict[];
  /** The managers once that is taken; those with nothing left are gone. */
  readonly managers: Map<string, Manager>;
  /** The fields that it sets. */
  readonly set: FieldSet;
}

interface Difference {
  readonly set: FieldSet;
  readonly removed: FieldSet;
}

/** Finds what a change takes from whom. Managers of versions that are gone are forgotten. */
export function contest(versions: Versions, change: Change): Outcome {
  const differences = new Map<string, Difference>();
  const differenceIn = (apiVersion: string): Difference => {
    const known = differences.get(apiVersion) ?? difference(versions, change, apiVersion);
    differences.set(apiVersion, known);
    return known;
  };
  const own = differenceIn(versions.apiVersion);
  const conflicts: Conflict[] = [];
  const managers = new Map<string, Manager>();
  for (const [id, manager] of change.managers) {
    if (versions.typeOf(manager.apiVersion) === undefined) continue;
    const left = id === change.self ? manager : loseTo(differenceIn(manager.apiVersion), manager, conflicts);
    if (!left.set.isEmpty) managers.set(id, left);
  }
  return { conflicts, managers, set: own.set };
}

function loseTo({ set, removed }: Difference, manager: Manager, conflicts: Conflict[]): Manager {
  const fields = manager.set.intersection(set);
  if (!fields.isEmpty) conflicts.push({ manager, fields });
  return withFields(manager, manager.set.difference(fields).difference(removed));
}

function difference(versions: Versions, { live, next, ignored }: Change, apiVersion: string): Difference {
  const type = versions.typeOf(apiVersion) ?? versions.type;
  const changes = compare(versions.convert(live, apiVersion), versions.convert(next, apiVersion), type);
  return {
    set: changed(changes, ADDED | MODIFIED).without(ignored),
    removed: changed(changes, REMOVED).without(ignored),
  };
}

/** The managers as the schemas are now; those of versions that are gone are forgotten. */
export function reconcileManagers(versions: Versions, managers: Managers): Map<string, Manager> {
  const reconciled = new Map<string, Manager>();
  for (const [id, manager] of managers) {
    const type = versions.typeOf(manager.apiVersion);
    if (type !== undefined) reconciled.set(id, withFields(manager, reconcile(manager.set, type)));
  }
  return reconciled;
}
