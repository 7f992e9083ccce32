import { ApiError, isJsonObject, type KubeObject, normalizeMetadata } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import type { Attributes } from "../webhooks/attributes.ts";

/** Change of an object by a webhook or a policy. */
export interface ObjectChange {
  /** Version of the kind in which the change was made. */
  readonly version: ResourceDefinition;
  readonly before: KubeObject;
  /** Changed object; modified by this call. */
  readonly next: KubeObject;
  /** Name of the webhook or policy, for errors. */
  readonly by: string;
}

/**
 * Returns a changed object in the version of the request, with defaults.
 *
 * @throws ApiError 500 for a change of the identity, since the request was authorized for it
 */
export function changedObject(attributes: Attributes, { version, before, next, by }: ObjectChange): KubeObject {
  if (!isJsonObject(next) || !isJsonObject((next as Record<string, unknown>)["metadata"]))
    throw ApiError.badRequest("the result is not an object with metadata");
  normalizeMetadata(next as never);
  const fixed = changedIdentity(next, attributes.as(before, version) ?? before);
  if (fixed !== undefined) throw ApiError.internalError(`${by} attempted to change ${fixed}, which is not supported`);
  const converted = attributes.as(next, attributes.request.definition) ?? next;
  attributes.keepCluster(converted);
  attributes.request.conform(converted);
  return converted;
}

/** Returns a field that must not change. A generated name may be set. */
function changedIdentity(next: KubeObject, before: KubeObject): string | undefined {
  if (next.apiVersion !== before.apiVersion) return "apiVersion";
  if (next.kind !== before.kind) return "kind";
  const fields = (["name", "namespace", "uid", "resourceVersion"] as const).filter(
    (field) => field !== "name" || before.metadata.name !== undefined,
  );
  const changed = fields.find((field) => next.metadata[field] !== before.metadata[field]);
  return changed && `metadata.${changed}`;
}
