import type { Admit, AdmitRequest } from "@virtual-workspaces/framework";
import {
  BOOTSTRAPPER_GROUP,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  LOGICAL_CLUSTER_ADMIN_GROUP,
  LOGICAL_CLUSTER_DELETION_FINALIZER,
  type LogicalCluster,
  MASTERS_GROUP,
} from "@virtual-workspaces/kcp";
import { beginsInitializing, withHolders } from "../model/phases.ts";
import { isPrivileged, refused } from "./admission-context.ts";
import { checkLogicalClusterUpdate } from "./logical-cluster-update.ts";

/** Who makes and changes logical clusters for others. */
const EXEMPT = [
  MASTERS_GROUP,
  LOGICAL_CLUSTER_ADMIN_GROUP,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  BOOTSTRAPPER_GROUP,
] as const;

/**
 * The rules about LogicalClusters (kcp's plugins `core.kcp.io/LogicalCluster` and
 * `core.kcp.io/LogicalClusterDeletionFinalizer`): users neither make them nor, unless they are said to be
 * `directlyDeletable`, delete them; what decides about their life only goes forward.
 */
export function admitLogicalCluster(): Admit<LogicalCluster> {
  return (request) => {
    const { operation, object, oldObject } = request;
    const about = request as unknown as AdmitRequest;
    const exempt = EXEMPT.some((group) => request.user.in(group));
    if (operation === "DELETE") {
      if (!exempt && oldObject?.spec.directlyDeletable !== true)
        throw refused(about, "LogicalCluster cannot be deleted");
      return undefined;
    }
    if (object === undefined) return undefined;
    request.validate((next) => {
      if (operation === "CREATE" && !exempt) throw refused(about, "LogicalCluster cannot be created");
      if (oldObject === undefined) return;
      checkFinalizer(next, oldObject, about);
      if (!exempt) checkLogicalClusterUpdate({ object: next, oldObject }, about);
    });
    return filledIn(object, oldObject);
  };
}

function filledIn(object: LogicalCluster, before: LogicalCluster | undefined): LogicalCluster {
  const begun = before !== undefined && beginsInitializing(object, before) ? withHolders(object) : object;
  const { finalizers = [], deletionTimestamp } = begun.metadata;
  if (deletionTimestamp !== undefined || finalizers.includes(LOGICAL_CLUSTER_DELETION_FINALIZER)) return begun;
  return { ...begun, metadata: { ...begun.metadata, finalizers: [...finalizers, LOGICAL_CLUSTER_DELETION_FINALIZER] } };
}

function checkFinalizer(object: LogicalCluster, before: LogicalCluster, request: AdmitRequest): void {
  if (before.metadata.deletionTimestamp === undefined || isPrivileged(request)) return;
  const has = ({ metadata }: LogicalCluster): boolean =>
    metadata.finalizers?.includes(LOGICAL_CLUSTER_DELETION_FINALIZER) === true;
  if (has(before) && !has(object))
    throw refused(request, `removing the finalizer ${LOGICAL_CLUSTER_DELETION_FINALIZER} is forbidden`);
}
