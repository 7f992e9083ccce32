import type { GroupVersionKind } from "../meta/types.ts";
import {
  type DiscoveredResource,
  type GroupOrder,
  groupNames,
  resourcesIn,
  sortedVerbs,
  subresourcesOf,
  versionsOf,
} from "./resources.ts";

/** Subresource (apidiscovery's APISubresourceDiscovery). */
export interface ApiSubresourceDiscovery {
  readonly subresource: string;
  readonly responseKind: GroupVersionKind;
  readonly verbs: string[];
}

/** Resource (apidiscovery's APIResourceDiscovery). */
export interface ApiResourceDiscovery {
  readonly resource: string;
  readonly responseKind: GroupVersionKind;
  readonly scope: "Cluster" | "Namespaced";
  readonly singularResource: string;
  readonly verbs: string[];
  readonly shortNames?: string[];
  readonly categories?: string[];
  readonly subresources?: ApiSubresourceDiscovery[];
}

/** Version of a group (apidiscovery's APIVersionDiscovery). */
export interface ApiVersionDiscovery {
  readonly version: string;
  readonly resources: ApiResourceDiscovery[];
  readonly freshness: "Current";
}

/** Group (apidiscovery's APIGroupDiscovery). */
export interface ApiGroupDiscovery {
  readonly metadata: { readonly name: string };
  /** Preferred first. */
  readonly versions: ApiVersionDiscovery[];
}

/** Aggregated document at `/api` and `/apis` (apidiscovery's APIGroupDiscoveryList). */
export interface AggregatedDiscoveryDocument {
  readonly kind: "APIGroupDiscoveryList";
  readonly apiVersion: `apidiscovery.k8s.io/${AggregatedDiscoveryVersion}`;
  readonly metadata: Record<string, never>;
  readonly items: ApiGroupDiscovery[];
}

/** Versions of the aggregated document that clients request: kubectl 1.27 to 1.29 only know `v2beta1`. */
export type AggregatedDiscoveryVersion = "v2" | "v2beta1";

/** Options of {@link aggregatedDiscoveryDocument}. */
export interface AggregatedDiscoveryOptions {
  readonly version: AggregatedDiscoveryVersion;
  /** True for `/api`, the core group alone; false for `/apis`, all others. */
  readonly core: boolean;
  /** @default "name" */
  readonly order?: GroupOrder;
}

/**
 * Returns one document of all served resources. It is sorted, so that equal resources give equal bytes and one ETag. The core
 * group has `v1` even if it serves nothing: without a core group, kubectl does not know its own `List` (`kubectl get -o
 * yaml`). The older documents leave it out, because clients take an empty version for a fault.
 */
export function aggregatedDiscoveryDocument(
  resources: readonly DiscoveredResource[],
  { version, core, order = "name" }: AggregatedDiscoveryOptions,
): AggregatedDiscoveryDocument {
  const groups = core ? [""] : groupNames(resources, order).filter((group) => group !== "");
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map((group) => groupDiscovery(resources, group)),
  };
}

function groupDiscovery(resources: readonly DiscoveredResource[], group: string): ApiGroupDiscovery {
  const known = versionsOf(resources, group);
  const versions = (known.length === 0 ? ["v1"] : known).map((version) => ({
    version,
    resources: resourcesIn(resources, group, version).map(resourceDiscovery),
    freshness: "Current" as const,
  }));
  return { metadata: { name: group }, versions };
}

function resourceDiscovery(resource: DiscoveredResource): ApiResourceDiscovery {
  const { group, version, kind, shortNames, categories } = resource;
  const subresources = subresourcesOf(resource).map((subresource) => ({
    subresource: subresource.name,
    responseKind: {
      group: subresource.group ?? group,
      version: subresource.version ?? version,
      kind: subresource.kind,
    },
    verbs: sortedVerbs(subresource),
  }));
  return {
    resource: resource.plural,
    responseKind: { group, version, kind },
    scope: resource.namespaced ? "Namespaced" : "Cluster",
    singularResource: resource.singular,
    verbs: sortedVerbs(resource),
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}
