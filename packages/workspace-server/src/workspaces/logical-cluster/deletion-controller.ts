import { LogicalCluster } from "@virtual-workspaces/kcp";
import { markFalse } from "@virtual-workspaces/kcp/conditions";
import { LOGICAL_CLUSTER_DELETION_FINALIZER } from "@virtual-workspaces/kcp/names";
import { startController } from "../../controllers/shard-controllers.ts";
import type { ShardContext, ShardController } from "../../state/context.ts";
import { modify } from "../../state/modify.ts";
import { logicalClusterKey } from "../../state/shard-state.ts";
import type { ContentChanges, ContentOf } from "./content.ts";
import { deleteContent, type Leftover } from "./content.ts";

/** How content is deleted. */
export interface DeletionOptions {
  readonly content: ContentOf;
  /** @default nothing is told: it is looked at again by and by */
  readonly changes?: ContentChanges;
  readonly now?: () => Date;
}

/** How many logical clusters of a shard are emptied at a time. */
const WORKERS = 4;

/** Between looks at what is left, ms: longer the longer it takes, for what nobody tells of. */
const SOONEST = 200;
const LATEST = 300_000;

/**
 * Empties LogicalClusters that are being deleted, and lets them go (kcp's controller `kcp-logicalcluster-deletion`). Unlike kcp it
 * waits for terminators: they are there to see to the content before it goes.
 */
export function deletionController(shard: ShardContext, options: DeletionOptions): ShardController {
  const { content, changes, now = () => new Date() } = options;
  const collection = shard.objects.of(LogicalCluster);
  const controlled = startController<LogicalCluster>(shard, {
    name: "kcp-logicalcluster-deletion",
    workers: WORKERS,
    sources: [{ informer: shard.state.logicalClusters }],
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

function isToBeEmptied({ metadata, status }: LogicalCluster): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
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
