import { apiVersionOf, type GroupVersion } from "../meta/types.ts";
import {
  type DiscoveredResource,
  type GroupOrder,
  groupNames,
  resourcesIn,
  sortedVerbs,
  subresourcesOf,
  versionsOf,
} from "./resources.ts";

/** Address for the clients of a network (metav1.ServerAddressByClientCIDR). */
export interface ServerAddressByClientCidr {
  readonly clientCIDR: string;
  readonly serverAddress: string;
}

/** Document at `/api` (metav1.APIVersions). */
export interface ApiVersionsDocument {
  readonly kind: "APIVersions";
  readonly versions: string[];
  readonly serverAddressByClientCIDRs: ServerAddressByClientCidr[];
}

/** Version of a group (metav1.GroupVersionForDiscovery). */
export interface GroupVersionForDiscovery {
  readonly groupVersion: string;
  readonly version: string;
}

/** Group in the document at `/apis` (metav1.APIGroup). */
export interface ApiGroup {
  readonly name: string;
  /** Preferred first. */
  readonly versions: GroupVersionForDiscovery[];
  readonly preferredVersion: GroupVersionForDiscovery;
  readonly serverAddressByClientCIDRs?: ServerAddressByClientCidr[];
}

/** Document at `/apis/<group>` (metav1.APIGroup). */
export interface ApiGroupDocument extends ApiGroup {
  readonly kind: "APIGroup";
  readonly apiVersion: "v1";
}

/** Document at `/apis` (metav1.APIGroupList). */
export interface ApiGroupListDocument {
  readonly kind: "APIGroupList";
  readonly apiVersion: "v1";
  readonly groups: ApiGroup[];
}

/** Resource or subresource (metav1.APIResource). */
export interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  /** `null` for a subresource without verbs, which kcp's views list. */
  readonly verbs: string[] | null;
  readonly shortNames?: string[];
  readonly categories?: string[];
  readonly storageVersionHash?: string;
}

/** Document at `/api/v1` and `/apis/<group>/<version>` (metav1.APIResourceList). */
export interface ApiResourceListDocument {
  readonly kind: "APIResourceList";
  /** Absent for the core group, as in Kubernetes. */
  readonly apiVersion?: "v1";
  readonly groupVersion: string;
  readonly resources: ApiResource[];
}

/**
 * Returns the document at `/api`. It has one core version, `v1`.
 * @param serverAddresses Addresses that clients should use. Default: none, so that clients keep the address they used.
 */
export function apiVersionsDocument(
  hasCore: boolean,
  serverAddresses: readonly ServerAddressByClientCidr[] = [],
): ApiVersionsDocument {
  return { kind: "APIVersions", versions: hasCore ? ["v1"] : [], serverAddressByClientCIDRs: [...serverAddresses] };
}

/**
 * Returns the document at `/apis`: every group except the core group.
 * @param order Default: by name.
 * @param serverAddresses As for {@link apiVersionsDocument}.
 */
export function apiGroupListDocument(
  resources: readonly DiscoveredResource[],
  order: GroupOrder = "name",
  serverAddresses: readonly ServerAddressByClientCidr[] = [],
): ApiGroupListDocument {
  const groups = groupNames(resources, order).filter((group) => group !== "");
  const addresses = serverAddresses.length > 0 && { serverAddressByClientCIDRs: [...serverAddresses] };
  return {
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: groups.map((group) => ({ ...apiGroup(resources, group), ...addresses })),
  };
}

/** Returns the document at `/apis/<group>`; undefined if the group serves nothing. */
export function apiGroupDocument(
  resources: readonly DiscoveredResource[],
  group: string,
): ApiGroupDocument | undefined {
  if (!resources.some((resource) => resource.group === group)) return undefined;
  return { kind: "APIGroup", apiVersion: "v1", ...apiGroup(resources, group) };
}

/** Returns the document at `/api/v1` or `/apis/<group>/<version>`; undefined if that version serves nothing. */
export function apiResourceListDocument(
  resources: readonly DiscoveredResource[],
  gv: GroupVersion,
): ApiResourceListDocument | undefined {
  const served = resourcesIn(resources, gv.group, gv.version);
  if (served.length === 0) return undefined;
  return {
    kind: "APIResourceList",
    ...(gv.group !== "" && { apiVersion: "v1" }),
    groupVersion: apiVersionOf(gv),
    resources: served.flatMap((resource) => [apiResource(resource), ...apiSubresources(resource)]),
  };
}

function apiGroup(resources: readonly DiscoveredResource[], group: string): ApiGroup {
  const versions = versionsOf(resources, group).map((version) => ({
    groupVersion: apiVersionOf({ group, version }),
    version,
  }));
  const [preferredVersion = { groupVersion: "", version: "" }] = versions; // A group has at least one version.
  return { name: group, versions, preferredVersion };
}

function apiResource(resource: DiscoveredResource): ApiResource {
  const { shortNames, categories, storageVersionHash } = resource;
  return {
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: sortedVerbs(resource),
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
    ...(storageVersionHash === undefined ? {} : { storageVersionHash }),
  };
}

function apiSubresources(resource: DiscoveredResource): ApiResource[] {
  return subresourcesOf(resource).map((subresource) => ({
    name: `${resource.plural}/${subresource.name}`,
    singularName: "",
    namespaced: resource.namespaced,
    ...(subresource.group === undefined ? {} : { group: subresource.group }),
    ...(subresource.version === undefined ? {} : { version: subresource.version }),
    kind: subresource.kind,
    verbs: subresource.verbs.length === 0 ? null : sortedVerbs(subresource),
  }));
}
