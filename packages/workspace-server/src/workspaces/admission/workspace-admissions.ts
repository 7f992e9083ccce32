import type { Admit } from "@virtual-workspaces/framework";
import { LogicalCluster, Shard, Workspace, WorkspaceType } from "@virtual-workspaces/kcp";
import type { AdmissionContext } from "./admission-context.ts";
import { admitLogicalCluster } from "./admit-logical-cluster.ts";
import { admitShard } from "./admit-shard.ts";
import { admitWorkspace } from "./admit-workspace.ts";
import { admitWorkspaceType } from "./admit-workspace-type.ts";

/** The rules about the kinds that workspaces are made of, by plural. */
export function workspaceAdmissions(context: AdmissionContext): ReadonlyMap<string, Admit> {
  return new Map<string, unknown>([
    [Workspace.plural, admitWorkspace(context)],
    [WorkspaceType.plural, admitWorkspaceType(context)],
    [LogicalCluster.plural, admitLogicalCluster()],
    [Shard.plural, admitShard(context.shard.installation)],
  ]) as ReadonlyMap<string, Admit>;
}
