/** Group with all rights everywhere, which skips kcp's checks (Kubernetes' `SystemPrivilegedGroup`). The front proxy strips it. */
export const MASTERS_GROUP = "system:masters";

/** Group of all authenticated users (Kubernetes' `AllAuthenticated`). */
export const AUTHENTICATED_GROUP = "system:authenticated";

/** Group with all rights in all workspaces, through RBAC (kcp's `SystemKcpAdminGroup`). */
export const KCP_ADMIN_GROUP = "system:kcp:admin";

/** Group that creates the initial content of new workspaces (`SystemKcpWorkspaceBootstrapper`). */
export const BOOTSTRAPPER_GROUP = "system:kcp:tenancy:workspace-bootstrapper";

/** User of {@link BOOTSTRAPPER_GROUP} (kcp's `KcpBootstrapperUserName`). */
export const BOOTSTRAPPER_USER = "system:kcp:bootstrapper";

/** Group of the scheduler, for the time before a logical cluster can authorize it (`SystemLogicalClusterAdmin`). */
export const LOGICAL_CLUSTER_ADMIN_GROUP = "system:kcp:logical-cluster-admin";

/** Group of controllers that access logical clusters of other shards (`SystemExternalLogicalClusterAdmin`). */
export const EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP = "system:kcp:external-logical-cluster-admin";

/** Group of users with access to a workspace, within it (`SystemKcpWorkspaceAccessGroup`). */
export const WORKSPACE_ACCESS_GROUP = "system:kcp:workspace:access";

/** ClusterRole that reads a shard's metrics (`SystemKcpMetricsReader`). */
export const METRICS_READER_ROLE = "system:kcp:metrics-reader";

/**
 * Prefix of an initializer's name, for requests that the view of initializing workspaces has authorized
 * (`SystemKcpInitializerGroupPrefix`). Security: a server that accepts such groups from clients gives them access to initializing
 * workspaces.
 */
export const INITIALIZER_GROUP_PREFIX = "system:kcp:initializer:";

/** Prefix like {@link INITIALIZER_GROUP_PREFIX}, for terminators (`SystemKcpTerminatorGroupPrefix`). */
export const TERMINATOR_GROUP_PREFIX = "system:kcp:terminator:";

/** Prefix of a logical cluster's name: the group of its users in other logical clusters. */
export const CLUSTER_GROUP_PREFIX = "system:cluster:";

/** Prefix of users and groups in a maximal permission policy (`MaximalPermissionPolicyRBACUserGroupPrefix`). */
export const BINDING_SUBJECT_PREFIX = "apis.kcp.io:binding:";

/** Prefix of `<namespace>:<name>`: a service account in its own tokens (Kubernetes' `ServiceAccountUsernamePrefix`). */
export const SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:";

/** Prefix of `<cluster>:<namespace>:<name>`: a service account in other logical clusters. */
export const GLOBAL_SERVICE_ACCOUNT_PREFIX = "system:kcp:serviceaccount:";

/** Comma-separated lists of `cluster:<name>`; a user is in scope where every value names the cluster (kcp's `ScopeExtraKey`). */
export const SCOPES_EXTRA = "authentication.kcp.io/scopes";

/** Logical cluster of a service account, or of a user of one workspace (`ClusterNameKey`). */
export const CLUSTER_NAME_EXTRA = "authentication.kcp.io/cluster-name";

/** Additional identities, in JSON, for authorization only (`WarrantExtraKey`). Security: never accept it from clients. */
export const WARRANT_EXTRA = "authorization.kcp.io/warrant";

/** Logical cluster of a review, for an authorization webhook. */
export const REVIEWED_CLUSTER_EXTRA = "authorization.kcp.io/cluster-name";

/** Earlier name of {@link REVIEWED_CLUSTER_EXTRA}, sent in addition. */
export const LEGACY_REVIEWED_CLUSTER_EXTRA = "authorization.kubernetes.io/cluster-name";
