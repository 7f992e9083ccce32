import { CLUSTER_ANNOTATION, type KubeObject } from "@virtual-workspaces/apimachinery";

/**
 * The name of the logical cluster that an object is in, as the object says in `kcp.io/cluster` (kcp's `logicalcluster.From`):
 * every object that a server of workspaces keeps says so. "" for one that does not. Believe it of what such a server
 * answers, and of nothing that a client has sent.
 */
export function clusterOf({ metadata }: Pick<KubeObject, "metadata">): string {
  return metadata.annotations?.[CLUSTER_ANNOTATION] ?? "";
}
