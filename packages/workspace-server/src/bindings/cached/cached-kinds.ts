import type { GroupResource } from "@virtual-workspaces/apimachinery";
import type { ClusterCachedResource } from "@virtual-workspaces/kcp";
import { isCustomSpace } from "../../state/key-spaces.ts";
import type { KindsOfClusters, StoredKind, StoredResource } from "../../state/stored-kinds.ts";

/** Resource that a ClusterCachedResource names. */
export type CachedGroupVersionResource = StoredResource;

/** Returns the resource of a ClusterCachedResource. */
export function cachedResourceOf({ spec }: ClusterCachedResource): CachedGroupVersionResource {
  const { group = "", version = "", resource } = spec;
  return { group, version, resource };
}

/** Returns a resource as in kcp's messages: `widgets.example.dev`. */
export function resourceText({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** Kinds whose objects can be cached: those of users. Security: not the kinds of the server itself, such as roles. */
export class CachedKinds {
  readonly #kinds: KindsOfClusters;

  constructor(kinds: KindsOfClusters) {
    this.#kinds = kinds;
  }

  /** Returns the stored kind of a resource in a logical cluster; `undefined` if it is not served, or not in this version. */
  of(cluster: string, { group, version, resource }: CachedGroupVersionResource): StoredKind | undefined {
    const kinds = this.#kinds.in(cluster);
    const found = kinds.named(`${resource}.${group}`);
    if (found === undefined || !isCustom(found)) return undefined;
    if (version === "") return found;
    const served = kinds.of(group === "" ? version : `${group}/${version}`, found.definition.kind);
    return served === undefined ? undefined : found;
  }

  /** Returns whether a resource is one of the server itself. */
  isBuiltIn(cluster: string, { group, resource }: GroupResource): boolean {
    const found = this.#kinds.in(cluster).named(`${resource}.${group}`);
    return found !== undefined && !isCustom(found);
  }
}

/** Whether the objects belong to a definition of users: one with the name of a built-in resource may exist, but is not served. */
function isCustom({ objects }: StoredKind): boolean {
  return isCustomSpace(objects.space);
}
