export { CustomResourceDefinition } from "./kinds/apiextensions/custom-resource-definition.ts";
export type { BuiltInKind, Columns, ComputedColumnSpec } from "./kinds/built-in-kind.ts";
export { Lease, type LeaseContent } from "./kinds/coordination/lease.ts";
export { ConfigMap, type ConfigMapContent } from "./kinds/core/config-map.ts";
export { CoreEvent } from "./kinds/core/event.ts";
export { coreOfEvent, Event, eventOfCore } from "./kinds/core/events-event.ts";
export { finalizeNamespace } from "./kinds/core/finalize.ts";
export { Namespace, type NamespaceContent } from "./kinds/core/namespace.ts";
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
export {
  LocalSubjectAccessReview,
  type SubjectAccessContent,
  SubjectAccessReview,
  TokenRequest,
  type TokenRequestContent,
  TokenReview,
  type TokenReviewContent,
} from "./kinds/reviews/kinds.ts";
