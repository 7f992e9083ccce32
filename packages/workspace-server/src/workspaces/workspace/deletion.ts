import {
  LOGICAL_CLUSTER_FINALIZER,
  LOGICAL_CLUSTER_SHARD_ANNOTATION,
  LogicalCluster,
  WORKSPACE_CLUSTER_ANNOTATION,
  type Workspace,
} from "@virtual-workspaces/kcp";
import type { ShardContext } from "../../shard/context.ts";
import { read, remove } from "../../shard/modify.ts";
import { logicalClusterKey } from "../../shard/state.ts";
import { isOwnedBy } from "./new-logical-cluster.ts";
import { type AfterStep, GO_ON, STOP, type Step } from "./step.ts";

/** Deletes the logical cluster of a workspace that is being deleted, and lets the workspace go when that is gone. */
export const deletionStep: Step = async (workspace, { shard }) => {
  const { deletionTimestamp, finalizers = [], annotations = {} } = workspace.metadata;
  // Whoever else holds it comes first: they may need what is in it.
  if (deletionTimestamp === undefined || finalizers.some((each) => each !== LOGICAL_CLUSTER_FINALIZER)) return GO_ON;
  if (!finalizers.includes(LOGICAL_CLUSTER_FINALIZER)) return GO_ON;
  // In whatever phase it is: it may have been made, and not been told of.
  const cluster = workspace.spec.cluster || annotations[WORKSPACE_CLUSTER_ANNOTATION];
  if (cluster === undefined) return release(workspace);
  const there = shardWith(workspace, shard, cluster);
  // Nobody here knows whether there is one. Shards that join are told of.
  if (there === undefined) return GO_ON;
  const collection = there.objects.of(LogicalCluster);
  const key = logicalClusterKey(cluster);
  // As it stands: one that was made this moment is not known of yet, and would be left behind.
  const found = await read(collection, key);
  // Anybody can write a name into an annotation: of others nothing is deleted.
  if (found === undefined || !isOwnedBy(found, workspace)) return release(workspace);
  if (found.metadata.deletionTimestamp === undefined) await remove(collection, key, found.metadata.uid);
  return GO_ON;
};

/** The shard that has the logical cluster of a workspace, or would have it. */
export function shardWith(workspace: Workspace, own: ShardContext, cluster: string): ShardContext | undefined {
  const name = workspace.metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION];
  return name ? own.installation.shard(name) : own.installation.shardWith(cluster);
}

function release({ metadata }: Workspace): AfterStep {
  metadata.finalizers = (metadata.finalizers ?? []).filter((each) => each !== LOGICAL_CLUSTER_FINALIZER);
  return STOP;
}
