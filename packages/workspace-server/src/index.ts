/**
 * An embedded server of workspaces, compatible with kcp's.
 *
 * @module
 */

// Who may do what in a workspace.
export type { ClusterParams } from "./authz/asked.ts";
export {
  type AuthorizerName,
  type ShardAuthorizer,
  type ShardAuthorizerOptions,
  shardAuthorizer,
} from "./authz/authorizer.ts";
export { bootstrapRoles } from "./authz/bootstrap-roles/bootstrap-roles.ts";
export { effectiveUsers, isInScope } from "./authz/effective-users.ts";
export { type RoleEscalationOptions, roleEscalation } from "./authz/escalation/role-escalation.ts";
export { workspaceImpersonation } from "./authz/impersonation.ts";
export { RbacPolicies } from "./authz/rbac-policies.ts";
export type { AuthorizerState, BoundResource, LogicalClusterState } from "./authz/state.ts";
