/**
 * kcp's vocabulary, with informers and controllers for it.
 *
 * Pure, without I/O and timers: names, users, conditions, kinds, the rules of `apis.kcp.io`, targets of mounts, and the
 * `PathIndex`.
 *
 * Running parts, which must be disposed and report errors: informers (`ExportedObjects`, `Related`, `ShardLocation`, and
 * `tenancyIdentity`, which retries), controllers ({@link publishURLs}, {@link lifecycleController}), and `WorkspaceAuthentication`,
 * which fetches the keys of issuers.
 *
 * @module
 */

export {
  crdManifest,
  type ExportManifestsOptions,
  exportManifests,
  type Manifests,
  type Permissions,
  schemaManifest,
} from "./apis/manifests.ts";
export {
  LifecycleController,
  type LifecycleControllerOptions,
  lifecycleController,
  type WaitingWorkspace,
  type WorkspaceWork,
} from "./controllers/lifecycle-controller.ts";
export type { PublishedEndpoint, PublishURLsOptions } from "./controllers/publish-options.ts";
export { PublishedURLs, publishURLs } from "./controllers/publish-urls.ts";
export { appliedURLs } from "./controllers/url-lists.ts";
export { APIBinding, APIBindingV1alpha1 } from "./kinds/api-binding.ts";
export { APIConversion } from "./kinds/api-conversion.ts";
export { APIExport, APIExportV1alpha1 } from "./kinds/api-export.ts";
export { APIExportEndpointSlice } from "./kinds/api-export-endpoint-slice.ts";
export { APIResourceSchema } from "./kinds/api-resource-schema.ts";
export { ClusterCachedResource, ClusterCachedResourceEndpointSlice } from "./kinds/cached-resources.ts";
export {
  CLUSTER_PROXY_EXPORT,
  ClusterProxy,
  type ClusterProxyAgent,
  type ClusterProxyStatus,
} from "./kinds/cluster-proxy.ts";
export type { Holds, ObjectsOf } from "./kinds/kind.ts";
export {
  LogicalCluster,
  type LogicalClusterOwner,
  type LogicalClusterPhase,
  type LogicalClusterSpec,
  type LogicalClusterStatus,
} from "./kinds/logical-cluster.ts";
export { LogicalClusterDump, LogicalClusterMigration } from "./kinds/migrations.ts";
export {
  Mount,
  type MountFilter,
  type MountIdentity,
  type MountPhase,
  type MountSpec,
  type MountStatus,
  mountIdentityOf,
  mountTypeOf,
} from "./kinds/mount.ts";
export {
  Partition,
  PartitionSet,
  type PartitionSetSpec,
  type PartitionSetStatus,
  type PartitionSpec,
} from "./kinds/partitions.ts";
export { ACCEPTED_CONDITION, PathMapping, type PathMappingSpec } from "./kinds/path-mapping.ts";
export { Shard, type ShardSpec, type ShardStatus } from "./kinds/shard.ts";
export {
  MOUNT_READY_CONDITION,
  Workspace,
  type WorkspaceMount,
  type WorkspaceSpec,
  type WorkspaceStatus,
  type WorkspaceTypeReference,
} from "./kinds/workspace.ts";
export {
  WorkspaceAuthenticationConfiguration,
  type WorkspaceAuthenticationConfigurationSpec,
} from "./kinds/workspace-authentication-configuration.ts";
export {
  TypeFault,
  type TypesOf,
  typesFrom,
  WorkspaceType,
  type WorkspaceTypeSelector,
  type WorkspaceTypeSpec,
  type WorkspaceTypeStatus,
} from "./kinds/workspace-type.ts";
export {
  API_BINDINGS_INITIALIZER,
  APIS_GROUP,
  BOUND_CRDS_CLUSTER,
  CACHE_GROUP,
  CORE_DISCOVERY_HEADER,
  CORE_GROUP,
  clusterOf,
  clusterURL,
  DEEP_REVIEW_HEADER,
  type DefaultBinding,
  defaultBindingName,
  HOME_PATH_PREFIX,
  homeClusterName,
  IDENTITY_SECRET_KEY,
  IDENTITY_SECRET_NAMESPACE,
  LOGICAL_CLUSTER_NAME,
  lifecycleName,
  MIGRATION_GROUP,
  newClusterName,
  type OwningType,
  parseLifecycleName,
  pathBelow,
  RESERVED_WORKSPACE_TYPE_NAMES,
  ROOT_CLUSTER,
  ROOT_SHARD,
  SYSTEM_ADMIN_CLUSTER,
  SYSTEM_CLUSTER,
  SYSTEM_CRDS_CLUSTER,
  TENANCY_GROUP,
  TOPOLOGY_GROUP,
  viewURL,
} from "./names/names.ts";
