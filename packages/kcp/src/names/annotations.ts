/** Canonical path of an object's logical cluster (kcp's `core.LogicalClusterPathAnnotationKey`). */
export const PATH_ANNOTATION = "kcp.io/path";

/** In the cache server: shard that an object comes from (kcp's `shard.AnnotationKey`). */
export const SHARD_ANNOTATION = "kcp.io/shard";

/** In metadata-only responses for all logical clusters: API version in which the object is served. */
export const ORIGINAL_API_VERSION_ANNOTATION = "kcp.io/original-api-version";

/** On a copy in the cache server: UID of the original. */
export const ORIGINAL_UID_ANNOTATION = "cache.kcp.io/original-resource-UID";

/** On a copy in the cache server: resourceVersion of the original. */
export const ORIGINAL_RESOURCE_VERSION_ANNOTATION = "cache.kcp.io/original-resource-version";

/** On a ClusterCachedResource: kind of its objects (kcp's `AnnotationResourceKind`). */
export const CACHED_KIND_ANNOTATION = "cache.kcp.io/resource-kind";

/** On a ClusterCachedResource: scope of its objects, `Cluster` or `Namespaced` (kcp's `AnnotationResourceScope`). */
export const CACHED_SCOPE_ANNOTATION = "cache.kcp.io/resource-scope";

/** API groups that need an RBAC object or logical cluster replicated, sorted, comma-separated (`core.ReplicateAnnotationKey`). */
export const REPLICATE_ANNOTATION = "internal.kcp.io/replicate";

/** On a LogicalCluster: migration that moves it to another shard. */
export const MIGRATING_ANNOTATION = "internal.kcp.io/migrating";

/** On Workspace and LogicalCluster: name of their shard (`LogicalClusterShardAnnotationKey`). */
export const LOGICAL_CLUSTER_SHARD_ANNOTATION = "core.kcp.io/shard";

/** On a LogicalCluster: `"true"` closes it for every user (`LogicalClusterInactiveAnnotationKey`). */
export const INACTIVE_ANNOTATION = "core.kcp.io/inactive";

/** Earlier name of {@link INACTIVE_ANNOTATION}, which kcp still reads. */
export const LEGACY_INACTIVE_ANNOTATION = "internal.kcp.io/inactive";

/** On a LogicalCluster: maximum number of objects; 0 or less means no limit (`LogicalClusterMaxTotalObjectsAnnotationKey`). */
export const MAX_TOTAL_OBJECTS_ANNOTATION = "core.kcp.io/max-total-objects";

/** On a Shard, with any value: it gets no new workspaces. */
export const UNSCHEDULABLE_ANNOTATION = "experimental.core.kcp.io/unschedulable";

/** On a LogicalCluster: type of its workspace, `root:universal` (`LogicalClusterTypeAnnotationKey`). */
export const WORKSPACE_TYPE_ANNOTATION = "internal.tenancy.kcp.io/type";

/** On a Workspace: future name of its logical cluster. */
export const WORKSPACE_CLUSTER_ANNOTATION = "internal.tenancy.kcp.io/cluster";

/** On a Workspace: hash of its shard's name, see `shardHash`. kcp deprecates it but still maintains it. */
export const WORKSPACE_SHARD_HASH_ANNOTATION = "internal.tenancy.kcp.io/shard";

/** On Workspace and LogicalCluster: its creator, a UserInfo in JSON (`ExperimentalWorkspaceOwnerAnnotationKey`). */
export const OWNER_ANNOTATION = "experimental.tenancy.kcp.io/owner";

/** Predecessor of `spec.mount`: the mount in JSON. No longer read (`ExperimentalWorkspaceMountAnnotationKey`). */
export const LEGACY_MOUNT_ANNOTATION = "experimental.tenancy.kcp.io/mount";

/** On an object that Workspaces mount: `"true"`, as kcp's documentation says. kcp itself does not read it. */
export const IS_MOUNT_ANNOTATION = "experimental.tenancy.kcp.io/is-mount";

/** On a WorkspaceType: later treatment of its default bindings (`ExperimentalDefaultAPIBindingLifecycleAnnotationKey`). */
export const DEFAULT_BINDING_LIFECYCLE_ANNOTATION = "experimental.tenancy.kcp.io/default-api-binding-lifecycle";

/** On Workspace and LogicalCluster: groups required for access, `;` between sets, `,` within one (`RequiredGroupsAnnotationKey`). */
export const REQUIRED_GROUPS_ANNOTATION = "authorization.kcp.io/required-groups";

/** On a LogicalCluster: binding or CRD of each group and resource, in JSON (`ResourceBindingsAnnotationKey`). */
export const RESOURCE_BINDINGS_ANNOTATION = "internal.apis.kcp.io/resource-bindings";

/** On an APIExport, with any value: it gets no endpoint slice (`APIExportEndpointSliceSkipAnnotation`). */
export const SKIP_ENDPOINT_SLICE_ANNOTATION = "apiexports.apis.kcp.io/skip-endpointslice";

/** Prefix of APIExport annotations that the server copies to its bindings (`AnnotationAPIExportExtraKeyPrefix`). */
export const EXPORT_EXTRA_ANNOTATION_PREFIX = "extra.apis.kcp.io/";

/** Prefix of annotations with settings that another version of apis.kcp.io cannot express. */
export const V1ALPHA2_ANNOTATION_PREFIX = "apis.v1alpha2.kcp.io/";

/** Prefix of annotations with data that a conversion of bound objects must preserve (`VersionPreservationAnnotationKeyPrefix`). */
export const VERSION_PRESERVATION_ANNOTATION_PREFIX = "preserve.conversion.apis.kcp.io/";

/** On the CRD of a bound schema (`AnnotationBoundCRDKey`). */
export const BOUND_CRD_ANNOTATION = "apis.kcp.io/bound-crd";

/** On a bound CRD: `path-segment` allows any object name that fits in a URL path (`KcpValidateNameAnnotationKey`). */
export const VALIDATE_NAME_ANNOTATION = "internal.kcp.io/validate-name";

/** On a bound CRD: logical cluster of its APIResourceSchema (`AnnotationSchemaClusterKey`). */
export const SCHEMA_CLUSTER_ANNOTATION = "apis.kcp.io/schema-cluster";

/** On a bound CRD: name of its APIResourceSchema (`AnnotationSchemaNameKey`). */
export const SCHEMA_NAME_ANNOTATION = "apis.kcp.io/schema-name";

/** On a bound CRD, in memory only: identity hash of the export (`AnnotationAPIIdentityKey`). */
export const API_IDENTITY_ANNOTATION = "apis.kcp.io/identity";

/** On a bound CRD, in memory only: storage of its objects (`AnnotationSchemaStorageKey`). */
export const SCHEMA_STORAGE_ANNOTATION = "apis.kcp.io/schema-storage";

/** In audit events: logical cluster of a request, under a name that kcp keeps for older readers. */
export const AUDIT_WORKSPACE_ANNOTATION = "tenancy.kcp.io/workspace";

/** On the owner of a LogicalCluster, usually a Workspace, which is deleted after it (kcp's `LogicalClusterFinalizerName`). */
export const LOGICAL_CLUSTER_FINALIZER = "core.kcp.io/logicalcluster";

/** On a LogicalCluster: its content must be deleted first (`LogicalClusterDeletionFinalizer`). */
export const LOGICAL_CLUSTER_DELETION_FINALIZER = "core.kcp.io/logicalcluster-deletion";

/** On a LogicalCluster with terminators (`LogicalClusterHasTerminatorFinalizer`). */
export const TERMINATORS_FINALIZER = "kcp.io/has-terminators";

/** On a ClusterCachedResource: its copies must be deleted first (`ClusterCachedResourceFinalizer`). */
export const CACHED_RESOURCE_FINALIZER = "cache.kcp.io/clustercachedresource";

/** On an APIBinding: its bound objects must be deleted first (`APIBindingFinalizer`). */
export const API_BINDING_FINALIZER = "apis.kcp.io/apibinding-finalizer";
