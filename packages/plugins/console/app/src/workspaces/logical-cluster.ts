import { logicalClustersPath } from "../api/base.ts";
import { liveObject } from "../api/live-list.ts";
import type { Condition, KubernetesObject } from "../api/types.ts";

/** LogicalCluster of kcp: the workspace as it sees itself. */
export interface LogicalCluster extends KubernetesObject {
  readonly status?: { readonly phase?: string; readonly URL?: string; readonly conditions?: readonly Condition[] };
}

/** The LogicalCluster of a workspace, live. */
export const logicalCluster = (workspace: string) =>
  liveObject<LogicalCluster>(logicalClustersPath(workspace), "cluster");
