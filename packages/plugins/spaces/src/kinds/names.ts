import { createHash } from "node:crypto";

/** What a managed Space is held by until what is behind it is gone. As the reference has it, though it names no domain. */
export const SPACE_FINALIZER = "SpaceFinalizer";
/** What a SpaceProviderDesc is held by until what was made for it is gone. */
export const PROVIDER_FINALIZER = "space.kubestellar.io/provider";

/** Where a provider with a hierarchy has a space: the workspace path that it is below. */
export const PARENT_ANNOTATION = "kubestellar.io/space-path";
/** What a provider itself calls a space, by which clients find the Space of a cluster that they know by that name. */
export const EXTERNAL_NAME_ANNOTATION = "space-framework.io/service-provider-reference";
/** `"true"` on the SpaceProviderDesc that Spaces have which name none. */
export const DEFAULT_ANNOTATION = "space.kubestellar.io/is-default-provider";

/** On Spaces that were discovered, and on namespaces that were made for them: which provider it is. */
export const PROVIDER_LABEL = "space.kubestellar.io/provider";
/** `"true"` on Spaces that the manager has made: what is behind them was there before. */
export const DISCOVERED_LABEL = "space.kubestellar.io/discovered";
/** On Secrets with access to a space: which Space it is. */
export const SPACE_LABEL = "space.kubestellar.io/space";

/** On Secrets with access to a space: of which it is, and a digest of what it says. */
export const ACCESS_ANNOTATION = "space.kubestellar.io/access";

/** On objects of several Spaces: in which one each is, `<namespace>/<name>`. The view's own: what clients say there is dropped. */
export const SPACE_ANNOTATION = "space.kubestellar.io/space";

/** The provider that is the default where none says that it is. */
export const DEFAULT_PROVIDER = "default";

const NAMESPACE_PREFIX = "spaceprovider-";

/** The namespace that Spaces of a provider are in which were discovered. */
export const namespaceOf = (provider: string): string => NAMESPACE_PREFIX + provider;

/** Of which provider a namespace is. */
export function providerOf(namespace: string): string | undefined {
  return namespace.startsWith(NAMESPACE_PREFIX) ? namespace.slice(NAMESPACE_PREFIX.length) : undefined;
}

/** From where a space is reached: the management cluster and its like, or anywhere else. */
export type AccessScope = "incluster" | "external";

/** The name of the Secret with access to a space. */
export const secretName = (scope: AccessScope, space: string): string => `${scope}-${space}`;
/** A name as a label: one that is too long for that is cut, and told from others by a digest. */
export function labelOf(name: string): string {
  if (name.length <= 63) return name;
  return `${name.slice(0, 50)}-${createHash("sha256").update(name).digest("hex").slice(0, 12)}`;
}

/** Its key. */
export const KUBECONFIG_KEY = "kubeconfig";
