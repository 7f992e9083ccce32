// Permission claims.

export {
  type ClaimReference,
  claimKey,
  formatClaim,
  normalizedGroupResource,
  sameClaim,
} from "./apis/claims/claim-key.ts";
export { apiBindingProblems, apiExportProblems } from "./apis/claims/problems.ts";
export {
  type ClaimSelector,
  claimLabelSelector,
  claimMatches,
  claimSelectorProblems,
} from "./apis/claims/selector.ts";
export { type ClaimedVerbs, grantedVerbs, verbIsGranted } from "./apis/claims/verbs.ts";

// Versions of kinds of apis.kcp.io.

export { NEWER_ANNOTATIONS, OLDER_ANNOTATIONS } from "./apis/convert/annotations.ts";
export { apiBindingToV1alpha1, apiBindingToV1alpha2 } from "./apis/convert/api-binding.ts";
export { apiExportToV1alpha1, apiExportToV1alpha2 } from "./apis/convert/api-export.ts";
export { olderApiBindings, olderApiExports } from "./apis/convert/served-in-v1alpha1.ts";

// Kinds of apis.kcp.io.

export { APIBinding, APIBindingV1alpha1 } from "./apis/kinds/api-binding.ts";
export { APIConversion } from "./apis/kinds/api-conversion.ts";
export { APIExport, APIExportV1alpha1 } from "./apis/kinds/api-export.ts";
export { APIExportEndpointSlice } from "./apis/kinds/api-export-endpoint-slice.ts";
export { APIResourceSchema } from "./apis/kinds/api-resource-schema.ts";
export type { Holds } from "./apis/kinds/holds.ts";

// What APIResourceSchemas describe.

export {
  apiResourceSchemaProblems,
  apiResourceSchemaUpdateProblems,
} from "./apis/schemas/api-resource-schema-problems.ts";
export { BOUND_CRDS_CLUSTER, boundCrdOf } from "./apis/schemas/bound-crd.ts";
export type {
  CustomResourceConversion,
  CustomResourceDefinitionLike,
  CustomResourceVersion,
} from "./apis/schemas/custom-resource-definition.ts";
export { apiResourceSchemaOf } from "./apis/schemas/from-crd.ts";
export type { ResourceNames } from "./apis/schemas/names-problems.ts";
export { type ServedVersion, servedVersions } from "./apis/schemas/served-version.ts";
export type { SchemaRules } from "./apis/schemas/version-problems.ts";
