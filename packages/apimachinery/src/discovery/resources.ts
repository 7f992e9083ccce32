/** Served subresource of a {@link DiscoveredResource}. */
export interface DiscoveredSubresource {
  /** `status`, `scale`, or any other path segment after the object's name. */
  readonly name: string;
  readonly verbs: readonly string[];
  /** Group of its kind. Default: the resource's. */
  readonly group?: string | undefined;
  /** Version of its kind. Default: the resource's. */
  readonly version?: string | undefined;
  readonly kind: string;
}

/** Served resource, one for each version. Discovery documents are built from these. */
export interface DiscoveredResource {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly storageVersionHash?: string | undefined;
  readonly subresources?: readonly DiscoveredSubresource[] | undefined;
}

/**
 * Order in which discovery advertises groups: by name, so that equal resources give equal documents, or as the resources are
 * listed. Clients take the first group if several groups have a resource of the requested name.
 */
export type GroupOrder = "name" | "listed";

/** Returns the names of all groups. */
export function groupNames(resources: readonly DiscoveredResource[], order: GroupOrder = "name"): string[] {
  const names = [...new Set(resources.map(({ group }) => group))];
  return order === "name" ? names.sort() : names;
}

/** Returns the versions of a group, preferred first. */
export function versionsOf(resources: readonly DiscoveredResource[], group: string): string[] {
  const versions = resources.filter((resource) => resource.group === group).map(({ version }) => version);
  return [...new Set(versions)].sort(compareVersionPriority);
}

/** Returns the resources of one group and version, by name. */
export function resourcesIn(
  resources: readonly DiscoveredResource[],
  group: string,
  version: string,
): DiscoveredResource[] {
  return resources
    .filter((resource) => resource.group === group && resource.version === version)
    .sort((a, b) => (a.plural < b.plural ? -1 : 1));
}

/** Returns the subresources, by name. */
export function subresourcesOf({ subresources = [] }: DiscoveredResource): DiscoveredSubresource[] {
  return [...subresources].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the verbs in alphabetical order, as Kubernetes lists them. */
export function sortedVerbs({ verbs }: { readonly verbs: readonly string[] }): string[] {
  return [...verbs].sort();
}

const KUBE_VERSION = /^v([0-9]{1,15})(?:(alpha|beta)([0-9]{1,15}))?$/;
const STABILITY = ["alpha", "beta", undefined];

/**
 * Orders API versions, preferred first: `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, then all other forms alphabetically
 * (apimachinery's version.CompareKubeAwareVersionStrings, reversed).
 */
export function compareVersionPriority(a: string, b: string): number {
  if (a === b) return 0;
  const left = KUBE_VERSION.exec(a);
  const right = KUBE_VERSION.exec(b);
  if (left === null || right === null) {
    if (left !== null) return -1;
    if (right !== null) return 1;
    return a < b ? -1 : 1;
  }
  return (
    STABILITY.indexOf(right[2]) - STABILITY.indexOf(left[2]) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  );
}
