import type { Admit, ServedResource } from "@virtual-workspaces/framework";
import { LogicalCluster } from "@virtual-workspaces/kcp";
import type { ShardObjects } from "../state/objects.ts";

/** The one kind of kcp's besides those of apis.kcp.io that every logical cluster has without binding it. */
export function logicalClusters(objects: ShardObjects, admit: Admit): ServedResource {
  return LogicalCluster.serve(objects.of(LogicalCluster), { admit: admit as never });
}
