import type { JsonObject } from "../json/value.ts";
import type { Conflict } from "./apply-error.ts";
import { ADDED, type Changes, changed, compare, MODIFIED, REMOVED } from "./compare.ts";
import type { FieldSet } from "./field-set.ts";
import { reconcile } from "./fields-of.ts";
import { type Manager, type Managers, withFields } from "./managed-fields.ts";
import type { Versions } from "./versions.ts";

/** Change of an object, with its previous managers. Both objects are in the own version of `versions`. */
export interface Change {
  readonly live: JsonObject;
  readonly next: JsonObject;
  readonly managers: Managers;
  /** Id of the manager that makes the change: it loses no fields. */
  readonly self: string;
  /** Fields that this change cannot set, and so does not take over. */
  readonly ignored: FieldSet;
}

/** Effect of a change on the managers. */
export interface ContestedChange {
  /** Fields that it takes from other managers. */
  readonly conflicts: readonly Conflict[];
  /** Managers after the change; those without fields are removed. */
  readonly managers: Map<string, Manager>;
  /** Changed fields in the own version of `versions`. */
  readonly own: Difference;
}

/** Computes which fields a change takes from which managers. Drops managers of versions that no longer exist. */
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

/** Fields of an object that a change alters, in one version; computed on first use. */
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

  /** Fields that are added or changed. */
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

/** Returns the managers adapted to the present schemas, without those of versions that no longer exist. */
export function reconcileManagers(versions: Versions, managers: Managers): Map<string, Manager> {
  const reconciled = new Map<string, Manager>();
  for (const [id, manager] of managers) {
    const type = versions.typeOf(manager.apiVersion);
    if (type !== undefined) reconciled.set(id, withFields(manager, reconcile(manager.set, type)));
  }
  return reconciled;
}
