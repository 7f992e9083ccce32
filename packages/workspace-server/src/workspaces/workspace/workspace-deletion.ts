import { LogicalCluster, type Workspace } from "@virtual-workspaces/kcp";
import { markFalse } from "@virtual-workspaces/kcp/conditions";
import { LOGICAL_CLUSTER_FINALIZER, LOGICAL_CLUSTER_SHARD_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { ShardContext } from "../../state/context.ts";
import { read, remove } from "../../state/modify.ts";
import type { ShardPeer } from "../../state/shard-peer.ts";
import { logicalClusterKey } from "../../state/shard-state.ts";
import { chosenCluster } from "../model/phases.ts";
import { areShardsKnown, shardOf } from "../model/shards.ts";
import { isOwnedBy } from "./new-logical-cluster.ts";
import { type AfterStep, GO_ON, STOP, type Step, type WorkspaceTools } from "./step.ts";

/** The condition that says whether what is in a workspace that is being deleted is gone. */
export const CONTENT_DELETED = "WorkspaceContentDeleted";

/** Deletes the logical cluster of a workspace that is being deleted, and lets the workspace go when that is gone. */
export const deletionStep: Step = async (workspace, tools) => {
  const { shard } = tools;
  const { deletionTimestamp, finalizers = [] } = workspace.metadata;
  // Whoever else holds it comes first: they may need what is in it.
  if (deletionTimestamp === undefined || finalizers.some((each) => each !== LOGICAL_CLUSTER_FINALIZER)) return GO_ON;
  if (!finalizers.includes(LOGICAL_CLUSTER_FINALIZER)) return GO_ON;
  // In whatever phase it is: it may have been made, and not been told of.
  const cluster = chosenCluster(workspace);
  if (cluster === undefined) return release(workspace);
  const there = shardWith(workspace, shard, cluster);
  // Nobody here knows whether there is one. Shards that join are told of.
  if (there === undefined) return waiting(workspace, tools);
  const collection = there.objects.of(LogicalCluster);
  const key = logicalClusterKey(cluster);
  // As it stands: one that was made this moment is not known of yet, and would be left behind.
  const found = await read(collection, key);
  // Anybody can write a name into an annotation: of others nothing is deleted.
  if (found === undefined || !isOwnedBy(found, workspace)) return release(workspace);
  if (found.metadata.deletionTimestamp === undefined) await remove(collection, key, found.metadata.uid);
  return GO_ON;
};

/**
 * A Shard that was removed by force may come again, and what is on it with it: so the workspace stays, as in kcp, which says
 * nothing, and here says why.
 */
async function waiting(workspace: Workspace, { shard, now }: WorkspaceTools): Promise<AfterStep> {
  const { metadata, status = {} } = workspace;
  const name = metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION];
  if (!name || !(await areShardsKnown(shard.registry)) || shardOf(shard.registry, name) !== undefined) return GO_ON;
  const message = `chosen shard ${JSON.stringify(name)} does not exist anymore, and with it what is in the workspace: create the Shard again, or give up what is there by removing the finalizer ${LOGICAL_CLUSTER_FINALIZER}`;
  const condition = { type: CONTENT_DELETED, reason: "ShardNotFound", severity: "Error", message } as const;
  workspace.status = { ...status, conditions: markFalse(status.conditions, condition, now()) };
  return GO_ON;
}

/** The shard that has the logical cluster of a workspace, or would have it. */
export function shardWith(workspace: Workspace, own: ShardContext, cluster: string): ShardPeer | undefined {
  const name = workspace.metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION];
  return name ? own.registry.shard(name) : own.registry.shardWith(cluster);
}

function release({ metadata }: Workspace): AfterStep {
  metadata.finalizers = (metadata.finalizers ?? []).filter((each) => each !== LOGICAL_CLUSTER_FINALIZER);
  return STOP;
}
