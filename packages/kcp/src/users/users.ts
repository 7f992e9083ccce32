/** May do everything everywhere, and skips kcp's checks (Kubernetes' `SystemPrivilegedGroup`). The front proxy takes it off. */
export const MASTERS_GROUP = "system:masters";

/** Everybody who has logged in (Kubernetes' `AllAuthenticated`). */
export const AUTHENTICATED_GROUP = "system:authenticated";

/** May do everything in all workspaces, by RBAC (kcp's `SystemKcpAdminGroup`). */
export const KCP_ADMIN_GROUP = "system:kcp:admin";

/** Who makes what new workspaces hold from the start (`SystemKcpWorkspaceBootstrapper`). */
export const BOOTSTRAPPER_GROUP = "system:kcp:tenancy:workspace-bootstrapper";

/** Who is the user of {@link BOOTSTRAPPER_GROUP} (kcp's `KcpBootstrapperUserName`). */
export const BOOTSTRAPPER_USER = "system:kcp:bootstrapper";

/** The scheduler, where there is no logical cluster yet that could authorize it (`SystemLogicalClusterAdmin`). */
export const LOGICAL_CLUSTER_ADMIN_GROUP = "system:kcp:logical-cluster-admin";

/** Controllers that reach logical clusters of other shards (`SystemExternalLogicalClusterAdmin`). */
export const EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP = "system:kcp:external-logical-cluster-admin";

/** Whoever may enter a workspace, within it (`SystemKcpWorkspaceAccessGroup`). */
export const WORKSPACE_ACCESS_GROUP = "system:kcp:workspace:access";

/** The ClusterRole that reads a shard's metrics (`SystemKcpMetricsReader`). */
export const METRICS_READER_ROLE = "system:kcp:metrics-reader";

/**
 * With an initializer's name behind it: a request that the view of initializing workspaces has authorized already
 * (`SystemKcpInitializerGroupPrefix`). Whoever lets clients bring such groups along lets them into starting workspaces.
 */
export const INITIALIZER_GROUP_PREFIX = "system:kcp:initializer:";

/** As {@link INITIALIZER_GROUP_PREFIX}, of terminators (`SystemKcpTerminatorGroupPrefix`). */
export const TERMINATOR_GROUP_PREFIX = "system:kcp:terminator:";

/** With a logical cluster's name behind it: who comes from there, seen elsewhere. */
export const CLUSTER_GROUP_PREFIX = "system:cluster:";

/** Before users and groups that a maximal permission policy speaks of (`MaximalPermissionPolicyRBACUserGroupPrefix`). */
export const BINDING_SUBJECT_PREFIX = "apis.kcp.io:binding:";

/** Before `<namespace>:<name>`: a service account, as its tokens name it (Kubernetes' `ServiceAccountUsernamePrefix`). */
export const SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:";

/** Before `<cluster>:<namespace>:<name>`: a service account, seen from other logical clusters. */
export const GLOBAL_SERVICE_ACCOUNT_PREFIX = "system:kcp:serviceaccount:";

/** Each value is a list of `cluster:<name>` with commas; a user is in scope where each value names the cluster (kcp's `ScopeExtraKey`). */
export const SCOPES_EXTRA = "authentication.kcp.io/scopes";

/** The logical cluster that a service account or a user of one workspace comes from (`ClusterNameKey`). */
export const CLUSTER_NAME_EXTRA = "authentication.kcp.io/cluster-name";

/** Further identities, in JSON, that count for authorization only (`WarrantExtraKey`). Never to be taken from clients. */
export const WARRANT_EXTRA = "authorization.kcp.io/warrant";

/** In reviews for an authorization webhook: the logical cluster that is asked about. */
export const REVIEWED_CLUSTER_EXTRA = "authorization.kcp.io/cluster-name";

/** The name that {@link REVIEWED_CLUSTER_EXTRA} had before, and is sent beside it. */
export const LEGACY_REVIEWED_CLUSTER_EXTRA = "authorization.kubernetes.io/cluster-name";
