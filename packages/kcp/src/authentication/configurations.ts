import { CLUSTER_ANNOTATION } from "@virtual-workspaces/apimachinery";
import type { JwtAuthenticator } from "@virtual-workspaces/framework/authn";
import type {
  WorkspaceAuthenticationConfiguration,
  WorkspaceAuthenticationConfigurationSpec,
} from "../kinds/workspace-authentication-configuration.ts";
import type { WorkspaceType } from "../kinds/workspace-type.ts";
import { PATH_ANNOTATION } from "../names/annotations.ts";

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

/** What a WorkspaceType says of how to log in. Undefined without the annotation `kcp.io/cluster`. */
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

/** Whose tokens a WorkspaceAuthenticationConfiguration takes. Undefined without the annotation `kcp.io/cluster`. */
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

/** What Kubernetes' own file calls the same, and nothing that is not in it: keys are asked for at the issuer. */
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
      // What is none is told of when it is used.
      ...(audienceMatchPolicy !== undefined && { audienceMatchPolicy: audienceMatchPolicy as "MatchAny" }),
    },
    claimMappings: { username, ...mappings },
    claimValidationRules,
    userValidationRules,
  };
}
