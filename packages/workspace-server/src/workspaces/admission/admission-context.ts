import { ApiError } from "@virtual-workspaces/apimachinery";
import type { AdmitRequest } from "@virtual-workspaces/framework";
import { CORE_GROUP, LOGICAL_CLUSTER_NAME, type LogicalCluster } from "@virtual-workspaces/kcp";
import { WORKSPACE_TYPE_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import type { IsAllowed } from "../../authz/access.ts";
import type { ShardContext } from "../../state/context.ts";
import type { ShardState } from "../../state/shard-state.ts";
import { split } from "../model/workspace-types.ts";

/** What the rules about writes know. */
export interface AdmissionContext {
  readonly shard: Pick<ShardContext, "state" | "registry" | "kinds">;
  /** Asked about types that are used, exports that are bound and objects that workspaces are mounted by. */
  readonly isAllowed: IsAllowed;
}

/** The 403 of a rule. */
export function refused({ definition, object, oldObject }: AdmitRequest, message: string): ApiError {
  const name = (object ?? oldObject)?.metadata.name;
  return ApiError.forbidden({ resource: { group: definition.group, resource: definition.plural }, name, message });
}

/** Whether whoever writes is the server's own administrator, whom kcp's rules leave alone. */
export function isPrivileged({ user }: Pick<AdmitRequest, "user">): boolean {
  return user.in(MASTERS_GROUP);
}

/** The name of the logical cluster that is written to. */
export function writtenCluster({ params }: Pick<AdmitRequest, "params">): string {
  return params["cluster"] ?? "";
}

/** What kcp says of a logical cluster that is not there. */
export const NO_LOGICAL_CLUSTER: string = ApiError.notFound(
  { group: CORE_GROUP, resource: "logicalclusters" },
  LOGICAL_CLUSTER_NAME,
).message;

/** The type of a logical cluster, as `<path>:<name>`. @throws ApiError 403 when it does not say */
export function typeNameOf(cluster: LogicalCluster, request: AdmitRequest): string {
  const type = cluster.metadata.annotations?.[WORKSPACE_TYPE_ANNOTATION];
  const subject = `annotation ${WORKSPACE_TYPE_ANNOTATION} on LogicalCluster`;
  if (type === undefined) throw refused(request, `${subject} must be set`);
  if (split(type).parent === "") throw refused(request, `${subject} must be in the form of cluster:name`);
  return type;
}

/** Refuses while it is not known yet what there is. */
type CheckReady = (request: AdmitRequest) => void;

/** Of a shard's workspaces and types. */
export function readiness({ logicalClusters, workspaceTypes }: ShardState): CheckReady {
  let isReady = false;
  const synced = Promise.all([logicalClusters.synced, workspaceTypes.synced]);
  const ready = (): void => {
    isReady = true;
  };
  // A shard that does not start is told of by whoever started it.
  synced.then(ready, () => undefined);
  return (request) => {
    if (!isReady) throw refused(request, "not yet ready to handle request");
  };
}
