/**
 * The URL of a logical cluster or workspace on a server: `https://host/clusters/root:org`. What kcp writes into
 * `Workspace.spec.URL` (with the shard's external URL and the canonical path) and asks shards with (their base URL, the
 * name). Neither argument is checked.
 *
 * @param baseURL with or without a slash at its end
 */
export const clusterURL = (baseURL: string, cluster: string): string =>
  `${baseURL.endsWith("/") ? baseURL.slice(0, -1) : baseURL}/clusters/${cluster}`;

/**
 * The URL of a view on a shard, as it is published: `https://host/services/apiexport/root/widgets`, to which clients add
 * `/clusters/<name>` or `/clusters/*`. A path of the shard's URL is kept, as in kcp. No argument is checked.
 *
 * @param baseURL where the shard's virtual workspaces are, `spec.virtualWorkspaceURL` of its Shard; with or without a slash at its end
 * @param path the name of the view, and what follows it, segment by segment
 */
export const viewURL = (baseURL: string, ...path: readonly string[]): string =>
  [baseURL.endsWith("/") ? baseURL.slice(0, -1) : baseURL, "services", ...path].join("/");
