/**
 * Authorization beyond `allow` and `deny`: RBAC, rules, impersonation, access reviews.
 *
 * @module
 */

export type {
  DecisionAnnotations,
  ImpersonationRequest,
  ImpersonationRule,
  NonResourceRule,
  ResourceRule,
  Rules,
  RulesRequest,
} from "../authz/authorization.ts";
export {
  type AuthorizationConfiguration,
  authorizationConfiguration,
  type ConfiguredAuthorizer,
  type ConfiguredWebhook,
} from "../authz/configuration.ts";
export { grantedRules, type RuleQuestion, ruleAllows } from "../authz/rbac/matches.ts";
export type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  RbacBinding,
  RbacKey,
  RbacObject,
  Role,
  RoleBinding,
  RoleRef,
  Subject,
} from "../authz/rbac/objects.ts";
export { type Grant, RbacPolicy } from "../authz/rbac/policy.ts";
export { type PolicyRequest, type RbacSource, rbac } from "../authz/rbac/rbac.ts";
export { type Named, subjectOf } from "../authz/rbac/subjects.ts";
export { reviewedUser, SelfReviews } from "../authz/reviews/access-reviews.ts";
export type {
  AccessContent,
  AccessStatus,
  Attributes,
  ReviewedUser,
  RulesContent,
  SubjectAccessContent,
  SubjectAccessSpec,
  TokenReviewContent,
  TokenReviewStatus,
} from "../authz/reviews/content.ts";
export {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  TokenReview,
} from "../authz/reviews/kinds.ts";
