/** The logical cluster that the tree of workspaces begins with (kcp's `core.RootCluster`). */
export const ROOT_CLUSTER = "root";

/** The shard that holds {@link ROOT_CLUSTER} (`corev1alpha1.RootShard`). */
export const ROOT_SHARD = "root";

/** In the place of a logical cluster: what no workspace type stands behind, as in `system:apibindings` (`core.SystemCluster`). */
export const SYSTEM_CLUSTER = "system";

/** The logical cluster where an administrator of a shard works. */
export const SYSTEM_ADMIN_CLUSTER = "system:admin";

/** Where a shard keeps the CRDs of schemas that are bound on it (`SystemBoundCRDsClusterName`). */
export const BOUND_CRDS_CLUSTER = "system:bound-crds";

/** Where a shard keeps the CRDs that all its logical clusters have (`SystemCRDClusterName`). */
export const SYSTEM_CRDS_CLUSTER = "system:system-crds";

/** The name of the one LogicalCluster in a logical cluster (`LogicalClusterName`). */
export const LOGICAL_CLUSTER_NAME = "cluster";

/** The initializer that waits for the default bindings of a workspace type (`WorkspaceAPIBindingsInitializer`). */
export const API_BINDINGS_INITIALIZER = "system:apibindings";

/** The namespace of the secrets that hold exports' identities (`DefaultIdentitySecretNamespace`). */
export const IDENTITY_SECRET_NAMESPACE = "kcp-system";

/** Under which key such a secret holds the identity (`SecretKeyAPIExportIdentity`). */
export const IDENTITY_SECRET_KEY = "key";

/** What no WorkspaceType may be called (`WorkspaceTypeReservedNames`). */
export const RESERVED_WORKSPACE_TYPE_NAMES: readonly string[] = ["any", "system"];

/** Instead of the first names of a path: the home workspace of the user whose name follows, `user:alice:team`. */
export const HOME_PATH_PREFIX = "user";
