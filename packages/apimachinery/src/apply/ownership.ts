import type { JsonObject } from "../json/value.ts";
import type { Conflict } from "./apply-error.ts";
import { ADDED, type Changes, changed, compare, MODIFIED, REMOVED } from "./compare.ts";
import type { FieldSet } from "./field-set.ts";
import { reconcile } from "./fields-of.ts";
import { type Manager, type Managers, withFields } from "./managed-fields.ts";
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
export interface ContestedChange {
  /** What it takes from others. */
  readonly conflicts: readonly Conflict[];
  /** The managers once that is taken; those with nothing left are gone. */
  readonly managers: Map<string, Manager>;
  /** What it does in the versions' own version. */
  readonly own: Difference;
}

/** Finds what a change takes from whom. Managers of versions that are gone are forgotten. */
export function contest(versions: Versions, change: Change): ContestedChange {
  const own = new Difference(versions, change, versions.apiVersion);
  const differences = new Map([[versions.apiVersion, own]]);
  const conflicts: Conflict[] = [];
  const managers = new Map<string, Manager>();
  for (const [id, manager] of change.managers) {
    const { apiVersion } = manager;
    if (versions.typeOf(apiVersion) === undefined) continue;
    const difference = differences.get(apiVersion) ?? new Difference(versions, change, apiVersion);
    differences.set(apiVersion, difference);
    const left = id === change.self ? manager : loseTo(difference, manager, conflicts);
    if (!left.set.isEmpty) managers.set(id, left);
  }
  return { conflicts, managers, own };
}

function loseTo({ set, removed }: Difference, manager: Manager, conflicts: Conflict[]): Manager {
  const fields = manager.set.intersection(set);
  if (!fields.isEmpty) conflicts.push({ manager, fields });
  return withFields(manager, manager.set.difference(fields).difference(removed));
}

/** What a change does to the fields of an object in one version; found when it is asked for. */
class Difference {
  readonly #find: () => Changes | undefined;
  readonly #ignored: FieldSet;
  #changes: { readonly found: Changes | undefined } | undefined;
  #set: FieldSet | undefined;
  #removed: FieldSet | undefined;

  constructor(versions: Versions, { live, next, ignored }: Change, apiVersion: string) {
    const type = versions.typeOf(apiVersion) ?? versions.type;
    this.#find = () => compare(versions.convert(live, apiVersion), versions.convert(next, apiVersion), type);
    this.#ignored = ignored;
  }

  /** The fields that are added or changed. */
  get set(): FieldSet {
    this.#set ??= this.#marked(ADDED | MODIFIED);
    return this.#set;
  }

  get removed(): FieldSet {
    this.#removed ??= this.#marked(REMOVED);
    return this.#removed;
  }

  #marked(marks: number): FieldSet {
    this.#changes ??= { found: this.#find() };
    return changed(this.#changes.found, marks).without(this.#ignored);
  }
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
