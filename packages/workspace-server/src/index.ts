/**
 * An embedded server of workspaces, compatible with kcp's: logical clusters with kinds and permissions of their own.
 *
 * @module
 */

// The server.

export { createWorkspaceServer, WorkspaceServer } from "./server.ts";
export type { ServerClock, WorkspaceAuthenticationOptions, WorkspaceServerOptions } from "./server-options.ts";
export type { ShardUrls } from "./shard-urls.ts";

// Several shards in one process.

export type { ShardStoreContext, ShardsOptions, ShardViewsContext } from "./shards/options.ts";
export { IN_PROCESS_ANNOTATION, IN_PROCESS_FINALIZER } from "./state/shard-registry.ts";

// Features: what a server is composed of besides itself.

export { type ComposedFeatures, composeFeatures, type FeatureHost } from "./features/compose.ts";
export {
  defineFeature,
  type FeatureAddress,
  FeatureError,
  type FeatureFlags,
  type FeatureParts,
  type FeatureServerOptions,
  type FeatureShard,
  type NamedFeature,
  type WorkspaceServerFeature,
} from "./features/feature.ts";
export type {
  Flag,
  FlagSet,
  FlagType,
  FlagTypes,
  FlagValues,
  FlagValueTypes,
  ValuesOfTypes,
} from "./features/flags.ts";
export { applyManifests } from "./features/manifests.ts";

// Views over its workspaces: how they reach it, and who may be whom there.

export type { AuthorizationOptions, AuthorizationOrder, AuthorizerName } from "./authz/authorizer.ts";
export type { ClusterParams } from "./authz/cluster-request.ts";
export { workspaceImpersonation } from "./authz/impersonation.ts";
export { type ForwardedServicesOptions, forwardedServices } from "./loopback/forwarded-services.ts";
export { Loopback, loopback, type ServedShards } from "./loopback/loopback.ts";
export type { MountedServersOptions, MountsOptions } from "./mounts/targets.ts";
export type { OtherServers } from "./virtual-storage/backends.ts";
export type { VirtualStorageOptions } from "./virtual-storage/virtual-storage.ts";
export type { AdmissionWebhooksOptions } from "./webhooks/client.ts";

// Who the administrators are, and the files by which they get in.

export { AdminAccess, type AdminAccessOptions } from "./admin/admin-access.ts";
export {
  type ClientAuthority,
  clientAuthority,
  type ServingCertificate,
  type ServingCertificateOptions,
  servingCertificate,
} from "./admin/certificates.ts";
export type { PairFiles } from "./admin/files.ts";
export { ensureRootDirectory } from "./admin/files.ts";
export type { AdminKubeconfigOptions } from "./admin/kubeconfig.ts";
export type { AdminTokens, PlainUser } from "./admin/users.ts";

// What tokens of service accounts are signed with.

export {
  type ServiceAccountKeyOptions,
  ServiceAccountKeys,
  serviceAccountKeyFile,
  type TokenAlgorithm,
  type VerificationKey,
} from "./tokens/keys.ts";

// Kubernetes' own kinds, as every workspace has them.

export type { BuiltInKind } from "./kinds/built-in-kind.ts";
export { builtInKinds } from "./kinds/built-in-kinds.ts";
export type { CertificateCondition } from "./kinds/certificate-problems.ts";
export {
  CertificateSigningRequest,
  type CertificateSigningRequestContent,
} from "./kinds/certificate-signing-request.ts";
export { ConfigMap, type ConfigMapContent } from "./kinds/config-map.ts";
export { CustomResourceDefinition } from "./kinds/custom-resource-definition.ts";
export { CoreEvent } from "./kinds/event.ts";
export { Event } from "./kinds/events-event.ts";
export { Lease, type LeaseContent } from "./kinds/lease.ts";
export { Namespace, type NamespaceCondition, type NamespaceContent } from "./kinds/namespace.ts";
export {
  type BindingContent,
  ClusterRole,
  ClusterRoleBinding,
  type ClusterRoleKindContent,
  Role,
  RoleBinding,
  type RoleContent,
} from "./kinds/rbac.ts";
export { ResourceQuota } from "./kinds/resource-quota.ts";
export { Secret, type SecretContent } from "./kinds/secret.ts";
export { ServiceAccount, type ServiceAccountContent } from "./kinds/service-account.ts";
export {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  type WebhookClientConfig,
  type WebhookConfigurationContent,
  type WebhookContent,
  type WebhookRule,
} from "./kinds/webhook-configuration.ts";
