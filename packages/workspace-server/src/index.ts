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
export { type AdminTokens, adminTokens } from "./admin/users.ts";

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
export type {
  AccessReviewContent,
  AccessReviewSpec,
  AccessReviewStatus,
  BoundObjectReference,
  ResourceAttributes,
  ReviewedUser,
  TokenRequestContent,
  TokenReviewContent,
  TokenReviewStatus,
} from "./service-accounts/reviews/content.ts";
export {
  LocalSubjectAccessReview,
  SubjectAccessReview,
  TokenRequest,
  TokenReview,
} from "./service-accounts/reviews/kinds.ts";
export { type TokenReviewOptions, TokenReviews } from "./service-accounts/reviews/token-reviews.ts";
