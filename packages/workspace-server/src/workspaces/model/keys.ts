import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { clusterOf, PATH_ANNOTATION } from "@virtual-workspaces/kcp";

/** The path of the logical cluster that an object is in, as the object says; else the cluster's name. */
export function pathOf(object: Pick<KubeObject, "metadata">): string {
  return object.metadata.annotations?.[PATH_ANNOTATION] || clusterOf(object);
}

/** The name of an object with the path before it: `root:org:team`. */
export function qualifiedName(object: Pick<KubeObject, "metadata">): string {
  return joined(pathOf(object), object.metadata.name ?? "");
}

/** A path with one more segment. */
export function joined(path: string, name: string): string {
  return path === "" ? name : `${path}:${name}`;
}

/** A path, and what its last segment is in; `""` for a path of one segment. */
export function split(path: string): { readonly parent: string; readonly name: string } {
  const colon = path.lastIndexOf(":");
  return { parent: path.slice(0, Math.max(colon, 0)), name: path.slice(colon + 1) };
}
