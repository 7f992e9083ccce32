import { createHash } from "node:crypto";

/** Finalizer of a managed Space until its physical space is deleted. KubeStellar's name, without a domain. */
export const SPACE_FINALIZER = "SpaceFinalizer";
/** Finalizer of a SpaceProviderDesc until the objects created for it are deleted. */
export const PROVIDER_FINALIZER = "space.kubestellar.io/provider";

/** Workspace path of a space's parent, for providers with a hierarchy. */
export const PARENT_ANNOTATION = "kubestellar.io/space-path";
/** The provider's own name for a space. Clients that know a cluster only by that name find its Space with it. */
export const EXTERNAL_NAME_ANNOTATION = "space-framework.io/service-provider-reference";
/** `"true"` marks the default SpaceProviderDesc, for Spaces that name none. */
export const DEFAULT_ANNOTATION = "space.kubestellar.io/is-default-provider";

/** Provider of a discovered Space, of a namespace created for discovered Spaces, or of a workspace that a provider has created. */
export const PROVIDER_LABEL = "space.kubestellar.io/provider";
/** `"true"` on Spaces that the manager created for physical spaces that already existed. */
export const DISCOVERED_LABEL = "space.kubestellar.io/discovered";
/** Space that an access Secret belongs to. */
export const SPACE_LABEL = "space.kubestellar.io/space";

/** Space of an access Secret, and a digest of its contents. */
export const ACCESS_ANNOTATION = "space.kubestellar.io/access";

/** Space of an object in a view over several Spaces, as `<namespace>/<name>`. The view sets it and drops a client's value. */
export const SPACE_ANNOTATION = "space.kubestellar.io/space";

/** Name of the default provider when none is annotated as the default. */
export const DEFAULT_PROVIDER = "default";

const NAMESPACE_PREFIX = "spaceprovider-";

/** Returns the namespace of a provider's discovered Spaces. */
export const namespaceOf = (provider: string): string => NAMESPACE_PREFIX + provider;

/** Returns the provider of a namespace. */
export function providerOf(namespace: string): string | undefined {
  return namespace.startsWith(NAMESPACE_PREFIX) ? namespace.slice(NAMESPACE_PREFIX.length) : undefined;
}

/** Network location that a space is reached from: near the management cluster, or anywhere else. */
export type AccessScope = "incluster" | "external";

/** Returns the name of a space's access Secret. */
export const secretName = (scope: AccessScope, space: string): string => `${scope}-${space}`;
/** Returns a name as a label value. A name that is too long is cut and made unique by a digest. */
export function labelOf(name: string): string {
  if (name.length <= 63) return name;
  return `${name.slice(0, 50)}-${createHash("sha256").update(name).digest("hex").slice(0, 12)}`;
}

/** Key of the kubeconfig in an access Secret. */
export const KUBECONFIG_KEY = "kubeconfig";
