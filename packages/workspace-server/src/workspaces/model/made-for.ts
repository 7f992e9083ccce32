import { clusterOf, type LogicalCluster, WORKSPACE_CLUSTER_ANNOTATION, Workspace } from "@virtual-workspaces/kcp";
import type { Installation } from "../../state/shard-registry.ts";
import { read } from "../../state/modify.ts";

/** The name of the logical cluster that was chosen for a workspace, whether or not that is made. */
export function chosenCluster({ spec, metadata }: Workspace): string | undefined {
  return spec.cluster || metadata.annotations?.[WORKSPACE_CLUSTER_ANNOTATION];
}

/** What became of the workspace that a logical cluster was made for. */
export type MadeFor = "there" | "leaving" | "gone" | "unknown";

/**
 * Whether the workspace that a logical cluster was made for is there, as it is kept now and not as it was last seen. Another process may have let it go
 * while this one was making the logical cluster, and found none to delete: so nothing is begun before this was asked, and what was made for
 * nobody goes. Of what was begun while it was there, whoever deletes it knows.
 */
export async function madeFor(cluster: LogicalCluster, installation: Installation): Promise<MadeFor> {
  const { owner } = cluster.spec;
  if (owner?.resource !== Workspace.plural) return "there";
  const key = { cluster: owner.cluster, namespace: "", name: owner.name };
  for (const { objects } of installation.shards) {
    const found = await read(objects.of(Workspace), key);
    if (found === undefined) continue;
    if (found.metadata.uid !== owner.uid || chosenCluster(found) !== clusterOf(cluster)) return "gone";
    return found.metadata.deletionTimestamp === undefined ? "there" : "leaving";
  }
  return installation.isPart ? "unknown" : "gone";
}
