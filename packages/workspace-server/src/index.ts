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
  type CustomResourceDefinition as CrdObject,
} from "./crds/definition.ts";
export type { TakenNames } from "./crds/naming.ts";
export { type CompiledKind, type CompiledVersion, type KindSource, KindTable } from "./crds/served/kind-table.ts";
export { LiveKind, type LiveKindOptions } from "./crds/served/live-kind.ts";
export { type CrdCollection, CrdStorage } from "./crds/storage.ts";
// The server.
export { type ForwardedServicesOptions, forwardedServices } from "./loopback/forwarded-services.ts";
export { Loopback, loopback } from "./loopback/loopback.ts";
export { createWorkspaceServer, WorkspaceServer } from "./server.ts";
export type { WorkspaceServerOptions } from "./server-options.ts";
export type { ShardUrls } from "./shard/context.ts";
export { IN_PROCESS_ANNOTATION, IN_PROCESS_FINALIZER } from "./shards/in-process.ts";
export type { ShardStoreContext, ShardsOptions, ShardViewsContext } from "./shards/options.ts";
// Who the administrators are, and the files by which they get in.

export { AdminAccess, type AdminAccessOptions } from "./admin/access.ts";
export { type ClientAuthority, clientAuthority } from "./admin/client-authority.ts";
export { type AdminKubeconfigOptions, adminKubeconfig } from "./admin/kubeconfig.ts";
export type { PairFiles } from "./admin/pair.ts";
export { ensureRootDirectory } from "./admin/root-directory.ts";
export {
  type ServingCertificate,
  type ServingCertificateOptions,
  servingCertificate,
} from "./admin/serving-certificate.ts";
export { type AdminTokens, adminTokens, type PlainUser } from "./admin/users.ts";

// Service accounts and their tokens.

export {
  type AudienceAuthenticator,
  type ReviewedToken,
  type ServiceAccountTokenOptions,
  serviceAccountTokens,
} from "./service-accounts/authenticator.ts";
export {
  DEFAULT_ACCOUNT,
  NamespaceDefaults,
  type NamespaceDefaultsOptions,
  ROOT_CA_CONFIG_MAP,
} from "./service-accounts/controllers/namespace-defaults.ts";
export type { KeptKey, KeptObjects, KeptResource } from "./service-accounts/controllers/objects.ts";
export {
  accountNameIn,
  isTokenSecretOf,
  TokenSecrets,
  type TokenSecretsOptions,
} from "./service-accounts/controllers/token-secrets.ts";
export {
  CONFIGURATION_PATH,
  type IssuerDocument,
  type IssuerDocumentOptions,
  issuerDocuments,
  KEYS_PATH,
} from "./service-accounts/discovery.ts";
export { inClusterUrl } from "./service-accounts/in-cluster.ts";
export { serviceAccountKeyFile } from "./service-accounts/key-file.ts";
export {
  type ServiceAccountKeyOptions,
  ServiceAccountKeys,
  type TokenAlgorithm,
  type VerificationKey,
} from "./service-accounts/keys.ts";
export type { AccountLookup } from "./service-accounts/lookup.ts";
export {
  type BoundTokenRequest,
  DEFAULT_ISSUER,
  type MinterOptions,
  TokenMinter,
} from "./service-accounts/minter.ts";
export { groupsOf, type Place, userNameOf } from "./service-accounts/names.ts";
export { TokenRefused } from "./service-accounts/refused.ts";
export { type TokenSubresourceOptions, tokenSubresource } from "./service-accounts/token-request.ts";

// Reviews: who somebody is, and what they may do.

export {
  type AccessReviewOptions,
  LocalSubjectAccessReviews,
  SubjectAccessReviews,
} from "./service-accounts/reviews/access-reviews.ts";
export type { BoundObjectReference, TokenRequestContent } from "./service-accounts/reviews/content.ts";
export { TokenRequest } from "./service-accounts/reviews/kinds.ts";
export { type TokenReviewOptions, TokenReviews } from "./service-accounts/reviews/token-reviews.ts";

// Kubernetes' own kinds.

export { CustomResourceDefinition } from "./kinds/apiextensions/custom-resource-definition.ts";
export type { BuiltInKind } from "./kinds/built-in-kind.ts";
export { Lease, type LeaseContent } from "./kinds/coordination/lease.ts";
export { ConfigMap, type ConfigMapContent } from "./kinds/core/config-map.ts";
export { CoreEvent } from "./kinds/core/event.ts";
export { coreOfEvent, Event, eventOfCore } from "./kinds/core/events-event.ts";
export { finalizeNamespace } from "./kinds/core/finalize.ts";
export { Namespace, type NamespaceCondition, type NamespaceContent } from "./kinds/core/namespace.ts";
export { ResourceQuota } from "./kinds/core/resource-quota.ts";
export { Secret, type SecretContent } from "./kinds/core/secret.ts";
export { ServiceAccount, type ServiceAccountContent } from "./kinds/core/service-account.ts";
export { builtInKinds } from "./kinds/index.ts";
export {
  type BindingContent,
  ClusterRole,
  ClusterRoleBinding,
  type ClusterRoleKindContent,
  Role,
  RoleBinding,
  type RoleContent,
} from "./kinds/rbac/kinds.ts";
