import { ApiError } from "@virtual-workspaces/apimachinery";
import type { AdmitRequest } from "@virtual-workspaces/framework";
import { CORE_GROUP, LOGICAL_CLUSTER_NAME, type LogicalCluster } from "@virtual-workspaces/kcp";
import { WORKSPACE_TYPE_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import type { IsAllowed } from "../../authz/access.ts";
import type { ShardContext } from "../../state/context.ts";
import type { ShardState } from "../../state/shard-state.ts";
import { split } from "../model/workspace-types.ts";

/** Context of the admission rules. */
export interface AdmissionContext {
  readonly shard: Pick<ShardContext, "state" | "registry" | "kinds">;
  /** Authorizes the use of types, binding of exports and reading of mount references. */
  readonly isAllowed: IsAllowed;
}

/** Returns the 403 of a rule. */
export function refused({ definition, object, oldObject }: AdmitRequest, message: string): ApiError {
  const name = (object ?? oldObject)?.metadata.name;
  return ApiError.forbidden({ resource: { group: definition.group, resource: definition.plural }, name, message });
}

/** Whether the caller is an administrator of the server, to whom kcp's rules do not apply. */
export function isPrivileged({ user }: Pick<AdmitRequest, "user">): boolean {
  return user.in(MASTERS_GROUP);
}

/** Returns the name of the request's logical cluster. */
export function writtenCluster({ params }: Pick<AdmitRequest, "params">): string {
  return params["cluster"] ?? "";
}

/** kcp's message for a missing logical cluster. */
export const NO_LOGICAL_CLUSTER: string = ApiError.notFound(
  { group: CORE_GROUP, resource: "logicalclusters" },
  LOGICAL_CLUSTER_NAME,
).message;

/** Returns the type of a logical cluster, as `<path>:<name>`. @throws ApiError 403 without a valid annotation */
export function typeNameOf(cluster: LogicalCluster, request: AdmitRequest): string {
  const type = cluster.metadata.annotations?.[WORKSPACE_TYPE_ANNOTATION];
  const subject = `annotation ${WORKSPACE_TYPE_ANNOTATION} on LogicalCluster`;
  if (type === undefined) throw refused(request, `${subject} must be set`);
  if (split(type).parent === "") throw refused(request, `${subject} must be in the form of cluster:name`);
  return type;
}

/** Rejects a request until the initial objects are known. */
type CheckReady = (request: AdmitRequest) => void;

/** Returns the check for a shard's logical clusters and types. */
export function readiness({ logicalClusters, workspaceTypes }: ShardState): CheckReady {
  let isReady = false;
  const synced = Promise.all([logicalClusters.synced, workspaceTypes.synced]);
  const ready = (): void => {
    isReady = true;
  };
  // The caller of the shard's start receives its error.
  synced.then(ready, () => undefined);
  return (request) => {
    if (!isReady) throw refused(request, "not yet ready to handle request");
  };
}
