import { isDeepStrictEqual } from "node:util";
import { clusterOf, clusterURL, LogicalCluster, type LogicalClusterStatus, Workspace } from "@virtual-workspaces/kcp";
import { markFalse, markTrue } from "@virtual-workspaces/kcp/conditions";
import {
  INITIALIZER_LABEL_PREFIX,
  initializerLabel,
  LOGICAL_CLUSTER_SHARD_ANNOTATION,
  PHASE_LABEL,
  TERMINATOR_LABEL_PREFIX,
  TERMINATORS_FINALIZER,
  terminatorLabel,
} from "@virtual-workspaces/kcp/names";
import { commit, startController } from "../../controllers/shard-controllers.ts";
import type { ShardContext, ShardController } from "../../state/context.ts";
import { modify, remove } from "../../state/modify.ts";
import { logicalClusterKey } from "../../state/shard-state.ts";
import { isInactive } from "../../state/unavailable.ts";
import { withOwnersName } from "../model/owner.ts";
import { begun, chosenCluster, isNew, madeFor, phaseOf } from "../model/phases.ts";

/** Maximum of concurrent reconciliations. */
const WORKERS = 8;

/**
 * Maintains labels, finalizers, shard, phase and URL of a shard's LogicalClusters (kcp's controller `kcp-logicalcluster`).
 * Owners of connections to one close them when its phase becomes Inactive or Deleting.
 *
 * @param now returns the time of conditions
 */
export function logicalClusterController(shard: ShardContext, now: () => Date = () => new Date()): ShardController {
  const collection = shard.objects.of(LogicalCluster);
  const controlled = startController<LogicalCluster>(shard, {
    name: "kcp-logicalcluster",
    workers: WORKERS,
    sources: [{ informer: shard.state.logicalClusters }],
    others: ({ spec }) => [spec.owner?.cluster],
    reconcile: async (key, { object: before }) => {
      if (before === undefined) return;
      if (await commit(collection, key, { before, next: labelled(before) })) return;
      if (await moveHere(shard, before)) return;
      if (isNew(before)) {
        const workspace = await madeFor(before, shard.registry);
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

/** Writes the shard's name into the owner first, then the LogicalCluster, whose annotation marks completion. @returns whether it did */
async function moveHere({ name, objects, registry }: ShardContext, cluster: LogicalCluster): Promise<boolean> {
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

/** Facts that the LogicalCluster's status shows. */
interface LogicalClusterFacts {
  /** Name of the logical cluster. */
  readonly cluster: string;
  /** External URL of its shard. */
  readonly externalURL: string;
  readonly now: Date;
}

/** Returns the object with the labels and finalizers of its status, by which views and the deletion find it. */
function labelled(cluster: LogicalCluster): LogicalCluster {
  const { metadata, status = {} } = cluster;
  const isOurs = (key: string): boolean =>
    key.startsWith(INITIALIZER_LABEL_PREFIX) || key.startsWith(TERMINATOR_LABEL_PREFIX);
  const others = Object.entries(metadata.labels ?? {}).filter(([key]) => !isOurs(key));
  const holders = [
    ...(status.initializers ?? []).map(initializerLabel),
    ...(status.terminators ?? []).map(terminatorLabel),
  ].map(({ key, value }) => [key, value] as const);
  const labels = { ...Object.fromEntries([...others, ...holders]), [PHASE_LABEL]: phaseOf(cluster) };
  const before = metadata.finalizers ?? [];
  const finalizers = finalizersOf(cluster, before);
  const annotations = phaseOf(cluster) === "Ready" ? withOwnersName(metadata.annotations) : metadata.annotations;
  const next = { ...metadata, labels, finalizers, ...(annotations !== undefined && { annotations }) };
  return isDeepStrictEqual(next, { ...metadata, finalizers: before }) ? cluster : { ...cluster, metadata: next };
}

function finalizersOf({ metadata, status }: LogicalCluster, before: readonly string[]): string[] {
  const others = before.filter((each) => each !== TERMINATORS_FINALIZER);
  if ((status?.terminators ?? []).length === 0) return others;
  const has = others.length < before.length;
  // An object under deletion accepts no new finalizer.
  return has || metadata.deletionTimestamp !== undefined ? [...before] : [...before, TERMINATORS_FINALIZER];
}

/** Returns the object with its next phase and its URL. */
function advanced(cluster: LogicalCluster, facts: LogicalClusterFacts): LogicalCluster {
  const next = begun(cluster);
  const status = { ...next.status, ...statusOf(next, facts), URL: clusterURL(facts.externalURL, facts.cluster) };
  return { ...next, status };
}

function statusOf(cluster: LogicalCluster, { now }: LogicalClusterFacts): LogicalClusterStatus {
  const { status = {}, metadata } = cluster;
  const { conditions, initializers = [], terminators = [] } = status;
  if (metadata.deletionTimestamp !== undefined) return { phase: terminators.length > 0 ? "Terminating" : "Deleting" };
  switch (phaseOf(cluster)) {
    case "Initializing": {
      if (initializers.length === 0)
        return { phase: "Ready", conditions: markTrue(conditions, "WorkspaceInitialized", now) };
      const message = `Initializers still exist: [${initializers.join(" ")}]`;
      const of = { type: "WorkspaceInitialized", reason: "InitializerExists", severity: "Info", message } as const;
      return { conditions: markFalse(conditions, of, now) };
    }
    case "Ready":
      return isInactive(cluster) ? { phase: "Inactive" } : {};
    case "Inactive":
      return isInactive(cluster) ? {} : { phase: "Ready" };
    default:
      return {};
  }
}
