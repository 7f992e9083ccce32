import { isWorkspacePath, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { UpstreamOptions } from "@virtual-workspaces/transport";

const CLUSTER = /\/clusters\/([^/?#]+)\/*$/;

/** The logical cluster that a URL ends with; "" if it names none. */
export function clusterIn(url: string): string {
  const text = CLUSTER.exec(url)?.[1]?.replaceAll(/%3a/gi, ":").replaceAll(/%2a/gi, WILDCARD) ?? "";
  return text === WILDCARD || isWorkspacePath(text) ? text : "";
}

/** The server and the logical cluster that a URL ends with (`/clusters/<name, path or *>`), apart, so that another one can be asked for: "" where it ends with none. */
export function splitCluster(options: UpstreamOptions): {
  readonly upstream: UpstreamOptions;
  readonly cluster: string;
} {
  const cluster = clusterIn(options.url);
  if (cluster === "") return { upstream: options, cluster };
  return { upstream: { ...options, url: options.url.replace(CLUSTER, "") }, cluster };
}
