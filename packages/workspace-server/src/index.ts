/**
 * An embedded server of workspaces, compatible with kcp's: logical clusters with kinds and permissions of their own.
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
// Kinds that workspaces define.
export { admitCrd } from "./crds/admit.ts";
export { CrdController, type CrdControllerOptions } from "./crds/controller/controller.ts";
export {
  CLEANUP_FINALIZER,
  type CrdColumn,
  type CrdCondition,
  type CrdConditionType,
  type CrdContent,
  type CrdConversion,
  type CrdNames,
  type CrdSelectableField,
  type CrdSpec,
  type CrdStatus,
  type CrdSubresources,
  type CrdVersion,
  type CustomResourceDefinition,
} from "./crds/definition.ts";
export type { TakenNames } from "./crds/naming.ts";
export { type CompiledKind, type CompiledVersion, type KindSource, KindTable } from "./crds/served/kind-table.ts";
export { LiveKind, type LiveKindOptions } from "./crds/served/live-kind.ts";
export { type CrdCollection, CrdStorage } from "./crds/storage.ts";
