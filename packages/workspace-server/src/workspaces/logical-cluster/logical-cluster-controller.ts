import { isDeepStrictEqual } from "node:util";
import { clusterOf, LogicalCluster, Workspace } from "@virtual-workspaces/kcp";
import { LOGICAL_CLUSTER_SHARD_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { commit, startController } from "../../controllers/shard-controllers.ts";
import { filterStates } from "../../controllers/sources.ts";
import type { ShardContext, ShardController } from "../../state/context.ts";
import { modify, remove } from "../../state/modify.ts";
import { logicalClusterKey } from "../../state/shard-state.ts";
import { nextState } from "../model/next-state.ts";
import { chosenCluster, isNew, madeFor } from "../model/phases.ts";

/** Options of {@link logicalClusterController}. */
export interface LogicalClusterOptions {
  /** Returns the time of conditions. @default the clock */
  readonly now?: (() => Date) | undefined;
  /** Returns a new logical cluster with what is written when its initialization begins. @default unchanged */
  readonly prepared?: ((cluster: LogicalCluster) => LogicalCluster) | undefined;
}

/** Maximum of concurrent reconciliations. */
const WORKERS = 8;

/**
 * Maintains labels, finalizers, shard, phase and URL of a shard's LogicalClusters (kcp's controller `kcp-logicalcluster`).
 * Owners of connections to one close them when its phase becomes Inactive or Deleting.
 */
export function logicalClusterController(
  shard: ShardContext,
  { now = () => new Date(), prepared = (cluster) => cluster }: LogicalClusterOptions = {},
): ShardController {
  const collection = shard.objects.of(LogicalCluster);
  const stateAfter = (cluster: LogicalCluster): LogicalCluster =>
    nextState(cluster, { cluster: clusterOf(cluster), externalURL: shard.urls.externalURL, now: now() });
  const needsPass = (cluster: LogicalCluster): boolean =>
    isNew(cluster) || !isHere(shard, cluster) || !isDeepStrictEqual(cluster, stateAfter(cluster));
  const controlled = startController<LogicalCluster>(shard, {
    name: "kcp-logicalcluster",
    workers: WORKERS,
    sources: [{ informer: filterStates(shard.state.logicalClusters, needsPass) }],
    others: ({ spec }) => [spec.owner?.cluster],
    reconcile: async (key, { object: before }) => {
      if (before === undefined) return;
      if (await moveHere(shard, before)) return;
      if (isNew(before)) {
        const workspace = await madeFor(before, shard.registry);
        if (workspace === "gone") await remove(collection, key, before.metadata.uid);
        if (workspace !== "there") return;
      }
      await commit(collection, key, { before, next: stateAfter(isNew(before) ? prepared(before) : before) });
    },
  });
  const told = whenOwnersGo(shard, (cluster) => controlled.add(logicalClusterKey(cluster)));
  return {
    started: controlled.started,
    [Symbol.asyncDispose]: async () => {
      told[Symbol.dispose]();
      await controlled[Symbol.asyncDispose]();
    },
  };
}

/** Enqueues new logical clusters when their Workspace is gone, and when a shard joins that may have it. */
function whenOwnersGo({ state: { logicalClusters }, registry }: ShardContext, tell: (cluster: string) => void) {
  const look = (object: LogicalCluster | undefined): void => {
    if (object !== undefined && isNew(object)) tell(clusterOf(object));
  };
  return registry.eachShard(({ state: { workspaces } }) => {
    for (const each of logicalClusters.store.list()) look(each);
    return workspaces.on({
      deleted: (workspace) => {
        const cluster = chosenCluster(workspace);
        if (cluster !== undefined) look(logicalClusters.store.get(logicalClusterKey(cluster)));
      },
    });
  });
}

/** Whether the object names its shard. */
function isHere({ name }: ShardContext, { metadata }: LogicalCluster): boolean {
  return metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION] === name;
}

/** Writes the shard's name into the owner first, then the LogicalCluster, whose annotation marks completion. @returns whether it did */
async function moveHere(shard: ShardContext, cluster: LogicalCluster): Promise<boolean> {
  if (isHere(shard, cluster)) return false;
  const { name, objects, registry } = shard;
  const { spec } = cluster;
  const said = <T extends Pick<LogicalCluster, "metadata">>(object: T): T => ({
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...object.metadata.annotations, [LOGICAL_CLUSTER_SHARD_ANNOTATION]: name },
    },
  });
  const { owner } = spec;
  const there = owner?.resource === Workspace.plural ? registry.shardWith(owner.cluster) : undefined;
  if (owner !== undefined && there !== undefined) {
    const key = { cluster: owner.cluster, namespace: "", name: owner.name };
    await modify(there.objects.of(Workspace), key, (workspace) =>
      workspace.metadata.uid === owner.uid ? said(workspace) : undefined,
    );
  }
  await commit(objects.of(LogicalCluster), logicalClusterKey(clusterOf(cluster)), {
    before: cluster,
    next: said(cluster),
  });
  return true;
}
