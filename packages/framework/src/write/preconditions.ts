import { ApiError, type DeleteQuery, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";

/** @throws ApiError 409 when an object is not the one, or not as it was, that the client wants deleted */
export function checkPreconditions(
  { metadata }: KubeObject,
  { preconditions }: Pick<DeleteQuery, "preconditions">,
  definition: ResourceDefinition,
): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const { name = "", uid: ownUid = "", resourceVersion: ownVersion = "" } = metadata;
  // Kubernetes names the kind here, not the resource.
  const kind = { group: definition.group, resource: definition.kind };
  if (uid !== undefined && uid !== ownUid) {
    const message = `the UID in the precondition (${uid}) does not match the UID in record (${ownUid}). The object might have been deleted and then recreated`;
    throw ApiError.conflict(kind, name, message);
  }
  if (resourceVersion !== undefined && resourceVersion !== ownVersion) {
    const message = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${ownVersion}). The object might have been modified`;
    throw ApiError.conflict(kind, name, message);
  }
}
