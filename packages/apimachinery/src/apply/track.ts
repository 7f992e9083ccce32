import { compareUtf8, equalJson, type JsonObject } from "../json/value.ts";
import { formatTime } from "../text/time.ts";
import { applyFailure, type Conflict } from "./apply-error.ts";
import { addedToBare } from "./compare.ts";
import { FieldSet, NEVER_OWNED } from "./field-set.ts";
import { fieldsOf } from "./fields-of.ts";
import { compareTimes, type Manager, type ManagerKey, type Managers, managerId, withTime } from "./managed-fields.ts";
import { metadataOf } from "./managed-object.ts";
import { merge } from "./merge.ts";
import { contest, reconcileManagers } from "./ownership.ts";
import { prune } from "./prune-applied.ts";
import { typeProblem } from "./type-check.ts";
import type { Versions } from "./versions.ts";

/** Write to an object, with its manager. */
export interface Write {
  readonly live: JsonObject;
  /** Object to store, or the applied configuration. */
  readonly next: JsonObject;
  readonly managers: Managers;
  readonly key: ManagerKey;
  /** Fields that a write of this kind cannot set. */
  readonly ignored: FieldSet;
  readonly now: Date;
}

/** Id that no manager has: changes of an update are found as if a new manager had made it. */
const SOMEBODY_NEW = "";

/**
 * Returns the managers after a write that is not an apply.
 *
 * @throws ApiError 500 if an object does not fit the schema
 */
export function trackUpdate(versions: Versions, write: Write): Managers {
  const { live, next, key, ignored, now } = write;
  checkStored(versions, next, "failed to convert new object (%) to smd typed");
  checkStored(versions, live, "failed to convert live object (%) to smd typed");
  const known = reconcileManagers(versions, write.managers);
  const { managers, own: change } = contest(versions, { live, next, managers: known, self: SOMEBODY_NEW, ignored });
  const own = change.set.difference(NEVER_OWNED);
  if (own.isEmpty) return capManagers(managers);
  const id = managerId(key);
  const set = own.union(managers.get(id)?.set ?? own);
  const updater: Manager = { ...key, time: undefined, set, entry: undefined };
  return capManagers(managers.set(id, ownedBy(known.get(id), updater, formatTime(now))));
}

/** Write that creates an object without managers. */
export type Creation = Omit<Write, "live" | "managers">;

/**
 * Returns the manager after a create: the same as {@link trackUpdate} of an object that had nothing. All fields are its own, so
 * it compares nothing.
 *
 * @throws ApiError 500 if the object does not fit the schema
 */
export function trackCreate(versions: Versions, { next, key, ignored, now }: Creation): Managers {
  checkStored(versions, next, "failed to convert new object (%) to smd typed");
  const set = addedToBare(next, versions.type).without(ignored).difference(NEVER_OWNED);
  if (set.isEmpty) return new Map();
  return new Map([[managerId(key), { ...key, time: formatTime(now), set, entry: undefined }]]);
}

/** Result of an apply. */
export interface Applied {
  readonly object: JsonObject;
  readonly managers: Managers;
  /** Fields taken from other managers. Any conflict is a reason to reject the apply. */
  readonly conflicts: readonly Conflict[];
}

/**
 * Merges a configuration into an object.
 *
 * @throws ApiError 500 if one of them does not fit the schema
 */
export function applyConfig(versions: Versions, write: Write): Applied {
  const { live, next: config, key, ignored, now } = write;
  const { type } = versions;
  checkConfig(versions, config);
  checkStored(versions, live, "failed to create typed live object (%)");
  const id = managerId(key);
  const known = reconcileManagers(versions, write.managers);
  const last = known.get(id);
  const set = fieldsOf(config, type).without(ignored);
  // The time is kept even if the manager's version no longer exists.
  const applier: Manager = { ...key, time: write.managers.get(id)?.time, set, entry: undefined };
  known.set(id, applier);
  const merged = merge(live, config, type) as JsonObject;
  const next = prune(versions, { merged, managers: known, applier, last });
  const { conflicts, managers } = contest(versions, { live, next, managers: known, self: id, ignored });
  const isSame = equalJson(live, next);
  const owned = set.difference(NEVER_OWNED);
  managers.delete(id);
  if (!owned.isEmpty) managers.set(id, ownedBy(last, { ...applier, set: owned }, isSame ? undefined : formatTime(now)));
  return { object: isSame ? live : next, managers, conflicts };
}

/** Returns the previous entry if the fields are the same. Its time changes only if the object does. */
function ownedBy(last: Manager | undefined, next: Manager, time: string | undefined): Manager {
  const isSame = last?.apiVersion === next.apiVersion && last.set.equals(next.set);
  const manager = isSame ? last : next;
  return time === undefined ? manager : withTime(manager, time);
}

function checkConfig(versions: Versions, config: JsonObject): void {
  const problem = typeProblem(config, versions.type, { allowDuplicates: false });
  if (problem === undefined) return;
  throw applyFailure(`failed to create typed patch object (${describe(versions, config)}): ${problem}`);
}

/** Stored objects, and objects of other writes, may have lists with several elements of one name. */
function checkStored(versions: Versions, object: JsonObject, failure: string): void {
  const problem = typeProblem(object, versions.type, { allowDuplicates: true });
  if (problem !== undefined)
    throw applyFailure(`${failure.replace("%", () => describe(versions, object))}: ${problem}`);
}

/** Formats an object for messages: `default/ssh; example.dev/v1, Kind=Quote`. */
function describe({ apiVersion, kind }: Versions, object: JsonObject): string {
  const { namespace, name } = metadataOf(object);
  const version = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  return `${namespace ?? ""}/${name ?? ""}; ${version}, Kind=${kind}`;
}

/** Maximum number of managers that update an object, as in Kubernetes. Appliers are not counted. */
const MAX_UPDATERS = 10;

/** Manager that owns the fields of the oldest updaters together. */
const BUCKET = "ancient-changes";

/** Merges the oldest updaters (per version) into one if there are too many. */
function capManagers(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { operation }]) => operation === "Update");
  if (updaters.length <= MAX_UPDATERS) return managers;
  updaters.sort(([id, a], [other, b]) => compareTimes(a, b) || compareUtf8(id, other));
  const oldest = new Map<string, (readonly [id: string, manager: Manager])[]>();
  let surplus = updaters.length - MAX_UPDATERS;
  for (const updater of updaters) {
    if (surplus === 0) break;
    const [, { apiVersion }] = updater;
    const others = oldest.get(apiVersion);
    if (others === undefined) oldest.set(apiVersion, [updater]);
    else {
      others.push(updater);
      surplus -= 1;
    }
  }
  const capped = new Map(managers);
  for (const updater of oldest.values()) putTogether(capped, updater);
  return capped;
}

/** Merges updaters into one with the time of the youngest. A single updater stays as it is. */
function putTogether(
  managers: Map<string, Manager>,
  updaters: readonly (readonly [id: string, manager: Manager])[],
): void {
  const youngest = updaters.at(-1)?.[1];
  if (updaters.length < 2 || youngest === undefined) return;
  const { apiVersion, time } = youngest;
  const key = { manager: BUCKET, operation: "Update", apiVersion, subresource: "" } as const;
  const bucket = managers.get(managerId(key));
  const sets = updaters.map(([, { set }]) => set);
  for (const [id] of updaters) managers.delete(id);
  const set = FieldSet.unionOf(bucket === undefined ? sets : [bucket.set, ...sets]);
  managers.set(managerId(key), { ...key, time, set, entry: undefined });
}
