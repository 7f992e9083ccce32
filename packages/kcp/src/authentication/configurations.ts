import { CLUSTER_ANNOTATION } from "@virtual-workspaces/apimachinery";
import type { JwtAuthenticator } from "@virtual-workspaces/framework/authn";
import type {
  WorkspaceAuthenticationConfiguration,
  WorkspaceAuthenticationConfigurationSpec,
} from "../kinds/workspace-authentication-configuration.ts";
import type { WorkspaceType } from "../kinds/workspace-type.ts";
import { PATH_ANNOTATION } from "../names/annotations.ts";

/** Reference to an object of a logical cluster. */
export interface ObjectInCluster {
  /** Name of the object's logical cluster. */
  readonly cluster: string;
  readonly name: string;
}

/** Fields of a WorkspaceType that authentication uses. {@link authenticatingType} reads them from the object. */
export interface AuthenticatingType extends ObjectInCluster {
  /** Path of the type's logical cluster, annotation `kcp.io/path`. LogicalClusters name their type by it. Default: `cluster`. */
  readonly path?: string | undefined;
  /** `spec.authenticationConfigurations[].name`: WorkspaceAuthenticationConfigurations of the same logical cluster. */
  readonly configurations: readonly string[];
}

/** Used fields of a WorkspaceAuthenticationConfiguration. {@link workspaceAuthenticators} reads them from the object. */
export interface WorkspaceAuthenticators extends ObjectInCluster {
  /** `spec.jwt`. */
  readonly jwt: readonly JwtAuthenticator[];
}

/** Reads the authentication settings of a WorkspaceType. Returns undefined without the annotation `kcp.io/cluster`. */
export function authenticatingType(type: WorkspaceType): AuthenticatingType | undefined {
  const at = objectInCluster(type);
  const { authenticationConfigurations = [] } = type.spec ?? {};
  return (
    at && {
      ...at,
      path: type.metadata.annotations?.[PATH_ANNOTATION] || undefined,
      configurations: authenticationConfigurations.map(({ name }) => name),
    }
  );
}

/** Reads the token issuers of a WorkspaceAuthenticationConfiguration. Returns undefined without the annotation `kcp.io/cluster`. */
export function workspaceAuthenticators(
  configuration: WorkspaceAuthenticationConfiguration,
): WorkspaceAuthenticators | undefined {
  const at = objectInCluster(configuration);
  return at && { ...at, jwt: configuration.spec.jwt.map(authenticator) };
}

function objectInCluster({
  metadata,
}: WorkspaceType | WorkspaceAuthenticationConfiguration): ObjectInCluster | undefined {
  const cluster = metadata.annotations?.[CLUSTER_ANNOTATION];
  return cluster === undefined ? undefined : { cluster, name: metadata.name ?? "" };
}

/** Copies only the fields that Kubernetes' own configuration file has. Keys always come from the issuer. */
function authenticator({
  issuer: { url, discoveryURL, certificateAuthority, audiences = [], audienceMatchPolicy },
  claimMappings: { username = {}, ...mappings },
  claimValidationRules = [],
  userValidationRules = [],
}: WorkspaceAuthenticationConfigurationSpec["jwt"][number]): JwtAuthenticator {
  return {
    issuer: {
      url,
      ...(discoveryURL !== undefined && { discoveryURL }),
      ...(certificateAuthority !== undefined && { certificateAuthority }),
      audiences,
      // An unknown policy is reported when the configuration is used.
      ...(audienceMatchPolicy !== undefined && { audienceMatchPolicy: audienceMatchPolicy as "MatchAny" }),
    },
    claimMappings: { username, ...mappings },
    claimValidationRules,
    userValidationRules,
  };
}
