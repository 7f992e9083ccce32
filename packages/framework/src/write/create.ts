import { randomUUID } from "node:crypto";
import { formatTime, type KubeObject, type ObjectMeta } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import { generateName } from "./generate-name.ts";

/** Removes what a client may not set on a new object, before anything is made of it. */
export function wipeSystemFields({ metadata }: KubeObject): void {
  for (const field of SYSTEM_FIELDS) if (metadata[field] !== undefined) delete metadata[field];
}

const SYSTEM_FIELDS = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "generation",
] as const satisfies readonly (keyof ObjectMeta)[];

/** Fills in what Kubernetes' registry gives a new object; a status that only `/status` may set goes. */
export function prepareCreate(object: KubeObject, definition: ResourceDefinition, now: Date): void {
  const { metadata } = object;
  wipeSystemFields(object);
  if (metadata.resourceVersion !== undefined) delete metadata.resourceVersion;
  metadata.uid = randomUUID();
  metadata.creationTimestamp = formatTime(now);
  if (definition.strategy?.generation !== false) metadata.generation = 1;
  if (metadata.name === undefined && metadata.generateName !== undefined)
    metadata.name = generateName(metadata.generateName);
  if (definition.subresources.status) delete object["status"];
  definition.strategy?.prepare?.(object, undefined, "");
}
