/**
 * Users and groups of kcp, warrants and scopes.
 *
 * @module
 */

export { confinedUser, prefixedUser } from "../users/identities.ts";
export { inClusterAtRoot, inClusterUrl } from "../users/in-cluster.ts";
export {
  LEGACY_CLAIM_PREFIX,
  parseToken,
  tokenCluster,
  type UnverifiedToken,
} from "../users/service-account-token.ts";
export {
  AUTHENTICATED_GROUP,
  BINDING_SUBJECT_PREFIX,
  BOOTSTRAPPER_GROUP,
  BOOTSTRAPPER_USER,
  CLUSTER_GROUP_PREFIX,
  CLUSTER_NAME_EXTRA,
  EXTERNAL_LOGICAL_CLUSTER_ADMIN_GROUP,
  GLOBAL_SERVICE_ACCOUNT_PREFIX,
  INITIALIZER_GROUP_PREFIX,
  KCP_ADMIN_GROUP,
  LEGACY_REVIEWED_CLUSTER_EXTRA,
  LOGICAL_CLUSTER_ADMIN_GROUP,
  MASTERS_GROUP,
  METRICS_READER_ROLE,
  REVIEWED_CLUSTER_EXTRA,
  SCOPES_EXTRA,
  SERVICE_ACCOUNT_PREFIX,
  TERMINATOR_GROUP_PREFIX,
  WARRANT_EXTRA,
  WORKSPACE_ACCESS_GROUP,
} from "../users/users.ts";
export {
  contentWarrant,
  extraOf,
  formatWarrant,
  isServiceAccount,
  parseWarrant,
  warrantsOf,
  withWarrant,
} from "../users/warrants.ts";
