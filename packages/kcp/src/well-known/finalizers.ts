/** On what owns a LogicalCluster, usually a Workspace: it goes after its logical cluster (kcp's `LogicalClusterFinalizerName`). */
export const LOGICAL_CLUSTER_FINALIZER = "core.kcp.io/logicalcluster";

/** On a LogicalCluster: what is in it must go first (`LogicalClusterDeletionFinalizer`). */
export const LOGICAL_CLUSTER_DELETION_FINALIZER = "core.kcp.io/logicalcluster-deletion";

/** On a LogicalCluster that has terminators (`LogicalClusterHasTerminatorFinalizer`). */
export const TERMINATORS_FINALIZER = "kcp.io/has-terminators";

/** On an APIBinding: the objects that it brought must go first (`APIBindingFinalizer`). */
export const API_BINDING_FINALIZER = "apis.kcp.io/apibinding-finalizer";
