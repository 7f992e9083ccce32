import { ApiError } from "@virtual-workspaces/apimachinery";
import { CORE_GROUP, type LogicalCluster } from "@virtual-workspaces/kcp";
import { INACTIVE_ANNOTATION, LEGACY_INACTIVE_ANNOTATION } from "@virtual-workspaces/kcp/names";

/** Error of a shard for content of another shard. */
export function elsewhere(): ApiError {
  return ApiError.tooManyRequests("Not found on this shard", 1);
}

/** Error for unknown content while a shard that may have it does not run. */
export function notRunning(): ApiError {
  return ApiError.serviceUnavailable("a shard of this server does not run yet: try again", 1);
}

/** Error for requests to an inactive logical cluster. */
export function inactive(cluster: string): ApiError {
  const resource = { group: CORE_GROUP, resource: "logicalclusters" };
  return ApiError.forbidden({ resource, name: cluster, message: "logical cluster is marked inactive" });
}

/** Whether a logical cluster is closed to all users. */
export function isInactive(cluster: LogicalCluster): boolean {
  const { annotations = {} } = cluster.metadata;
  return annotations[INACTIVE_ANNOTATION] === "true" || annotations[LEGACY_INACTIVE_ANNOTATION] === "true";
}
