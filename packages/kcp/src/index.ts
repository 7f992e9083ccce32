/**
 * kcp's own vocabulary: its kinds and their conditions, what it calls things, how it computes names and hashes, where its
 * workspaces are. Pure values: no sockets, no timers, but for {@link publishURLs}, which says where a view is, {@link
 * WorkspaceAuthentication}, which asks issuers of tokens for their keys, and what follows objects that others hang on ({@link ExportedObjects}, {@link Related}).
 *
 * @module
 */

// Who may log in to workspaces of a type
export { confinedUser } from "./authentication/confined-user.ts";
export { authenticatingType, workspaceAuthenticators } from "./authentication/objects.ts";
export type { AuthenticatingType, ObjectInCluster, WorkspaceAuthenticators } from "./authentication/types.ts";
export { WorkspaceAuthentication } from "./authentication/workspace-authentication.ts";
// Conditions
export {
  type Condition,
  type ConditionSeverity,
  type ConditionState,
  type FalseCondition,
  READY_CONDITION,
  type UnknownCondition,
} from "./conditions/condition.ts";
export { getCondition, isConditionFalse, isConditionTrue, isConditionUnknown } from "./conditions/get.ts";
export { CONDITIONS } from "./conditions/schema.ts";
export { deleteCondition, markFalse, markTrue, markUnknown, setCondition } from "./conditions/set.ts";
export { type SummaryOptions, setSummary } from "./conditions/summary.ts";
// Kinds of core.kcp.io
export type { ObjectsOf } from "./core/kind.ts";
export {
  LogicalCluster,
  type LogicalClusterOwner,
  type LogicalClusterPhase,
  type LogicalClusterSpec,
  type LogicalClusterStatus,
} from "./core/logical-cluster.ts";
export { Shard, type ShardSpec, type ShardStatus } from "./core/shard.ts";
// Objects that are followed
export { ExportedObjects, type ExportedObjectsOptions, exportedKey } from "./following/exported-objects.ts";
export { Related, type RelatedOptions } from "./following/related.ts";
export { type ServedUrls, ShardLocation, type ShardLocationOptions } from "./following/shard-location.ts";
// Hashes
export {
  type ClaimedResource,
  claimHash,
  claimLabel,
  type ExportReference,
  exportHash,
  reflexiveLabel,
} from "./hashes/claim-labels.ts";
export { base36, base62 } from "./hashes/digits.ts";
export { identityHash, newIdentityKey } from "./hashes/identity.ts";
export type { Label } from "./hashes/label.ts";
export { initializerLabel, lifecycleLabel, terminatorLabel } from "./hashes/lifecycle-labels.ts";
export { shardHash } from "./hashes/shard-hash.ts";
// Controllers of workspace types
export { LifecycleController, lifecycleController } from "./lifecycle/lifecycle-controller.ts";
export type { LifecycleControllerOptions, WaitingWorkspace, WorkspaceWork } from "./lifecycle/options.ts";
// Manifests
export {
  crdManifest,
  type ExportManifestsOptions,
  exportManifests,
  type Manifests,
  schemaManifest,
} from "./manifests/manifests.ts";
// Mounts
export {
  Mount,
  type MountFilter,
  type MountIdentity,
  type MountPhase,
  type MountSpec,
  type MountStatus,
  mountIdentityOf,
  mountTypeOf,
} from "./mounts/mount.ts";
export { mountNotReady } from "./mounts/not-ready.ts";
export {
  type MountType,
  mountTypes,
  type NoTarget,
  type ProxyTarget,
  type RedirectTarget,
  type RelatedObject,
  type RelatedObjects,
  type RelatedReference,
  type Target,
  type TargetCredential,
  type WorkspaceTarget,
} from "./mounts/target.ts";
// Names
export { type DefaultBinding, defaultBindingName } from "./names/binding-name.ts";
export { homeClusterName, newClusterName } from "./names/cluster-names.ts";
export { clusterOf } from "./names/cluster-of.ts";
export { lifecycleName, type OwningType, parseLifecycleName } from "./names/lifecycle-names.ts";
export { clusterURL, viewURL } from "./names/urls.ts";
// Where workspaces are
export { indexedLogicalCluster, indexedWorkspace } from "./path-index/objects.ts";
export { PathIndex } from "./path-index/path-index.ts";
export type {
  FoundCluster,
  FoundMount,
  FoundWorkspace,
  IndexedLogicalCluster,
  IndexedShard,
  IndexedWorkspace,
  Lookup,
  UnavailableWorkspace,
  UnreachableWorkspace,
  WorkspaceKey,
} from "./path-index/types.ts";
// Remote clusters
export {
  CLUSTER_PROXY_EXPORT,
  ClusterProxy,
  type ClusterProxyAgent,
  type ClusterProxyStatus,
} from "./proxy/cluster-proxy.ts";
// Paths of front proxies
export { ACCEPTED_CONDITION, PathMapping, type PathMappingSpec } from "./proxy/path-mapping.ts";
// URLs that are published
export { appliedURLs } from "./publishing/applied-urls.ts";
export type { PublishedEndpoint, PublishURLsOptions } from "./publishing/options.ts";
export { PublishedURLs, publishURLs } from "./publishing/publish-urls.ts";
export { SecretFault, type SecretKubeconfig, secretKubeconfig } from "./secrets/kubeconfig.ts";
// Secrets
export {
  KINDS_THAT_NAME_SECRETS,
  type NamedSecret,
  type NamesSecrets,
  namedSecrets,
} from "./secrets/named-secrets.ts";
export { type RequestCredential, requestCredential } from "./secrets/request-credential.ts";
export { type SecretPlace, type SecretProblem, secretAt } from "./secrets/secret-at.ts";
export { type SecretContent, secretContent } from "./secrets/secret-content.ts";
// Kinds of tenancy.kcp.io
export { TypeFault, type TypesOf, typesFrom } from "./tenancy/extended-types.ts";
export { MOUNT_READY_CONDITION } from "./tenancy/mount.ts";
export {
  Workspace,
  type WorkspaceMount,
  type WorkspaceSpec,
  type WorkspaceStatus,
  type WorkspaceTypeReference,
} from "./tenancy/workspace.ts";
export {
  WorkspaceAuthenticationConfiguration,
  type WorkspaceAuthenticationConfigurationSpec,
} from "./tenancy/workspace-authentication-configuration.ts";
export {
  WorkspaceType,
  type WorkspaceTypeSelector,
  type WorkspaceTypeSpec,
  type WorkspaceTypeStatus,
} from "./tenancy/workspace-type.ts";
// Kinds of topology.kcp.io
export { Partition, type PartitionSpec } from "./topology/partition.ts";
export { PartitionSet, type PartitionSetSpec, type PartitionSetStatus } from "./topology/partition-set.ts";
// Who asks
export { prefixedUser } from "./users/prefixed-user.ts";
export {
  contentWarrant,
  extraOf,
  formatWarrant,
  isServiceAccount,
  parseWarrant,
  warrantsOf,
  withWarrant,
} from "./users/warrants.ts";
// Well-known
export {
  API_IDENTITY_ANNOTATION,
  AUDIT_WORKSPACE_ANNOTATION,
  BOUND_CRD_ANNOTATION,
  DEFAULT_BINDING_LIFECYCLE_ANNOTATION,
  EXPORT_EXTRA_ANNOTATION_PREFIX,
  INACTIVE_ANNOTATION,
  IS_MOUNT_ANNOTATION,
  LEGACY_INACTIVE_ANNOTATION,
  LEGACY_MOUNT_ANNOTATION,
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
  UNSCHEDULABLE_ANNOTATION,
  V1ALPHA2_ANNOTATION_PREFIX,
  VALIDATE_NAME_ANNOTATION,
  VERSION_PRESERVATION_ANNOTATION_PREFIX,
  WORKSPACE_CLUSTER_ANNOTATION,
  WORKSPACE_SHARD_HASH_ANNOTATION,
  WORKSPACE_TYPE_ANNOTATION,
} from "./well-known/annotations.ts";
export {
  APIS_GROUP,
  CACHE_GROUP,
  CORE_GROUP,
  MIGRATION_GROUP,
  TENANCY_GROUP,
  TOPOLOGY_GROUP,
} from "./well-known/api-groups.ts";
export {
  API_BINDING_FINALIZER,
  LOGICAL_CLUSTER_DELETION_FINALIZER,
  LOGICAL_CLUSTER_FINALIZER,
  TERMINATORS_FINALIZER,
} from "./well-known/finalizers.ts";
export {
  CORE_DISCOVERY_HEADER,
  DEEP_REVIEW_HEADER,
} from "./well-known/headers.ts";
export {
  BINDING_EXPORT_LABEL,
  CLAIM_LABEL_PREFIX,
  INITIALIZER_LABEL_PREFIX,
  PHASE_LABEL,
  REGION_LABEL,
  SHARD_NAME_LABEL,
  TERMINATOR_LABEL_PREFIX,
} from "./well-known/labels.ts";
export {
  API_BINDINGS_INITIALIZER,
  BOUND_CRDS_CLUSTER,
  HOME_PATH_PREFIX,
  IDENTITY_SECRET_KEY,
  IDENTITY_SECRET_NAMESPACE,
  LOGICAL_CLUSTER_NAME,
  RESERVED_WORKSPACE_TYPE_NAMES,
  ROOT_CLUSTER,
  ROOT_SHARD,
  SYSTEM_ADMIN_CLUSTER,
  SYSTEM_CLUSTER,
  SYSTEM_CRDS_CLUSTER,
} from "./well-known/names.ts";
export {
  CLUSTER_NAME_EXTRA,
  LEGACY_REVIEWED_CLUSTER_EXTRA,
  REVIEWED_CLUSTER_EXTRA,
  SCOPES_EXTRA,
  WARRANT_EXTRA,
} from "./well-known/user-extra.ts";
export {
  AUTHENTICATED_GROUP,
  BINDING_SUBJECT_PREFIX,
  BOOTSTRAPPER_GROUP,
  BOOTSTRAPPER_USER,
  CLUSTER_GROUP_PREFIX,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  GLOBAL_SERVICE_ACCOUNT_PREFIX,
  INITIALIZER_GROUP_PREFIX,
  KCP_ADMIN_GROUP,
  LOGICAL_CLUSTER_ADMIN_GROUP,
  MASTERS_GROUP,
  METRICS_READER_ROLE,
  SERVICE_ACCOUNT_PREFIX,
  TERMINATOR_GROUP_PREFIX,
  WORKSPACE_ACCESS_GROUP,
} from "./well-known/users.ts";

// Permission claims.

export {
  type ClaimReference,
  claimKey,
  formatClaim,
  normalizedGroupResource,
  sameClaim,
} from "./apis/claims/claim-key.ts";
export { type ClaimableKind, claimableKinds, isClaimable, isReview } from "./apis/claims/claimable.ts";
export { apiBindingProblems, apiExportProblems } from "./apis/claims/problems.ts";
export {
  type ClaimSelector,
  claimLabelSelector,
  claimMatches,
  claimSelectorProblems,
} from "./apis/claims/selector.ts";
export { type ClaimedVerbs, grantedVerbs, verbIsGranted } from "./apis/claims/verbs.ts";

// Versions of kinds of apis.kcp.io.

export { NEWER_ANNOTATIONS, OLDER_ANNOTATIONS } from "./apis/convert/annotations.ts";
export { apiBindingToV1alpha1, apiBindingToV1alpha2 } from "./apis/convert/api-binding.ts";
export { apiExportToV1alpha1, apiExportToV1alpha2 } from "./apis/convert/api-export.ts";
export { olderApiBindings, olderApiExports } from "./apis/convert/served-in-v1alpha1.ts";

// Kinds of apis.kcp.io.

export { APIBinding, APIBindingV1alpha1 } from "./apis/kinds/api-binding.ts";
export { APIConversion } from "./apis/kinds/api-conversion.ts";
export { APIExport, APIExportV1alpha1 } from "./apis/kinds/api-export.ts";
export { APIExportEndpointSlice } from "./apis/kinds/api-export-endpoint-slice.ts";
export { APIResourceSchema } from "./apis/kinds/api-resource-schema.ts";
export type { Holds } from "./apis/kinds/holds.ts";
export { tenancyIdentity } from "./apis/tenancy-identity.ts";

// What APIResourceSchemas describe.

export {
  apiResourceSchemaProblems,
  apiResourceSchemaUpdateProblems,
} from "./apis/schemas/api-resource-schema-problems.ts";
export { boundCrdOf } from "./apis/schemas/bound-crd.ts";
export type {
  CustomResourceConversion,
  CustomResourceDefinitionLike,
  CustomResourceVersion,
} from "./apis/schemas/custom-resource-definition.ts";
export { apiResourceSchemaOf } from "./apis/schemas/from-crd.ts";
export type { ResourceNames } from "./apis/schemas/names-problems.ts";
export { definitionOf } from "./apis/schemas/of-resource.ts";
export { type ServedVersion, servedVersions } from "./apis/schemas/served-version.ts";
export type { SchemaRules } from "./apis/schemas/version-problems.ts";
