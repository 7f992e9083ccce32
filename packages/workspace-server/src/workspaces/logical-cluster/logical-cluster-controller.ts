import { clusterOf, LOGICAL_CLUSTER_SHARD_ANNOTATION, LogicalCluster, Workspace } from "@virtual-workspaces/kcp";
import type { ShardContext, ShardPart } from "../../state/context.ts";
import { modify, remove } from "../../state/modify.ts";
import { logicalClusterKey } from "../../state/shard-state.ts";
import { commit, part } from "../../controllers/shard-controllers.ts";
import { chosenCluster, madeFor } from "../model/made-for.ts";
import { isNew } from "../model/phases.ts";
import { advanced, labelled } from "./steps.ts";

/** How many are worked on at a time. */
const WORKERS = 8;

/**
 * Keeps what LogicalClusters of a shard say of themselves right: labels, finalizers, shard, phase, URL (kcp's controller
 * `kcp-logicalcluster`). Whoever has connections to one ends them when its phase becomes Inactive or Deleting.
 *
 * @param now the time of conditions
 */
export function logicalClusterController(shard: ShardContext, now: () => Date = () => new Date()): ShardPart {
  const collection = shard.objects.of(LogicalCluster);
  const controlled = part<LogicalCluster>(shard, {
    name: "kcp-logicalcluster",
    workers: WORKERS,
    sources: [{ informer: shard.state.logicalClusters }],
    others: ({ spec }) => [spec.owner?.cluster],
    reconcile: async (key, { object: before }) => {
      if (before === undefined) return;
      if (await commit(collection, key, { before, next: labelled(before) })) return;
      if (await moveHere(shard, before)) return;
      if (isNew(before)) {
        const workspace = await madeFor(before, shard.installation);
        if (workspace === "gone") await remove(collection, key, before.metadata.uid);
        if (workspace !== "there") return;
      }
      const facts = { cluster: key.cluster, externalURL: shard.urls.externalURL, now: now() };
      await commit(collection, key, { before, next: advanced(before, facts) });
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

/** Tells of logical clusters that were only made: when the workspaces they are for are gone, and when a shard comes that may have these. */
function whenOwnersGo({ state: { logicalClusters }, installation }: ShardContext, tell: (cluster: string) => void) {
  const look = (object: LogicalCluster | undefined): void => {
    if (object !== undefined && isNew(object)) tell(clusterOf(object));
  };
  return installation.eachShard(({ state: { workspaces } }) => {
    for (const each of logicalClusters.store.list()) look(each);
    return workspaces.on({
      deleted: (workspace) => {
        const cluster = chosenCluster(workspace);
        if (cluster !== undefined) look(logicalClusters.store.get(logicalClusterKey(cluster)));
      },
    });
  });
}

/** Says on which shard it is, to its owner first: what has said it itself is not looked at again. @returns whether it did */
async function moveHere({ name, objects, installation }: ShardContext, cluster: LogicalCluster): Promise<boolean> {
  const { metadata, spec } = cluster;
  const told = metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION];
  if (told === name) return false;
  const said = <T extends Pick<LogicalCluster, "metadata">>(object: T): T => ({
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...object.metadata.annotations, [LOGICAL_CLUSTER_SHARD_ANNOTATION]: name },
    },
  });
  const { owner } = spec;
  const there = owner?.resource === Workspace.plural ? installation.shardWith(owner.cluster) : undefined;
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
