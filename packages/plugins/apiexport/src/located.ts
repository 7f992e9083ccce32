import { ApiError, isClusterName, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { User } from "@virtual-workspaces/framework";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp";

/** Names alone: where a path leads, another server may know. @throws ApiError 403, or 404 for who may see everything */
export function located(cluster: string, user: User): string {
  if (cluster === WILDCARD || isClusterName(cluster)) return cluster;
  if (user.in(MASTERS_GROUP)) throw ApiError.notFoundPath();
  const message = "a logical cluster is called by its name here, not by its path";
  throw ApiError.forbidden({ resource: { group: "", resource: "" }, message });
}
