/**
 * The rules of `apis.kcp.io`: claims, conversion, validation, bound kinds.
 *
 * @module
 */

export { type ClaimableKind, claimableKinds, isClaimable, isReview } from "../apis/claimable-kinds.ts";
export {
  type ClaimedVerbs,
  type ClaimReference,
  type ClaimSelector,
  claimKey,
  claimLabelSelector,
  claimMatches,
  claimSelectorProblems,
  formatClaim,
  grantedVerbs,
  normalizedGroupResource,
  sameClaim,
  verbIsGranted,
} from "../apis/claims.ts";
export {
  apiBindingToV1alpha1,
  apiBindingToV1alpha2,
  apiExportToV1alpha1,
  apiExportToV1alpha2,
  olderApiBindings,
  olderApiExports,
} from "../apis/conversion.ts";
export { NEWER_ANNOTATIONS, OLDER_ANNOTATIONS } from "../apis/conversion-annotations.ts";
export {
  apiResourceSchemaOf,
  boundCrdOf,
  type CustomResourceConversion,
  type CustomResourceDefinitionLike,
  type CustomResourceVersion,
  definitionOf,
} from "../apis/custom-resource-definitions.ts";
export {
  apiResourceSchemaProblems,
  apiResourceSchemaUpdateProblems,
  PLAIN_GROUPS,
  type ResourceNames,
} from "../apis/schema-validation.ts";
export type { SchemaRules } from "../apis/schema-version-validation.ts";
export { type ServedVersion, servedVersions } from "../apis/served-versions.ts";
export { apiBindingProblems, apiExportProblems } from "../apis/validation.ts";
