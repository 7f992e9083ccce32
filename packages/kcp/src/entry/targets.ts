/**
 * Targets of mounts and cluster proxies, and their credentials.
 *
 * @module
 */

export { SecretFault, type SecretKubeconfig, secretKubeconfig } from "../targets/kubeconfig.ts";
export {
  KINDS_THAT_NAME_SECRETS,
  type NamedSecret,
  type NamesSecrets,
  namedSecrets,
} from "../targets/named-secrets.ts";
export { probeTarget, RestrictedTarget, type TargetProbe, type TargetProblem } from "../targets/probe.ts";
export {
  type SecretContent,
  type SecretPlace,
  type SecretProblem,
  secretAt,
  secretContent,
} from "../targets/secret-content.ts";
export {
  type MountType,
  mountNotReady,
  mountTypes,
  type NoTarget,
  type ProxyTarget,
  type RedirectTarget,
  type RelatedObject,
  type RelatedObjects,
  type RelatedReference,
  type RequestCredential,
  requestCredential,
  type Target,
  type TargetCredential,
  type WorkspaceTarget,
} from "../targets/target.ts";
