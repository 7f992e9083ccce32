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
import { AllShardsSource, filterUpdates, withoutInitial } from "../../controllers/sources.ts";
import type { ShardContext, ShardController } from "../../state/context.ts";
import { withOwnersName } from "../model/owner.ts";
import { allShards } from "../model/shards.ts";
import { phaseStep } from "./phase.ts";
import { schedulingStep } from "./scheduling.ts";
import { type AfterStep, GO_ON, type Step, type WorkspaceTools } from "./step.ts";
import { deletionStep } from "./workspace-deletion.ts";

/**
 * Marks a mounted workspace as not ready where mounts are disabled; otherwise its last state would remain. Where they are
 * enabled, a separate controller sets the condition, and this one derives the phase.
 */
const mountStep: Step = (workspace, { shard, now }) => {
  const { metadata, spec, status = {} } = workspace;
  if (spec.mount === undefined || shard.mounts !== false || metadata.deletionTimestamp !== undefined) return GO_ON;
  const message = "mounted workspaces are turned off: start the server with the feature gate WorkspaceMounts";
  const condition = { type: MOUNT_READY_CONDITION, reason: "FeatureGateDisabled", severity: "Error", message } as const;
  workspace.status = { ...status, conditions: markFalse(status.conditions, condition, now()) };
  return GO_ON;
};

/** Completes the two annotations of the shard, each from the other. */
const shardStep: Step = ({ metadata, spec }, { shard }) => {
  if (spec.mount !== undefined) return GO_ON;
  const name = metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION];
  const hash = metadata.annotations?.[WORKSPACE_SHARD_HASH_ANNOTATION];
  const own = name || (hash !== undefined && shardWithHash(shard, hash));
  if (!own || (name === shard.name && hash === shardHash(shard.name))) return GO_ON;
  metadata.annotations = {
    ...metadata.annotations,
    [LOGICAL_CLUSTER_SHARD_ANNOTATION]: own,
    [WORKSPACE_SHARD_HASH_ANNOTATION]: shardHash(own),
  };
  return GO_ON;
};

function shardWithHash({ registry }: ShardContext, hash: string): string | undefined {
  return allShards(registry).find(({ metadata: { name = "" } }) => shardHash(name) === hash)?.metadata.name;
}

/** Sets the label of the phase, and removes the owner's groups when they are no longer needed. */
function labelPhase({ metadata, spec, status }: Workspace): void {
  if (spec.mount !== undefined) return;
  const phase = status?.phase ?? "Scheduling";
  metadata.labels = { ...metadata.labels, [PHASE_LABEL]: phase };
  const annotations = phase === "Ready" ? withOwnersName(metadata.annotations) : metadata.annotations;
  if (annotations !== undefined) metadata.annotations = annotations;
}

/** Tools that tests replace. */
export type WorkspaceOptions = Partial<Omit<WorkspaceTools, "shard">>;

const STEPS: readonly Step[] = [shardStep, deletionStep, schedulingStep, mountStep, phaseStep];

/** Maximum of concurrent reconciliations of a shard. */
const WORKERS = 8;

/** Schedules a shard's Workspaces, updates their status, and deletes their logical clusters (kcp's `kcp-workspace`). */
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
    reconcile: async (key, { object }) => {
      let after = GO_ON;
      for (let before: Workspace | undefined = object; before !== undefined; ) {
        const next = copyOf(before);
        after = await pass(next, tools);
        before = await commit(collection, key, { before, next });
        if (after.again !== true) break;
      }
      return after.requeueAfter === undefined ? {} : { requeueAfter: after.requeueAfter };
    },
  });
  let isOver = false;
  const look = (name: string): void => {
    for (const key of isOver ? [] : waitingFor(shard, name)) controlled.add(key);
  };
  // When a shard joins or leaves, checks the workspaces that wait for it or are on it.
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

/** Copies what steps change: they replace lists and maps, and never change one in place. */
function copyOf(workspace: Workspace): Workspace {
  const { metadata, spec, status } = workspace;
  return { ...workspace, metadata: { ...metadata }, spec: { ...spec }, ...(status && { status: { ...status } }) };
}

/** Takes the steps up to the first that ends the pass. */
async function pass(workspace: Workspace, tools: WorkspaceTools): Promise<AfterStep> {
  let after = GO_ON;
  for (const step of STEPS) {
    after = await step(workspace, tools);
    if (after.stop === true) break;
  }
  labelPhase(workspace);
  return after;
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
  // Each Workspace has a pass at the start. Labels, finalizers and locks of a logical cluster do not concern its workspace.
  const initialized = filterUpdates(
    withoutInitial(clusters),
    (now, before) => !isDeepStrictEqual([now.spec.owner, now.status], [before.spec.owner, before.status]),
  );
  // Workspaces on a shard are checked only if their URL would change.
  const moved = filterUpdates(shards, (now, before) => now.spec?.externalURL !== before.spec?.externalURL);
  const opened = filterUpdates(shards, (now, before) => !isDeepStrictEqual(placing(now), placing(before)));
  return [
    related(initialized, ({ spec: { owner } }): readonly ObjectKey[] => {
      if (owner === undefined || owner.resource !== Workspace.plural) return [];
      const key = { cluster: owner.cluster, namespace: "", name: owner.name };
      return store.has(key) ? [key] : [];
    }),
    // A Workspace may precede its parent.
    related(
      filterUpdates(withoutInitial(shard.state.logicalClusters), () => false),
      (_, { cluster }) => store.keysBy("unplaced", cluster),
    ),
    related(opened, () => store.keysBy("unschedulable", "")),
    related(moved, ({ metadata }) => store.keysBy("shard", metadata.name ?? "")),
  ];
}

/** Returns the parts of a Shard that scheduling and URLs depend on. */
function placing({ metadata, spec }: Shard): unknown {
  return [metadata.labels, metadata.annotations?.[UNSCHEDULABLE_ANNOTATION], spec?.externalURL];
}
