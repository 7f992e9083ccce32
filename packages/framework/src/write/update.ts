import { ApiError, type JsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { equalJson, memberOf, setMember } from "@virtual-workspaces/apimachinery/json";
import { groupResourceOf, type ResourceDefinition } from "../definition.ts";
import { scaleFields } from "../resource/scale/scale-fields.ts";

/** Part of an object that a write changes: "" for the object itself, `scale`, `status`, or another one that writes the status. */
export type Part = string;

/** Whether a write of this part changes the status alone. */
export function writesStatus(part: Part): boolean {
  return part !== "" && part !== "scale";
}

/** Restores the fields that a write of this part may not change. */
export function resetOtherParts(next: KubeObject, before: KubeObject, { part, whole, definition }: PartRules): void {
  if (whole === true) return;
  if (writesStatus(part)) keepAllBut(next, before, "status");
  else if (definition.subresources.status) keep(next, before, "status");
}

/** Rules for which fields a write may change. */
export interface PartRules {
  readonly part: Part;
  readonly whole?: boolean | undefined;
  readonly definition: ResourceDefinition;
}

/** Takes only the replicas from a hook's result for a write of the scale; the rest stays as drafted. */
export function withReplicasOf(
  admitted: KubeObject,
  drafted: KubeObject,
  { subresources }: ResourceDefinition,
): KubeObject {
  if (subresources.scale === undefined) return admitted;
  const { wanted } = scaleFields(subresources.scale);
  const replicas = wanted.readInteger(admitted);
  if (replicas !== undefined) wanted.write(drafted, replicas);
  return drafted;
}

function keepAllBut(next: KubeObject, before: KubeObject, part: string): void {
  for (const name of new Set([...Object.keys(next), ...Object.keys(before)])) {
    if (name !== part && name !== "metadata") keep(next, before, name);
  }
  const { managedFields, resourceVersion } = next.metadata;
  next.metadata = { ...before.metadata };
  delete next.metadata.managedFields;
  delete next.metadata.resourceVersion;
  if (managedFields !== undefined) next.metadata.managedFields = managedFields;
  if (resourceVersion !== undefined) next.metadata.resourceVersion = resourceVersion;
}

function keep(next: JsonObject, before: JsonObject, name: string): void {
  const value = memberOf(before, name);
  if (value === undefined) delete next[name];
  else setMember(next, name, value);
}

/**
 * Checks that a replacement names this object and no other of its name.
 *
 * @throws ApiError 409
 */
export function checkUid(
  { metadata }: KubeObject,
  before: KubeObject | undefined,
  definition: ResourceDefinition,
): void {
  const { uid, name = "" } = metadata;
  if (uid === undefined || uid === before?.metadata.uid) return;
  const message =
    before === undefined
      ? `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
      : `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid ?? ""}`;
  throw ApiError.conflict(groupResourceOf(definition), name, message);
}

/**
 * Checks that a change is based on the stored version.
 *
 * @throws ApiError 409 on another version, 422 without one
 */
export function checkVersion({ metadata }: KubeObject, before: KubeObject, definition: ResourceDefinition): void {
  const { resourceVersion = "0", name = "" } = metadata;
  if (resourceVersion === "0" && definition.strategy?.unconditionalUpdate === true) {
    const { resourceVersion: now } = before.metadata;
    if (now !== undefined) metadata.resourceVersion = now;
    return;
  }
  if (resourceVersion === "0") {
    const field = "metadata.resourceVersion";
    const message = "Invalid value: 0: must be specified for an update";
    const kind = { group: definition.group, kind: definition.plural };
    throw ApiError.invalid({ kind, name, causes: [{ reason: "FieldValueInvalid", field, message }] });
  }
  if (resourceVersion !== before.metadata.resourceVersion) throw modified(definition, name);
}

/** Returns Kubernetes' error about an object that has changed since it was read. */
export function modified(definition: ResourceDefinition, name: string): ApiError {
  const message = "the object has been modified; please apply your changes to the latest version and try again";
  return ApiError.conflict(groupResourceOf(definition), name, message);
}

/** Restores what Kubernetes' registry keeps on update, and increments the generation if the desired state changes. */
export function prepareUpdate(next: KubeObject, before: KubeObject, { part, whole, definition }: PartRules): void {
  const { metadata } = next;
  const kept = before.metadata;
  for (const name of ["uid", "deletionGracePeriodSeconds"] as const) {
    if (metadata[name] === undefined && kept[name] !== undefined) Object.assign(metadata, { [name]: kept[name] });
  }
  for (const name of ["creationTimestamp", "deletionTimestamp"] as const) {
    if (kept[name] !== undefined) Object.assign(metadata, { [name]: kept[name] });
  }
  definition.strategy?.prepare?.(next, before, part);
  if (kept.generation === undefined) {
    delete metadata.generation;
    return;
  }
  const wishes = whole === true && definition.subresources.status ? withoutStatus : withoutMetadata;
  const asks = !writesStatus(part) && !equalJson(wishes(next), wishes(before));
  metadata.generation = kept.generation + (asks ? 1 : 0);
}

function withoutMetadata(object: KubeObject): JsonObject {
  const { metadata: _metadata, ...content } = object;
  return content;
}

function withoutStatus(object: KubeObject): JsonObject {
  const { metadata: _metadata, status: _status, ...content } = object;
  return content;
}
