import type { JwtAuthenticator } from "@virtual-workspaces/framework";

/** Which object of a logical cluster. */
export interface ObjectInCluster {
  /** The logical cluster that the object is in, by name. */
  readonly cluster: string;
  readonly name: string;
}

/** What is needed of a WorkspaceType; {@link authenticatingType} reads it off the object. */
export interface AuthenticatingType extends ObjectInCluster {
  /** The path of its logical cluster, annotation `kcp.io/path`, by which LogicalClusters name their type. Default: `cluster`. */
  readonly path?: string | undefined;
  /** `spec.authenticationConfigurations[].name`: WorkspaceAuthenticationConfigurations of the same logical cluster. */
  readonly configurations: readonly string[];
}

/** What is needed of a WorkspaceAuthenticationConfiguration; {@link workspaceAuthenticators} reads it off the object. */
export interface WorkspaceAuthenticators extends ObjectInCluster {
  /** `spec.jwt`. */
  readonly jwt: readonly JwtAuthenticator[];
}
