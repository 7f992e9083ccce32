/** May do everything everywhere, and skips all checks (Kubernetes' `SystemPrivilegedGroup`). */
export const MASTERS = "system:masters";
/** May do everything in all workspaces, by RBAC (kcp's `SystemKcpAdminGroup`). */
export const KCP_ADMIN = "system:kcp:admin";
/** Who makes what new workspaces hold from the start (`SystemKcpWorkspaceBootstrapper`). */
export const BOOTSTRAPPER = "system:kcp:tenancy:workspace-bootstrapper";
/** The scheduler, where there is no logical cluster yet (`SystemLogicalClusterAdmin`). */
export const LOGICAL_CLUSTER_ADMIN = "system:kcp:logical-cluster-admin";
/** Controllers that reach logical clusters of other shards (`SystemExternalLogicalClusterAdmin`). */
export const EXTERNAL_LOGICAL_CLUSTER_ADMIN = "system:kcp:external-logical-cluster-admin";
/** What views of starting and ending workspaces add to a request that they have authorized. */
export const LIFECYCLE_GROUP_PREFIXES: readonly string[] = ["system:kcp:initializer:", "system:kcp:terminator:"];
/** With a logical cluster's name behind it: who comes from there, seen elsewhere. */
export const CLUSTER_GROUP_PREFIX = "system:cluster:";
/** Before users and groups that a maximal permission policy speaks of (`MaximalPermissionPolicyRBACUserGroupPrefix`). */
export const BINDING_SUBJECT_PREFIX = "apis.kcp.io:binding:";
/** Before `<cluster>:<namespace>:<name>`: a service account, seen from other logical clusters. */
export const GLOBAL_SERVICE_ACCOUNT_PREFIX = "system:kcp:serviceaccount:";
/** Before `<namespace>:<name>`: a service account, as its tokens name it. */
export const SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:";

/** Each value is a list of `cluster:<name>`; a user is in scope where each value names the cluster (`ScopeExtraKey`). */
export const SCOPES_EXTRA = "authentication.kcp.io/scopes";
/** The logical cluster that a service account or a user of one workspace comes from (`ClusterNameKey`). */
export const CLUSTER_NAME_EXTRA = "authentication.kcp.io/cluster-name";
/** Further identities, in JSON, that count for authorization only (`WarrantExtraKey`). */
export const WARRANT_EXTRA = "authorization.kcp.io/warrant";
