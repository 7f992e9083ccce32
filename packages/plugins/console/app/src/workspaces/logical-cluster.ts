import { workspacePath } from "../api/base.ts";
import { liveObject } from "../api/live-list.ts";
import type { Condition, KubernetesObject } from "../api/types.ts";

/** LogicalCluster of kcp: the workspace as it sees itself. */
export interface LogicalCluster extends KubernetesObject {
  readonly status?: { readonly phase?: string; readonly URL?: string; readonly conditions?: readonly Condition[] };
}

/** The LogicalCluster of a workspace, live. */
export const logicalCluster = (workspace: string) =>
  liveObject<LogicalCluster>(`${workspacePath(workspace)}/apis/core.kcp.io/v1alpha1/logicalclusters`, "cluster");
