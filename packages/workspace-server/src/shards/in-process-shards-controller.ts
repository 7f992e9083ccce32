import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { ROOT_CLUSTER, ROOT_SHARD, Shard } from "@virtual-workspaces/kcp";
import {
  type Condition,
  isConditionTrue,
  markFalse,
  markTrue,
  READY_CONDITION,
} from "@virtual-workspaces/kcp/conditions";
import { startController } from "../controllers/shard-controllers.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { modify } from "../state/modify.ts";
import { IN_PROCESS_FINALIZER, isInProcess } from "../state/shard-registry.ts";
import { ReplicaMismatch } from "./replicas.ts";

/** Starts and stops shards. */
export interface ShardRunner {
  /** Starts a shard unless it runs. @returns `undefined` when the process ends @throws the error of a failed start */
  run(name: string): Promise<ShardContext | undefined>;
  /** Stops a running shard. */
  end(name: string): Promise<void>;
}

/** Condition of a deleted shard: whether it is empty. */
const EMPTY = "ShardEmpty";
/** Interval of checks of a deleted shard, in milliseconds. */
const LOOK_EVERY = 500;
/** Maximum of concurrent starts. */
const WORKERS = 4;

/** Runs the shards whose Shard objects in `root` assign them to this process. Stops deleted ones once they are empty. */
export function inProcessShardsController(root: ShardContext, runner: ShardRunner): ShardController {
  const shards = root.objects.of(Shard);
  /** Shards found empty once. A concurrent choice of the shard is written down before the second check. */
  const empty = new Set<string>();

  const say = (key: ObjectKey, change: (conditions: Condition[] | undefined) => Condition[]): Promise<unknown> =>
    modify(shards, key, (shard) => ({
      ...shard,
      status: { ...shard.status, conditions: change(shard.status?.conditions) },
    }));

  const run = async (key: ObjectKey): Promise<ShardContext | undefined> => {
    try {
      return await runner.run(key.name);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const condition = { type: READY_CONDITION, reason: "NotStarted", severity: "Error", message } as const;
      // A shard that another process runs must not appear broken because of this one.
      const isElsewhere = (conditions: Condition[] | undefined): boolean =>
        error instanceof ReplicaMismatch && isConditionTrue(conditions, READY_CONDITION);
      await say(key, (all) => (isElsewhere(all) ? (all ?? []) : markFalse(all, condition, new Date())));
      throw error;
    }
  };

  const leave = async (
    key: ObjectKey,
    running: ShardContext,
  ): Promise<{ readonly requeueAfter: number } | undefined> => {
    const { name } = key;
    // Unread objects would count as missing.
    if (!running.registry.isWhole || !running.objects.isWhole) return { requeueAfter: LOOK_EVERY };
    const remains = remainsOf(running);
    if (remains.clusters + remains.workspaces + remains.unknown.length > 0) {
      empty.delete(name);
      const message = remainsText(remains);
      const condition = { type: EMPTY, reason: "LogicalClustersRemain", severity: "Info", message } as const;
      await say(key, (conditions) => markFalse(conditions, condition, new Date()));
      return { requeueAfter: LOOK_EVERY };
    }
    if (!empty.has(name)) {
      empty.add(name);
      return { requeueAfter: LOOK_EVERY };
    }
    empty.delete(name);
    await runner.end(name);
    await modify(shards, key, ({ metadata, ...shard }) => ({
      ...shard,
      metadata: { ...metadata, finalizers: others(metadata.finalizers) },
    }));
    return undefined;
  };

  return startController<Shard>(root, {
    name: "in-process-shards",
    workers: WORKERS,
    grace: 0,
    sources: [{ informer: root.state.shards }],
    reconcile: async (key, { object }) => {
      if (key.cluster !== ROOT_CLUSTER || key.name === ROOT_SHARD) return;
      if (object === undefined || !isInProcess(object)) {
        await runner.end(key.name);
        return;
      }
      if (object.metadata.deletionTimestamp === undefined) {
        const held = await modify(shards, key, hold);
        if (held === undefined) return;
        if ((await run(key)) !== undefined)
          await say(key, (conditions) => markTrue(conditions, READY_CONDITION, new Date()));
        return;
      }
      const running = await run(key);
      return running && leave(key, running);
    },
  });
}

function others(finalizers: readonly string[] = []): string[] {
  return finalizers.filter((each) => each !== IN_PROCESS_FINALIZER);
}

/** A Shard under deletion accepts no new finalizer. */
function hold({ metadata, ...shard }: Shard): Shard {
  if (metadata.deletionTimestamp !== undefined) return { metadata, ...shard };
  return { ...shard, metadata: { ...metadata, finalizers: [...others(metadata.finalizers), IN_PROCESS_FINALIZER] } };
}

/** Remaining content of a shard. */
interface ShardRemains {
  /** Number of logical clusters, except the system's, which every shard has. */
  readonly clusters: number;
  /** Paths of some of them. */
  readonly examples: readonly string[];
  /** Number of Workspaces scheduled to the shard, with or without a logical cluster. */
  readonly workspaces: number;
  /** Shards that do not run and may contain such Workspaces. */
  readonly unknown: readonly string[];
}

/** Maximum of example paths. */
const EXAMPLES = 5;

/** Counts the remaining content of a shard. It inspects logical clusters only if there are at most 100. */
function remainsOf({ name, state, registry }: ShardContext): ShardRemains {
  const { size } = state.logicalClusters.store;
  const names =
    size > 100
      ? []
      : state.logicalClusters.store
          .list()
          .map(({ metadata }) => metadata.annotations?.["kcp.io/cluster"] ?? "")
          .filter((cluster) => !cluster.startsWith("system:"));
  const examples = names.slice(0, EXAMPLES).map((cluster) => registry.index.pathOf(cluster) ?? cluster);
  const counts = registry.shards.map((shard) => shard.state.workspaces.store.countBy("shard", name));
  return {
    clusters: size > 100 ? size : names.length,
    examples: examples.sort(),
    workspaces: counts.reduce((sum, count) => sum + count, 0),
    unknown: registry.missing.map(({ metadata }) => metadata.name ?? ""),
  };
}

/** Returns the condition message for the user who has deleted the shard. */
function remainsText({ clusters, examples, workspaces, unknown }: ShardRemains): string {
  if (clusters + workspaces === 0)
    return `some of its workspaces may belong to shards that are not running: ${unknown.join(", ")}`;
  if (clusters === 0) return `workspaces are being scheduled to it or deleted from it: ${workspaces}`;
  const more = clusters > examples.length ? ", …" : "";
  const named = examples.length === 0 ? "" : ` (${examples.join(", ")}${more})`;
  return `the shard still has logical clusters: ${clusters}${named}; delete their workspaces to remove the shard`;
}
