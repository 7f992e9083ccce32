import { ApiError } from "@virtual-workspaces/apimachinery";
import { CORE_GROUP, type LogicalCluster } from "@virtual-workspaces/kcp";
import { INACTIVE_ANNOTATION, LEGACY_INACTIVE_ANNOTATION } from "@virtual-workspaces/kcp/names";

/** What a shard says of what another shard has. */
export function elsewhere(): ApiError {
  return ApiError.tooManyRequests("Not found on this shard", 1);
}

/** What is said of what nobody knows while a shard does not run that may have it. */
export function notRunning(): ApiError {
  return ApiError.serviceUnavailable("a shard of this server does not run yet: try again", 1);
}

/** What whoever asks anything of an inactive logical cluster is told. */
export function inactive(cluster: string): ApiError {
  const resource = { group: CORE_GROUP, resource: "logicalclusters" };
  return ApiError.forbidden({ resource, name: cluster, message: "logical cluster is marked inactive" });
}

/** Whether a logical cluster is shut for everybody. */
export function isInactive(cluster: LogicalCluster): boolean {
  const { annotations = {} } = cluster.metadata;
  return annotations[INACTIVE_ANNOTATION] === "true" || annotations[LEGACY_INACTIVE_ANNOTATION] === "true";
}
