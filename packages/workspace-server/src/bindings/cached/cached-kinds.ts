import type { GroupResource } from "@virtual-workspaces/apimachinery";
import type { ClusterCachedResource } from "@virtual-workspaces/kcp";
import type { KindsOfClusters, StoredKind } from "../../state/stored-kinds.ts";

/** Resource that a ClusterCachedResource names. */
export interface CachedGroupVersionResource {
  readonly group: string;
  /** "" for any served version. */
  readonly version: string;
  readonly resource: string;
}

/** Returns the resource of a ClusterCachedResource. */
export function cachedResourceOf({ spec }: ClusterCachedResource): CachedGroupVersionResource {
  const { group = "", version = "", resource } = spec;
  return { group, version, resource };
}

/** Returns a resource as in kcp's messages: `widgets.example.dev`. */
export function resourceText({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** Options of {@link CachedKinds}. */
export interface CachedKindsOptions {
  readonly kinds: KindsOfClusters;
  /** Whether a logical cluster has a resource by a CustomResourceDefinition or a binding to an export of users. */
  readonly isCustom: (cluster: string, resource: GroupResource) => boolean;
}

/** Kinds whose objects can be cached: those of users. Security: not the kinds of the server itself, such as roles. */
export class CachedKinds {
  readonly #options: CachedKindsOptions;

  constructor(options: CachedKindsOptions) {
    this.#options = options;
  }

  /** Returns the stored kind of a resource in a logical cluster; `undefined` if it is not served, or not in this version. */
  of(cluster: string, asked: CachedGroupVersionResource): StoredKind | undefined {
    const { group, version } = asked;
    const kinds = this.#options.kinds.in(cluster);
    const found = this.#options.isCustom(cluster, asked) ? kinds.named(`${asked.resource}.${group}`) : undefined;
    if (found === undefined || version === "") return found;
    const served = kinds.of(group === "" ? version : `${group}/${version}`, found.definition.kind);
    return served === undefined ? undefined : found;
  }

  /** Returns whether a resource is one of the server itself. */
  isBuiltIn(cluster: string, asked: GroupResource): boolean {
    const found = this.#options.kinds.in(cluster).named(`${asked.resource}.${asked.group}`);
    return found !== undefined && !this.#options.isCustom(cluster, asked);
  }
}
