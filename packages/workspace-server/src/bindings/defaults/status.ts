import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { LogicalCluster, type LogicalCluster as LogicalClusterObject } from "@virtual-workspaces/kcp";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";

/** What a LogicalCluster says of itself. */
export type Status = NonNullable<LogicalClusterObject["status"]>;

/** Changes what a LogicalCluster says of itself, unless it is gone. */
export async function modifyStatus(
  objects: ShardObjects,
  key: ObjectKey,
  change: (status: Status) => Status,
): Promise<void> {
  await modify(objects.of(LogicalCluster), key, (there) => ({ ...there, status: change(there.status ?? {}) }));
}
