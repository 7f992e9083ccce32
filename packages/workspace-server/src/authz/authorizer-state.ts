import type { RbacPolicy } from "@virtual-workspaces/framework/authz";

/** State that {@link shardAuthorizer} reads for every request. An error that a method throws is answered with 500. */
export interface AuthorizerState {
  /**
   * Loads the state that a request for a resource of a logical cluster needs; the other methods are called only
   * afterwards. @default `undefined`: nothing has to be loaded
   */
  load?(cluster: string, group: string, resource: string): Promise<void> | undefined;
  /**
   * Roles and bindings of the logical cluster `system:admin`, which apply in every workspace: {@link bootstrapRoles}
   * and those that an administrator has added.
   */
  readonly bootstrap: RbacPolicy;
  /** Returns the roles and bindings of a logical cluster of this shard; `undefined` if it has none. */
  policy(cluster: string): RbacPolicy | undefined;
  /**
   * Returns roles and bindings of a logical cluster of another shard, which that shard has replicated (kcp's cache
   * server). It must omit those of {@link policy}. @default nothing is replicated
   */
  replicated?(cluster: string): RbacPolicy | undefined;
  /** Returns the state of a LogicalCluster of this shard, or a replicated one; `undefined` if it does not exist. */
  logicalCluster(cluster: string): LogicalClusterState | undefined;
  /** Returns the APIBinding of a logical cluster with a resource in its `status.boundResources`; `undefined` if none. */
  binding(cluster: string, group: string, resource: string): BoundResource | undefined;
}

/** Fields of a LogicalCluster that authorization reads. */
export interface LogicalClusterState {
  /** Value of `status.phase`; "" until it is set. */
  readonly phase: string;
  /** Annotation `authorization.kcp.io/required-groups`; `undefined` without it, which differs from "". */
  readonly requiredGroups?: string | undefined;
}

/** Fields of an APIBinding and its APIExport that authorization reads. */
export interface BoundResource {
  /** Value of `spec.reference.export`; the path defaults to that of the binding's workspace. */
  readonly reference: { readonly path: string; readonly name: string };
  /** APIExport, of this shard or replicated; `undefined` if it does not exist, and then no policy applies. */
  readonly export?:
    | {
        /** Name of the export's logical cluster. */
        readonly cluster: string;
        readonly name: string;
        /** Whether the export has `spec.maximalPermissionPolicy.local`. */
        readonly policy: boolean;
      }
    | undefined;
}
