import { clusterOf, type LogicalCluster, type LogicalClusterPhase, Workspace } from "@virtual-workspaces/kcp";
import { WORKSPACE_CLUSTER_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { read } from "../../state/modify.ts";
import type { ShardRegistry } from "../../state/shard-registry.ts";

/** Where a logical cluster is in its life. */
export function phaseOf({ status }: Pick<LogicalCluster, "status">): LogicalClusterPhase {
  return status?.phase ?? "Scheduling";
}

/** Whether a change is the one with which setting up begins. */
export function beginsInitializing(object: LogicalCluster, before: LogicalCluster): boolean {
  return phaseOf(object) === "Initializing" && phaseOf(before) !== "Initializing";
}

/** The same with those in its status who have to set it up and to clean it up: it waits for them from now on. */
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

/** Whether nothing but its being made has been done to it. */
export function isNew(cluster: LogicalCluster): boolean {
  return phaseOf(cluster) === "Scheduling" && cluster.metadata.deletionTimestamp === undefined;
}

/** Begins setting up what was only made, with those who have to; what is further on stays. */
export function begun(cluster: LogicalCluster): LogicalCluster {
  if (!isNew(cluster)) return cluster;
  const { status, ...rest } = withHolders(cluster);
  return { ...rest, status: { ...status, phase: "Initializing" } };
}

/** The name of the logical cluster that was chosen for a workspace, whether or not that is made. */
export function chosenCluster({ spec, metadata }: Workspace): string | undefined {
  return spec.cluster || metadata.annotations?.[WORKSPACE_CLUSTER_ANNOTATION];
}

/** What became of the workspace that a logical cluster was made for. */
type MadeFor = "there" | "leaving" | "gone" | "unknown";

/**
 * Whether the workspace that a logical cluster was made for is there, as it is kept now and not as it was last seen. Another process may have let it go
 * while this one was making the logical cluster, and found none to delete: so nothing is begun before this was asked, and what was made for
 * nobody goes. Of what was begun while it was there, whoever deletes it knows.
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
