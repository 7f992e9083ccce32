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
