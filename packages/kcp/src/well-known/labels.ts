/** On Workspace and LogicalCluster: its phase, so that it can be selected by (kcp's `WorkspacePhaseLabel`). */
export const PHASE_LABEL = "tenancy.kcp.io/phase";

/** Labels of a LogicalCluster that begin so name its initializers, see `initializerLabel` (`WorkspaceInitializerLabelPrefix`). */
export const INITIALIZER_LABEL_PREFIX = "initializer.internal.kcp.io/";

/** Labels of a LogicalCluster that begin so name its terminators, see `terminatorLabel` (`WorkspaceTerminatorLabelPrefix`). */
export const TERMINATOR_LABEL_PREFIX = "terminator.internal.kcp.io/";

/** Labels of an object that begin so say which exports' claims cover it, see `claimLabel` (`APIExportPermissionClaimLabelPrefix`). */
export const CLAIM_LABEL_PREFIX = "claimed.internal.apis.kcp.io/";

/** On an APIBinding: the hash of its export, see `exportHash` (`InternalAPIBindingExportLabelKey`). */
export const BINDING_EXPORT_LABEL = "internal.apis.kcp.io/export";

/** On a Shard: its own name, for selectors. */
export const SHARD_NAME_LABEL = "name";

/** On Shards, and copied to the Workspaces on them. */
export const REGION_LABEL = "region";
