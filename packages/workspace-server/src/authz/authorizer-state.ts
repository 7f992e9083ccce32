import type { RbacPolicy } from "@virtual-workspaces/framework/authz";

/** What {@link shardAuthorizer} must know, asked anew for every question. What throws is answered 500. */
export interface AuthorizerState {
  /**
   * Resolves when all is known that a question about a resource of a logical cluster is decided by; nothing else is asked
   * before. @default `undefined`: it is known
   */
  load?(cluster: string, group: string, resource: string): Promise<void> | undefined;
  /**
   * Roles and bindings of the logical cluster `system:admin`, which count in every workspace; {@link bootstrapRoles} and
   * whatever an administrator has added.
   */
  readonly bootstrap: RbacPolicy;
  /** Roles and bindings of a logical cluster of this shard; `undefined` when it has none. */
  policy(cluster: string): RbacPolicy | undefined;
  /**
   * The same of what other shards have replicated (kcp's cache server): bindings and roles of a logical cluster that is not
   * here. Must leave out what {@link policy} has. @default nothing is replicated
   */
  replicated?(cluster: string): RbacPolicy | undefined;
  /** What stands in a LogicalCluster object, of this shard or replicated; `undefined` when there is none. */
  logicalCluster(cluster: string): LogicalClusterState | undefined;
  /** The APIBinding of a logical cluster that has a resource among its `status.boundResources`; `undefined`: none has. */
  binding(cluster: string, group: string, resource: string): BoundResource | undefined;
}

/** What authorization looks at of a LogicalCluster. */
export interface LogicalClusterState {
  /** `status.phase`; "" as long as there is none. */
  readonly phase: string;
  /** The annotation `authorization.kcp.io/required-groups`; `undefined` without it, which is another thing than "". */
  readonly requiredGroups?: string | undefined;
}

/** What authorization looks at of an APIBinding and its APIExport. */
export interface BoundResource {
  /** `spec.reference.export`, its path that of the binding's own workspace where it names none. */
  readonly reference: { readonly path: string; readonly name: string };
  /** The APIExport, of this shard or replicated; `undefined` when there is none, and so no policy. */
  readonly export?:
    | {
        /** The name of its logical cluster. */
        readonly cluster: string;
        readonly name: string;
        /** Whether it has `spec.maximalPermissionPolicy.local`. */
        readonly policy: boolean;
      }
    | undefined;
}
