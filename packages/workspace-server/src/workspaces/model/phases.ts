import type { LogicalCluster, LogicalClusterPhase } from "@virtual-workspaces/kcp";

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
