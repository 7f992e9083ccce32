import { clusterOf, type LogicalCluster, type LogicalClusterPhase, Workspace } from "@virtual-workspaces/kcp";
import { WORKSPACE_CLUSTER_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { read } from "../../state/modify.ts";
import type { ShardRegistry } from "../../state/shard-registry.ts";

/** Returns the phase of a logical cluster. @default Scheduling */
export function phaseOf({ status }: Pick<LogicalCluster, "status">): LogicalClusterPhase {
  return status?.phase ?? "Scheduling";
}

/** Whether a change starts the initialization. */
export function beginsInitializing(object: LogicalCluster, before: LogicalCluster): boolean {
  return phaseOf(object) === "Initializing" && phaseOf(before) !== "Initializing";
}

/** Returns the object with the initializers and terminators of its spec in its status, so that it waits for them. */
export function withHolders(cluster: LogicalCluster): LogicalCluster {
  const { initializers = [], terminators = [] } = cluster.spec;
  const { initializers: _i, terminators: _t, ...status } = cluster.status ?? {};
  return {
    ...cluster,
    status: {
      ...status,
      ...(initializers.length > 0 && { initializers }),
      ...(terminators.length > 0 && { terminators }),
    },
  };
}

/** Whether the logical cluster has been created, and nothing else. */
export function isNew(cluster: LogicalCluster): boolean {
  return phaseOf(cluster) === "Scheduling" && cluster.metadata.deletionTimestamp === undefined;
}

/** Starts the initialization of a new logical cluster, with its initializers; others stay unchanged. */
export function begun(cluster: LogicalCluster): LogicalCluster {
  if (!isNew(cluster)) return cluster;
  const { status, ...rest } = withHolders(cluster);
  return { ...rest, status: { ...status, phase: "Initializing" } };
}

/** Returns the name of the logical cluster chosen for a workspace, whether or not it exists yet. */
export function chosenCluster({ spec, metadata }: Workspace): string | undefined {
  return spec.cluster || metadata.annotations?.[WORKSPACE_CLUSTER_ANNOTATION];
}

/** State of the Workspace that a logical cluster was created for. */
type MadeFor = "there" | "leaving" | "gone" | "unknown";

/**
 * Reads the stored Workspace of a logical cluster. Another process may have released the Workspace while this one created the
 * logical cluster, and found none to delete. Nothing may therefore begin before this check, and an orphan is deleted. Once
 * begun, the deletion of the Workspace finds the logical cluster.
 */
export async function madeFor(cluster: LogicalCluster, registry: ShardRegistry): Promise<MadeFor> {
  const { owner } = cluster.spec;
  if (owner?.resource !== Workspace.plural) return "there";
  const key = { cluster: owner.cluster, namespace: "", name: owner.name };
  for (const { objects } of registry.shards) {
    const found = await read(objects.of(Workspace), key);
    if (found === undefined) continue;
    if (found.metadata.uid !== owner.uid || chosenCluster(found) !== clusterOf(cluster)) return "gone";
    return found.metadata.deletionTimestamp === undefined ? "there" : "leaving";
  }
  return registry.isPart ? "unknown" : "gone";
}
