import type { ObjectKey } from "@virtual-workspaces/apimachinery";

/** Where the view of an export is on a shard. */
export function exportURL(virtualWorkspaceURL: string, { cluster, name }: Pick<ObjectKey, "cluster" | "name">): string {
  return `${virtualWorkspaceURL}/services/apiexport/${cluster}/${name}`;
}
