import { isWorkspacePath, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { UpstreamOptions } from "@virtual-workspaces/transport";

const CLUSTER = /\/clusters\/([^/?#]+)\/*$/;

/** Returns the logical cluster at the end of a URL; "" if there is none. */
export function clusterIn(url: string): string {
  const text = CLUSTER.exec(url)?.[1]?.replaceAll(/%3a/gi, ":").replaceAll(/%2a/gi, WILDCARD) ?? "";
  return text === WILDCARD || isWorkspacePath(text) ? text : "";
}

/**
 * Splits `/clusters/<name, path or *>` off the end of a URL, so that a client can use other clusters. The cluster is "" if
 * there is none.
 */
export function splitCluster(options: UpstreamOptions): {
  readonly upstream: UpstreamOptions;
  readonly cluster: string;
} {
  const cluster = clusterIn(options.url);
  if (cluster === "") return { upstream: options, cluster };
  return { upstream: { ...options, url: options.url.replace(CLUSTER, "") }, cluster };
}
