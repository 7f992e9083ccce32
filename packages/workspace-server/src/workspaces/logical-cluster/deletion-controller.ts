import { LogicalCluster } from "@virtual-workspaces/kcp";
import { markFalse } from "@virtual-workspaces/kcp/conditions";
import { LOGICAL_CLUSTER_DELETION_FINALIZER } from "@virtual-workspaces/kcp/names";
import { startController } from "../../controllers/shard-controllers.ts";
import { filterStates } from "../../controllers/sources.ts";
import type { ShardContext, ShardController } from "../../state/context.ts";
import { modify } from "../../state/modify.ts";
import { logicalClusterKey } from "../../state/shard-state.ts";
import type { ContentChanges, ContentOf } from "./content.ts";
import { deleteContent, type Leftover } from "./content.ts";

/** Options of the deletion of content. */
export interface DeletionOptions {
  readonly content: ContentOf;
  /** @default none: content is checked periodically */
  readonly changes?: ContentChanges;
  readonly now?: () => Date;
}

/** Maximum of logical clusters of a shard that are emptied concurrently. */
const WORKERS = 4;

/** Shortest interval of checks without notifications, in milliseconds; it grows with the age of the deletion. */
const SOONEST = 200;
const LATEST = 300_000;

/**
 * Empties LogicalClusters under deletion and removes their finalizer (kcp's controller `kcp-logicalcluster-deletion`). Unlike
 * kcp it waits for terminators, which handle the content before it is deleted.
 */
export function deletionController(shard: ShardContext, options: DeletionOptions): ShardController {
  const { content, changes, now = () => new Date() } = options;
  const collection = shard.objects.of(LogicalCluster);
  const controlled = startController<LogicalCluster>(shard, {
    name: "kcp-logicalcluster-deletion",
    workers: WORKERS,
    sources: [{ informer: filterStates(shard.state.logicalClusters, isToBeEmptied) }],
    reconcile: async (key, { object, signal }) => {
      if (object === undefined || !isToBeEmptied(object)) return {};
      const left = await deleteContent(content(key.cluster), signal);
      await modify(collection, key, (current) => {
        if (current.metadata.uid !== object.metadata.uid || !isToBeEmptied(current)) return undefined;
        return left === undefined ? released(current) : withLeftover(current, left, now());
      });
      if (left === undefined) return {};
      if (left.severity === "Error") throw new Error(left.message);
      const age = now().getTime() - Date.parse(object.metadata.deletionTimestamp ?? "");
      return { requeueAfter: Math.min(LATEST, Math.max(SOONEST, age / 5)) };
    },
  });
  const told = changes?.onGone((cluster) => {
    const key = logicalClusterKey(cluster);
    if (shard.state.logicalCluster(cluster)?.metadata.deletionTimestamp !== undefined) controlled.add(key);
  });
  return {
    started: controlled.started,
    [Symbol.asyncDispose]: async () => {
      told?.[Symbol.dispose]();
      await controlled[Symbol.asyncDispose]();
    },
  };
}

/** Only once its phase is written: then no initializer creates content that this controller would not see. */
function isToBeEmptied({ metadata, status }: LogicalCluster): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    status?.phase === "Deleting" &&
    metadata.finalizers?.includes(LOGICAL_CLUSTER_DELETION_FINALIZER) === true &&
    (status?.terminators ?? []).length === 0
  );
}

function released(cluster: LogicalCluster): LogicalCluster {
  const { finalizers = [], ...metadata } = cluster.metadata;
  const others = finalizers.filter((each) => each !== LOGICAL_CLUSTER_DELETION_FINALIZER);
  return { ...cluster, metadata: { ...metadata, finalizers: others } };
}

function withLeftover(cluster: LogicalCluster, left: Leftover, now: Date): LogicalCluster {
  const { status = {} } = cluster;
  const conditions = markFalse(status.conditions, { type: "WorkspaceContentDeleted", ...left }, now);
  return { ...cluster, status: { ...status, conditions } };
}
