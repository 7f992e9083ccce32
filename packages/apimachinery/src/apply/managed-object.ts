import { equalJson, isJsonObject, type JsonObject } from "../json/value.ts";
import type { KubeObject, ManagedFieldsEntry } from "../meta/types.ts";
import { applyFailure } from "./apply-error.ts";
import { isManagedFields, isReset, type Managers, readManagers, writeManagers } from "./managed-fields.ts";

/** Returns `metadata.managedFields`, unchecked. */
export function managedFieldsOf(object: JsonObject): unknown {
  return metadataOf(object)["managedFields"];
}

/** Returns the metadata of an object; empty if it is malformed. */
export function metadataOf(object: JsonObject): JsonObject {
  const metadata = object["metadata"];
  return isJsonObject(metadata) ? metadata : {};
}

/** Returns the object with these managers. Shares equal entries with `live`. */
export function withManagers(object: JsonObject, managers: Managers, live: JsonObject): KubeObject {
  const entries = writeManagers(managers);
  const before = managedFieldsOf(live);
  const isSame =
    Array.isArray(before) && before.length === entries?.length && entries.every((entry, at) => entry === before[at]);
  return withManagedFields(object, isSame ? before : entries);
}

/** Returns the object with these `managedFields`, or without any; the object itself if nothing changes. */
export function withManagedFields(object: JsonObject, entries: readonly ManagedFieldsEntry[] | undefined): KubeObject {
  const metadata = metadataOf(object);
  if (metadata["managedFields"] === entries) return object as KubeObject;
  const { managedFields: _, ...rest } = metadata;
  const managed = entries === undefined ? rest : { ...rest, managedFields: entries };
  return { ...object, metadata: managed } as JsonObject as KubeObject;
}

/**
 * Returns the managers of a stored object.
 *
 * @throws ApiError 500 if they are malformed
 */
export function storedManagers(live: JsonObject): Managers {
  try {
    return readManagers(managedFieldsOf(live), { isOwn: true });
  } catch (error) {
    throw applyFailure(
      `failed to decode managed fields: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

/**
 * Returns the managers at the start of an update: those that the client sends, if they are readable, else those of the live
 * object. A subresource cannot change them.
 */
export function managersForUpdate(live: JsonObject, next: JsonObject, subresource: string): Managers {
  const before = managedFieldsOf(live);
  const given = managedFieldsOf(next);
  if (subresource !== "" || given === undefined) return readable(before, true);
  if (isReset(given)) return NONE;
  // Most clients send back what they have read.
  const managers = equalJson(before, given) ? NONE : readable(given, false);
  return managers.size > 0 ? managers : readable(before, true);
}

const NONE: Managers = new Map();

function readable(managedFields: unknown, isOwn: boolean): Managers {
  try {
    return readManagers(managedFields, { isOwn });
  } catch (error) {
    if (error instanceof SyntaxError) return NONE;
    throw error;
  }
}

/**
 * Returns `next` with the times of managedFields from `live` if the two differ only in these times; else `next`. Defaults and
 * resets after an apply may undo all of its changes, and then it must not count as a write.
 */
export function keepManagedFieldsTimes(next: KubeObject, live: KubeObject): KubeObject {
  const [entries, before] = [managedFieldsOf(next), managedFieldsOf(live)];
  if (!isManagedFields(entries) || !isManagedFields(before) || entries.length !== before.length) return next;
  const isSame = entries.every((entry, at) => equalJson({ ...entry, time: null }, { ...before[at], time: null }));
  if (!isSame || equalJson(entries, before)) return next;
  const kept = withManagedFields(next, before);
  return equalJson(kept, live) ? kept : next;
}
