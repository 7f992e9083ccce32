import { CLUSTER_ANNOTATION } from "@virtual-workspaces/apimachinery";
import type { JwtAuthenticator } from "@virtual-workspaces/framework";
import type {
  WorkspaceAuthenticationConfiguration,
  WorkspaceAuthenticationConfigurationSpec,
} from "../tenancy/workspace-authentication-configuration.ts";
import type { WorkspaceType } from "../tenancy/workspace-type.ts";
import { PATH_ANNOTATION } from "../well-known/annotations.ts";
import type { AuthenticatingType, ObjectInCluster, WorkspaceAuthenticators } from "./types.ts";

/** What a WorkspaceType says of how to log in. Undefined without the annotation `kcp.io/cluster`. */
export function authenticatingType(type: WorkspaceType): AuthenticatingType | undefined {
  const at = placeOf(type);
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
  const at = placeOf(configuration);
  return at && { ...at, jwt: configuration.spec.jwt.map(authenticator) };
}

function placeOf({ metadata }: WorkspaceType | WorkspaceAuthenticationConfiguration): ObjectInCluster | undefined {
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
