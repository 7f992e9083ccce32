/**
 * kcp's vocabulary, and what works by it.
 *
 * Pure, without I/O and timers: names, users, conditions, kinds, the rules of `apis.kcp.io`, targets of mounts, and the {@link PathIndex}.
 *
 * What runs, has to be ended and reports errors: informers ({@link ExportedObjects}, {@link Related}, {@link ShardLocation}, and
 * {@link tenancyIdentity}, which retries), controllers ({@link publishURLs}, {@link lifecycleController}), and
 * {@link WorkspaceAuthentication}, which fetches the keys of issuers.
 *
 * @module
 */

// What kcp calls things, and the names, labels and hashes that it computes.

export {
  API_BINDING_FINALIZER,
  API_IDENTITY_ANNOTATION,
  AUDIT_WORKSPACE_ANNOTATION,
  BOUND_CRD_ANNOTATION,
  DEFAULT_BINDING_LIFECYCLE_ANNOTATION,
  EXPORT_EXTRA_ANNOTATION_PREFIX,
  INACTIVE_ANNOTATION,
  IS_MOUNT_ANNOTATION,
  LEGACY_INACTIVE_ANNOTATION,
  LEGACY_MOUNT_ANNOTATION,
  LOGICAL_CLUSTER_DELETION_FINALIZER,
  LOGICAL_CLUSTER_FINALIZER,
  LOGICAL_CLUSTER_SHARD_ANNOTATION,
  MAX_TOTAL_OBJECTS_ANNOTATION,
  MIGRATING_ANNOTATION,
  ORIGINAL_API_VERSION_ANNOTATION,
  ORIGINAL_RESOURCE_VERSION_ANNOTATION,
  ORIGINAL_UID_ANNOTATION,
  OWNER_ANNOTATION,
  PATH_ANNOTATION,
  REPLICATE_ANNOTATION,
  REQUIRED_GROUPS_ANNOTATION,
  RESOURCE_BINDINGS_ANNOTATION,
  SCHEMA_CLUSTER_ANNOTATION,
  SCHEMA_NAME_ANNOTATION,
  SCHEMA_STORAGE_ANNOTATION,
  SHARD_ANNOTATION,
  SKIP_ENDPOINT_SLICE_ANNOTATION,
  TERMINATORS_FINALIZER,
  UNSCHEDULABLE_ANNOTATION,
  V1ALPHA2_ANNOTATION_PREFIX,
  VALIDATE_NAME_ANNOTATION,
  VERSION_PRESERVATION_ANNOTATION_PREFIX,
  WORKSPACE_CLUSTER_ANNOTATION,
  WORKSPACE_SHARD_HASH_ANNOTATION,
  WORKSPACE_TYPE_ANNOTATION,
} from "./names/annotations.ts";
export { base36, base62, identityHash, newIdentityKey, shardHash } from "./names/hashes.ts";
export {
  BINDING_EXPORT_LABEL,
  CLAIM_LABEL_PREFIX,
  type ClaimedResource,
  claimHash,
  claimLabel,
  type ExportReference,
  exportHash,
  INITIALIZER_LABEL_PREFIX,
  initializerLabel,
  type Label,
  lifecycleLabel,
  PHASE_LABEL,
  REGION_LABEL,
  reflexiveLabel,
  SHARD_NAME_LABEL,
  TERMINATOR_LABEL_PREFIX,
  terminatorLabel,
} from "./names/labels.ts";
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

// Users of kcp: well-known groups, warrants, and who counts as whom elsewhere.

export { confinedUser, prefixedUser } from "./users/identities.ts";
export {
  AUTHENTICATED_GROUP,
  BINDING_SUBJECT_PREFIX,
  BOOTSTRAPPER_GROUP,
  BOOTSTRAPPER_USER,
  CLUSTER_GROUP_PREFIX,
  CLUSTER_NAME_EXTRA,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  GLOBAL_SERVICE_ACCOUNT_PREFIX,
  INITIALIZER_GROUP_PREFIX,
  KCP_ADMIN_GROUP,
  LEGACY_REVIEWED_CLUSTER_EXTRA,
  LOGICAL_CLUSTER_ADMIN_GROUP,
  MASTERS_GROUP,
  METRICS_READER_ROLE,
  REVIEWED_CLUSTER_EXTRA,
  SCOPES_EXTRA,
  SERVICE_ACCOUNT_PREFIX,
  TERMINATOR_GROUP_PREFIX,
  WARRANT_EXTRA,
  WORKSPACE_ACCESS_GROUP,
} from "./users/users.ts";
export {
  contentWarrant,
  extraOf,
  formatWarrant,
  isServiceAccount,
  parseWarrant,
  warrantsOf,
  withWarrant,
} from "./users/warrants.ts";

// Conditions.

export {
  CONDITIONS,
  type Condition,
  type ConditionSeverity,
  type ConditionState,
  deleteCondition,
  type FalseCondition,
  getCondition,
  isConditionFalse,
  isConditionTrue,
  isConditionUnknown,
  markFalse,
  markTrue,
  markUnknown,
  READY_CONDITION,
  type SummaryOptions,
  setCondition,
  setSummary,
  type UnknownCondition,
} from "./conditions.ts";

// Kinds, their schemas and their types.

export { APIBinding, APIBindingV1alpha1 } from "./kinds/api-binding.ts";
export { APIConversion } from "./kinds/api-conversion.ts";
export { APIExport, APIExportV1alpha1 } from "./kinds/api-export.ts";
export { APIExportEndpointSlice } from "./kinds/api-export-endpoint-slice.ts";
export { APIResourceSchema } from "./kinds/api-resource-schema.ts";
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

// Exports: permission claims, versions, validation, schemas, manifests.

export { type ClaimableKind, claimableKinds, isClaimable, isReview } from "./apis/claimable-kinds.ts";
export {
  type ClaimedVerbs,
  type ClaimReference,
  type ClaimSelector,
  claimKey,
  claimLabelSelector,
  claimMatches,
  claimSelectorProblems,
  formatClaim,
  grantedVerbs,
  normalizedGroupResource,
  sameClaim,
  verbIsGranted,
} from "./apis/claims.ts";
export {
  apiBindingToV1alpha1,
  apiBindingToV1alpha2,
  apiExportToV1alpha1,
  apiExportToV1alpha2,
  olderApiBindings,
  olderApiExports,
} from "./apis/conversion.ts";
export { NEWER_ANNOTATIONS, OLDER_ANNOTATIONS } from "./apis/conversion-annotations.ts";
export {
  apiResourceSchemaOf,
  boundCrdOf,
  type CustomResourceConversion,
  type CustomResourceDefinitionLike,
  type CustomResourceVersion,
  definitionOf,
} from "./apis/custom-resource-definitions.ts";
export {
  crdManifest,
  type ExportManifestsOptions,
  exportManifests,
  type Manifests,
  schemaManifest,
} from "./apis/manifests.ts";
export {
  apiResourceSchemaProblems,
  apiResourceSchemaUpdateProblems,
  type ResourceNames,
} from "./apis/schema-validation.ts";
export type { SchemaRules } from "./apis/schema-version-validation.ts";
export { type ServedVersion, servedVersions } from "./apis/served-versions.ts";
export { apiBindingProblems, apiExportProblems } from "./apis/validation.ts";

// Targets of mounts and of ClusterProxies, and the Secrets that they name.

export { SecretFault, type SecretKubeconfig, secretKubeconfig } from "./targets/kubeconfig.ts";
export {
  KINDS_THAT_NAME_SECRETS,
  type NamedSecret,
  type NamesSecrets,
  namedSecrets,
} from "./targets/named-secrets.ts";
export {
  type SecretContent,
  type SecretPlace,
  type SecretProblem,
  secretAt,
  secretContent,
} from "./targets/secret-content.ts";
export {
  type MountType,
  mountNotReady,
  mountTypes,
  type NoTarget,
  type ProxyTarget,
  type RedirectTarget,
  type RelatedObject,
  type RelatedObjects,
  type RelatedReference,
  type RequestCredential,
  requestCredential,
  type Target,
  type TargetCredential,
  type WorkspaceTarget,
} from "./targets/target.ts";

// Which logical cluster a workspace path leads to.

export { PathIndex } from "./path-index/path-index.ts";
export {
  type FoundCluster,
  type FoundMount,
  type FoundWorkspace,
  type IndexedLogicalCluster,
  type IndexedShard,
  type IndexedWorkspace,
  indexedLogicalCluster,
  indexedWorkspace,
  type Lookup,
  type UnavailableWorkspace,
  type UnreachableWorkspace,
  type WorkspaceKey,
} from "./path-index/types.ts";

// What follows objects.

export {
  ExportedObjects,
  type ExportedObjectsOptions,
  exportedKey,
  tenancyIdentity,
} from "./informers/exported-objects.ts";
export { Related, type RelatedOptions } from "./informers/related-objects.ts";
export { type ServedUrls, ShardLocation, type ShardLocationOptions } from "./informers/shard-location.ts";

// What writes objects.

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

// Who may log in to workspaces of a type.

export {
  type AuthenticatingType,
  authenticatingType,
  type ObjectInCluster,
  type WorkspaceAuthenticators,
  workspaceAuthenticators,
} from "./authentication/configurations.ts";
export { WorkspaceAuthentication } from "./authentication/workspace-authentication.ts";
