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

/** Condition of a workspace under deletion: whether its content is gone. */
export const CONTENT_DELETED = "WorkspaceContentDeleted";

/** Deletes the logical cluster of a workspace under deletion, and releases the workspace when that is gone. */
export const deletionStep: Step = async (workspace, tools) => {
  const { shard } = tools;
  const { deletionTimestamp, finalizers = [] } = workspace.metadata;
  // Other finalizers come first: their owners may need the content.
  if (deletionTimestamp === undefined || finalizers.some((each) => each !== LOGICAL_CLUSTER_FINALIZER)) return GO_ON;
  if (!finalizers.includes(LOGICAL_CLUSTER_FINALIZER)) return GO_ON;
  // In any phase: the logical cluster may exist although the status does not show it.
  const cluster = chosenCluster(workspace);
  if (cluster === undefined) return release(workspace);
  const there = shardWith(workspace, shard, cluster);
  // Unknown here. Shards that join cause an event.
  if (there === undefined) return waiting(workspace, tools);
  const collection = there.objects.of(LogicalCluster);
  const key = logicalClusterKey(cluster);
  // Reads the store: the cache may lack a new logical cluster, which would be left behind.
  const found = await read(collection, key);
  // Security: users can write any name into the annotation, so only an owned logical cluster is deleted.
  if (found === undefined || !isOwnedBy(found, workspace)) return release(workspace);
  if (found.metadata.deletionTimestamp === undefined) await remove(collection, key, found.metadata.uid);
  return GO_ON;
};

/**
 * Keeps the workspace while its Shard is missing, since a Shard removed by force may return with its content. kcp does too,
 * but without a condition.
 */
async function waiting(workspace: Workspace, { shard, now }: WorkspaceTools): Promise<AfterStep> {
  const { metadata, status = {} } = workspace;
  const name = metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION];
  if (!name || !(await areShardsKnown(shard.registry)) || shardOf(shard.registry, name) !== undefined) return GO_ON;
  const message = `chosen shard ${JSON.stringify(name)} does not exist anymore, and with it what is in the workspace: create the Shard again, or remove the finalizer ${LOGICAL_CLUSTER_FINALIZER} to give up the content`;
  const condition = { type: CONTENT_DELETED, reason: "ShardNotFound", severity: "Error", message } as const;
  workspace.status = { ...status, conditions: markFalse(status.conditions, condition, now()) };
  return GO_ON;
}

/** Returns the shard that has, or would have, the logical cluster of a workspace. */
export function shardWith(workspace: Workspace, own: ShardContext, cluster: string): ShardPeer | undefined {
  const name = workspace.metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION];
  return name ? own.registry.shard(name) : own.registry.shardWith(cluster);
}

function release({ metadata }: Workspace): AfterStep {
  metadata.finalizers = (metadata.finalizers ?? []).filter((each) => each !== LOGICAL_CLUSTER_FINALIZER);
  return STOP;
}
