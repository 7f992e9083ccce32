/** The canonical path of the logical cluster that an object is in (kcp's `core.LogicalClusterPathAnnotationKey`). */
export const PATH_ANNOTATION = "kcp.io/path";

/** In the cache server: the shard that an object comes from (kcp's `shard.AnnotationKey`). */
export const SHARD_ANNOTATION = "kcp.io/shard";

/** In answers of all logical clusters with metadata only: the version that an object has where it is served. */
export const ORIGINAL_API_VERSION_ANNOTATION = "kcp.io/original-api-version";

/** On a copy in the cache server: the uid of what it is a copy of. */
export const ORIGINAL_UID_ANNOTATION = "cache.kcp.io/original-resource-UID";

/** On a copy in the cache server: the resourceVersion of what it is a copy of. */
export const ORIGINAL_RESOURCE_VERSION_ANNOTATION = "cache.kcp.io/original-resource-version";

/** Which API groups want an RBAC object or a logical cluster replicated: a sorted list with commas (`core.ReplicateAnnotationKey`). */
export const REPLICATE_ANNOTATION = "internal.kcp.io/replicate";

/** On a LogicalCluster: the migration that moves it to another shard. */
export const MIGRATING_ANNOTATION = "internal.kcp.io/migrating";

/** On Workspace and LogicalCluster: the name of the shard it was put on (`LogicalClusterShardAnnotationKey`). */
export const LOGICAL_CLUSTER_SHARD_ANNOTATION = "core.kcp.io/shard";

/** On a LogicalCluster: `"true"` shuts it for everybody (`LogicalClusterInactiveAnnotationKey`). */
export const INACTIVE_ANNOTATION = "core.kcp.io/inactive";

/** The name that {@link INACTIVE_ANNOTATION} had before, which kcp still heeds. */
export const LEGACY_INACTIVE_ANNOTATION = "internal.kcp.io/inactive";

/** On a LogicalCluster: how many objects it may hold; 0 and less: as many as there are (`LogicalClusterMaxTotalObjectsAnnotationKey`). */
export const MAX_TOTAL_OBJECTS_ANNOTATION = "core.kcp.io/max-total-objects";

/** On a Shard, with any value: no new workspaces. */
export const UNSCHEDULABLE_ANNOTATION = "experimental.core.kcp.io/unschedulable";

/** On a LogicalCluster: the type of its workspace, `root:universal` (`LogicalClusterTypeAnnotationKey`). */
export const WORKSPACE_TYPE_ANNOTATION = "internal.tenancy.kcp.io/type";

/** On a Workspace: the name that its logical cluster is going to have. */
export const WORKSPACE_CLUSTER_ANNOTATION = "internal.tenancy.kcp.io/cluster";

/** On a Workspace: the hash of the name of its shard, see `shardHash`. Deprecated by kcp, and still kept right. */
export const WORKSPACE_SHARD_HASH_ANNOTATION = "internal.tenancy.kcp.io/shard";

/** On Workspace and LogicalCluster: who made it, a UserInfo in JSON (`ExperimentalWorkspaceOwnerAnnotationKey`). */
export const OWNER_ANNOTATION = "experimental.tenancy.kcp.io/owner";

/** Before `spec.mount`: the mount in JSON. Nothing reads it any more (`ExperimentalWorkspaceMountAnnotationKey`). */
export const LEGACY_MOUNT_ANNOTATION = "experimental.tenancy.kcp.io/mount";

/** On an object that Workspaces are mounted by, `"true"`, as kcp's documents have it. kcp itself does not look (`experimental.tenancy.kcp.io/is-mount`). */
export const IS_MOUNT_ANNOTATION = "experimental.tenancy.kcp.io/is-mount";

/** On a WorkspaceType: what becomes of its default bindings later (`ExperimentalDefaultAPIBindingLifecycleAnnotationKey`). */
export const DEFAULT_BINDING_LIFECYCLE_ANNOTATION = "experimental.tenancy.kcp.io/default-api-binding-lifecycle";

/** On Workspace and LogicalCluster: groups that one must be in to enter: `;` between sets, `,` within one (`RequiredGroupsAnnotationKey`). */
export const REQUIRED_GROUPS_ANNOTATION = "authorization.kcp.io/required-groups";

/** On a LogicalCluster: which binding or CRD holds each group and resource, in JSON (`ResourceBindingsAnnotationKey`). */
export const RESOURCE_BINDINGS_ANNOTATION = "internal.apis.kcp.io/resource-bindings";

/** On an APIExport, with any value: no endpoint slice is made for it (`APIExportEndpointSliceSkipAnnotation`). */
export const SKIP_ENDPOINT_SLICE_ANNOTATION = "apiexports.apis.kcp.io/skip-endpointslice";

/** Annotations of an APIExport that begin so are copied to its bindings (`AnnotationAPIExportExtraKeyPrefix`). */
export const EXPORT_EXTRA_ANNOTATION_PREFIX = "extra.apis.kcp.io/";

/** What one version of apis.kcp.io cannot say of another is kept in annotations that begin so. */
export const V1ALPHA2_ANNOTATION_PREFIX = "apis.v1alpha2.kcp.io/";

/** What a conversion of bound objects must keep is in annotations that begin so (`VersionPreservationAnnotationKeyPrefix`). */
export const VERSION_PRESERVATION_ANNOTATION_PREFIX = "preserve.conversion.apis.kcp.io/";

/** On a CRD that stands for a bound schema (`AnnotationBoundCRDKey`). */
export const BOUND_CRD_ANNOTATION = "apis.kcp.io/bound-crd";

/**
 * On a bound CRD whose objects may have any name that a URL path can hold: `path-segment` (`KcpValidateNameAnnotationKey`).
 */
export const VALIDATE_NAME_ANNOTATION = "internal.kcp.io/validate-name";

/** On a bound CRD: the logical cluster of its APIResourceSchema (`AnnotationSchemaClusterKey`). */
export const SCHEMA_CLUSTER_ANNOTATION = "apis.kcp.io/schema-cluster";

/** On a bound CRD: the name of its APIResourceSchema (`AnnotationSchemaNameKey`). */
export const SCHEMA_NAME_ANNOTATION = "apis.kcp.io/schema-name";

/** On a bound CRD, in memory only: the identity hash of the export (`AnnotationAPIIdentityKey`). */
export const API_IDENTITY_ANNOTATION = "apis.kcp.io/identity";

/** On a bound CRD, in memory only: where its objects are kept (`AnnotationSchemaStorageKey`). */
export const SCHEMA_STORAGE_ANNOTATION = "apis.kcp.io/schema-storage";

/** In audit events: the logical cluster of a request, under a name that kcp keeps for older readers. */
export const AUDIT_WORKSPACE_ANNOTATION = "tenancy.kcp.io/workspace";

/** On what owns a LogicalCluster, usually a Workspace: it goes after its logical cluster (kcp's `LogicalClusterFinalizerName`). */
export const LOGICAL_CLUSTER_FINALIZER = "core.kcp.io/logicalcluster";

/** On a LogicalCluster: what is in it must go first (`LogicalClusterDeletionFinalizer`). */
export const LOGICAL_CLUSTER_DELETION_FINALIZER = "core.kcp.io/logicalcluster-deletion";

/** On a LogicalCluster that has terminators (`LogicalClusterHasTerminatorFinalizer`). */
export const TERMINATORS_FINALIZER = "kcp.io/has-terminators";

/** On an APIBinding: the objects that it brought must go first (`APIBindingFinalizer`). */
export const API_BINDING_FINALIZER = "apis.kcp.io/apibinding-finalizer";
