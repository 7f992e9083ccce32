/** Workspace, WorkspaceType, WorkspaceAuthenticationConfiguration. */
export const TENANCY_GROUP = "tenancy.kcp.io";

/** LogicalCluster, Shard. */
export const CORE_GROUP = "core.kcp.io";

/** Partition, PartitionSet. */
export const TOPOLOGY_GROUP = "topology.kcp.io";

/** APIResourceSchema, APIExport, APIBinding, APIExportEndpointSlice, APIConversion. */
export const APIS_GROUP = "apis.kcp.io";

/** ClusterCachedResource and its endpoint slices. */
export const CACHE_GROUP = "cache.kcp.io";

/** LogicalClusterMigration. */
export const MIGRATION_GROUP = "migration.kcp.io";
