/**
 * The URL of a logical cluster or workspace on a server: `https://host/clusters/root:org`. What kcp writes into
 * `Workspace.spec.URL` (with the shard's external URL and the canonical path) and asks shards with (their base URL, the
 * name). Neither argument is checked.
 *
 * @param baseURL with or without a slash at its end
 */
export const clusterURL = (baseURL: string, cluster: string): string =>
  `${baseURL.endsWith("/") ? baseURL.slice(0, -1) : baseURL}/clusters/${cluster}`;
