import { isDeepStrictEqual } from "node:util";
import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { related } from "@virtual-workspaces/client";
import {
  type LogicalCluster,
  MOUNT_READY_CONDITION,
  newClusterName,
  type Shard,
  Workspace,
} from "@virtual-workspaces/kcp";
import { markFalse } from "@virtual-workspaces/kcp/conditions";
import {
  LOGICAL_CLUSTER_SHARD_ANNOTATION,
  PHASE_LABEL,
  shardHash,
  UNSCHEDULABLE_ANNOTATION,
  WORKSPACE_CLUSTER_ANNOTATION,
  WORKSPACE_SHARD_HASH_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import { commit, startController } from "../../controllers/shard-controllers.ts";
import { AllShardsSource, filterUpdates } from "../../controllers/sources.ts";
import type { ShardContext, ShardController } from "../../state/context.ts";
import { withOwnersName } from "../model/owner.ts";
import { allShards } from "../model/shards.ts";
import { phaseStep } from "./phase.ts";
import { schedulingStep } from "./scheduling.ts";
import { GO_ON, STOP, type Step, type WorkspaceTools } from "./step.ts";
import { deletionStep } from "./workspace-deletion.ts";

/**
 * Says of a mounted workspace that it leads nowhere where the server does without mounts: else it would look as it did when somebody
 * kept it right. Where there are mounts a controller of their own says how it is, and this one makes the phase of that.
 */
const mountStep: Step = (workspace, { shard, now }) => {
  const { metadata, spec, status = {} } = workspace;
  if (spec.mount === undefined || shard.mounts !== false || metadata.deletionTimestamp !== undefined) return GO_ON;
  const message = "mounted workspaces are turned off: start the server with the feature gate WorkspaceMounts";
  const condition = { type: MOUNT_READY_CONDITION, reason: "FeatureGateDisabled", severity: "Error", message } as const;
  workspace.status = { ...status, conditions: markFalse(status.conditions, condition, now()) };
  return GO_ON;
};

/** Labels and annotations that say what the status says, a write later; the owner's groups go when they have served. */
const metadataStep: Step = (workspace, { shard }) => {
  const { metadata, spec, status } = workspace;
  if (spec.mount !== undefined) return GO_ON;
  const phase = status?.phase ?? "Scheduling";
  const labels = { ...metadata.labels, [PHASE_LABEL]: phase };
  const annotations = { ...metadata.annotations };
  const name = annotations[LOGICAL_CLUSTER_SHARD_ANNOTATION];
  const hash = annotations[WORKSPACE_SHARD_HASH_ANNOTATION];
  if (name) annotations[WORKSPACE_SHARD_HASH_ANNOTATION] = shardHash(name);
  else if (hash !== undefined) {
    const found = allShards(shard.registry).find((each) => shardHash(each.metadata.name ?? "") === hash);
    if (found?.metadata.name !== undefined) annotations[LOGICAL_CLUSTER_SHARD_ANNOTATION] = found.metadata.name;
  }
  const next = phase === "Ready" ? (withOwnersName(annotations) ?? {}) : annotations;
  if (isDeepStrictEqual(labels, metadata.labels) && isDeepStrictEqual(next, metadata.annotations ?? {})) return GO_ON;
  metadata.labels = labels;
  metadata.annotations = next;
  return STOP;
};

/** What a test may want to be otherwise. */
export type WorkspaceOptions = Partial<Omit<WorkspaceTools, "shard">>;

const STEPS: readonly Step[] = [metadataStep, deletionStep, schedulingStep, mountStep, phaseStep];

/** How many workspaces of a shard are worked on at a time. */
const WORKERS = 8;

/** Schedules the Workspaces of a shard, tells how they are, and deletes what is behind them (kcp's controller `kcp-workspace`). */
export function workspaceController(shard: ShardContext, options: WorkspaceOptions = {}): ShardController {
  const tools: WorkspaceTools = {
    shard,
    now: () => new Date(),
    newName: newClusterName,
    pick: (count) => Math.floor(Math.random() * count),
    ...options,
  };
  const collection = shard.objects.of(Workspace);
  const controlled = startController<Workspace>(shard, {
    name: "kcp-workspace",
    workers: WORKERS,
    sources: [{ informer: shard.state.workspaces }, ...relatedTo(shard)],
    others: ({ spec, metadata }) => [spec.cluster, metadata.annotations?.[WORKSPACE_CLUSTER_ANNOTATION]],
    reconcile: async (key, { object: before }) => {
      if (before === undefined) return {};
      const next = structuredClone(before);
      let requeueAfter: number | undefined;
      for (const step of STEPS) {
        const after = await step(next, tools);
        requeueAfter = after.requeueAfter;
        if (after.stop === true) break;
      }
      await commit(collection, key, { before, next });
      return requeueAfter === undefined ? {} : { requeueAfter };
    },
  });
  let isOver = false;
  const look = (name: string): void => {
    for (const key of isOver ? [] : waitingFor(shard, name)) controlled.add(key);
  };
  // What waits for a shard that is known but does not run is looked at when it comes, and what is on one when it goes.
  const joining = shard.registry.eachShard(({ name }) => {
    look(name);
    return { [Symbol.dispose]: () => look(name) };
  });
  return {
    started: controlled.started,
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      joining[Symbol.dispose]();
      await controlled[Symbol.asyncDispose]();
    },
  };
}

function waitingFor({ state }: ShardContext, name: string): readonly ObjectKey[] {
  const { store } = state.workspaces;
  return [...store.keysBy("unschedulable", ""), ...store.keysBy("shard", name)];
}

function relatedTo(shard: ShardContext) {
  const { store } = shard.state.workspaces;
  const { registry } = shard;
  const clusters = new AllShardsSource<LogicalCluster>(registry, ({ state }) => state.logicalClusters);
  const shards = new AllShardsSource<Shard>(registry, ({ state }) => state.shards);
  // Those that are on it are only looked at when they would say something else.
  const moved = filterUpdates(shards, (now, before) => now.spec?.externalURL !== before.spec?.externalURL);
  const opened = filterUpdates(shards, (now, before) => !isDeepStrictEqual(placing(now), placing(before)));
  return [
    related(clusters, ({ spec: { owner } }): readonly ObjectKey[] => {
      if (owner === undefined || owner.resource !== Workspace.plural) return [];
      const key = { cluster: owner.cluster, namespace: "", name: owner.name };
      return store.get(key) === undefined ? [] : [key];
    }),
    // Workspaces may come before what they are in.
    related(
      filterUpdates(shard.state.logicalClusters, () => false),
      (_, { cluster }) => store.keysBy("unplaced", cluster),
    ),
    related(opened, () => store.keysBy("unschedulable", "")),
    related(moved, ({ metadata }) => store.keysBy("shard", metadata.name ?? "")),
  ];
}

/** What of a Shard decides whether workspaces may be put there, and where they are then. */
function placing({ metadata, spec }: Shard): unknown {
  return [metadata.labels, metadata.annotations?.[UNSCHEDULABLE_ANNOTATION], spec?.externalURL];
}
