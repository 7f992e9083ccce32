import { isWorkspacePath, WILDCARD } from "@virtual-workspaces/apimachinery";

/** Where a logical cluster is below a server's URL; "" is that URL. @throws Error on what is neither a name nor a path */
export function prefixOf(cluster: string): string {
  if (cluster === "") return "";
  if (cluster !== WILDCARD && !isWorkspacePath(cluster))
    throw new Error(`reviews: ${JSON.stringify(cluster)} is neither a logical cluster's name nor a workspace path`);
  return `/clusters/${cluster}`;
}
