/**
 * Authentication by WorkspaceAuthenticationConfigurations.
 *
 * @module
 */

export {
  type AuthenticatingType,
  authenticatingType,
  type ObjectInCluster,
  type WorkspaceAuthenticators,
  workspaceAuthenticators,
} from "../authentication/configurations.ts";
export { WorkspaceAuthentication } from "../authentication/workspace-authentication.ts";
