import { clusterOf, clusterURL, type Shard, type Workspace } from "@virtual-workspaces/kcp";
import { markFalse, markTrue } from "@virtual-workspaces/kcp/conditions";
import {
  LOGICAL_CLUSTER_FINALIZER,
  LOGICAL_CLUSTER_SHARD_ANNOTATION,
  REGION_LABEL,
  shardHash,
  WORKSPACE_CLUSTER_ANNOTATION,
  WORKSPACE_SHARD_HASH_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import { areShardsKnown, chooseShard, shardOf } from "../model/shards.ts";
import { joined, pathOf } from "../model/workspace-types.ts";
import { makeLogicalCluster } from "./new-logical-cluster.ts";
import { type AfterStep, AGAIN, GO_ON, STOP, type Step, type WorkspaceTools } from "./step.ts";

/** Condition of a workspace: whether it is scheduled. */
const SCHEDULED = "WorkspaceScheduled";

/** Chooses a shard and a name for a workspace, writes them down, creates the logical cluster there, and publishes its URL. */
export const schedulingStep: Step = async (workspace, tools) => {
  const { metadata, spec } = workspace;
  if (spec.mount !== undefined || metadata.deletionTimestamp !== undefined) return GO_ON;
  const isChosen = Boolean(metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION]);
  // An event follows when they are known.
  if (isChosen && !(await areShardsKnown(tools.shard.registry))) return STOP;
  if (spec.URL && spec.cluster) return keepPlace(workspace, tools);
  const parent = tools.shard.state.logicalCluster(clusterOf(workspace));
  if (parent === undefined) return STOP;
  const { annotations = {}, finalizers = [] } = metadata;
  const isPlaced = Boolean(annotations[LOGICAL_CLUSTER_SHARD_ANNOTATION] && annotations[WORKSPACE_CLUSTER_ANNOTATION]);
  if (!isPlaced || !finalizers.includes(LOGICAL_CLUSTER_FINALIZER)) return place(workspace, tools);
  return occupy(workspace, tools, joined(pathOf(parent), metadata.name ?? ""));
};

/** Written before anything is created, so that a restart after a crash finds it. */
function place(workspace: Workspace, { shard, pick, newName, now }: WorkspaceTools): AfterStep {
  const { metadata } = workspace;
  const annotations = { ...metadata.annotations };
  if (!annotations[LOGICAL_CLUSTER_SHARD_ANNOTATION]) {
    const choice = chooseShard(workspace, shard.registry, pick);
    if ("reason" in choice) return unschedulable(workspace, choice.reason, now());
    const { name = "", labels } = choice.shard.metadata;
    annotations[LOGICAL_CLUSTER_SHARD_ANNOTATION] = name;
    annotations[WORKSPACE_SHARD_HASH_ANNOTATION] = shardHash(name);
    const { [REGION_LABEL]: _, ...others } = metadata.labels ?? {};
    const region = labels?.[REGION_LABEL];
    metadata.labels = region === undefined ? others : { ...others, [REGION_LABEL]: region };
  }
  annotations[WORKSPACE_CLUSTER_ANNOTATION] ||= workspace.spec.cluster || newName();
  metadata.annotations = annotations;
  metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), LOGICAL_CLUSTER_FINALIZER])];
  return AGAIN;
}

async function occupy(workspace: Workspace, tools: WorkspaceTools, path: string): Promise<AfterStep> {
  const { shard, now } = tools;
  const { annotations = {} } = workspace.metadata;
  const name = annotations[LOGICAL_CLUSTER_SHARD_ANNOTATION] ?? "";
  const cluster = annotations[WORKSPACE_CLUSTER_ANNOTATION] ?? "";
  const chosen = shardOf(shard.registry, name);
  if (chosen === undefined) return unschedulable(workspace, vanished(name), now());
  const there = shard.registry.shard(name);
  // The shard is known but does not run here: an event follows when it joins.
  if (there === undefined) return STOP;
  const url = urlOf(chosen, path);
  if (url === undefined) return unreachable(workspace, chosen, now());
  const made = await makeLogicalCluster(workspace, { shard: there, registry: shard.registry, cluster, path });
  if (made === "taken") {
    const { [WORKSPACE_CLUSTER_ANNOTATION]: _, ...others } = annotations;
    workspace.metadata.annotations = others;
    return AGAIN;
  }
  // An event follows when it begins to be initialized.
  if (made === "new") return STOP;
  workspace.spec.cluster = cluster;
  workspace.spec.URL = url;
  return keepPlace(workspace, tools);
}

/** Updates the condition and URL of a scheduled workspace. Its logical cluster never changes. */
function keepPlace(workspace: Workspace, { shard, now }: WorkspaceTools): AfterStep {
  const { metadata, spec, status = {} } = workspace;
  const name = metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION];
  if (!name || !metadata.annotations?.[WORKSPACE_CLUSTER_ANNOTATION]) return GO_ON;
  const chosen = shardOf(shard.registry, name);
  if (chosen === undefined) return unschedulable(workspace, vanished(name), now());
  const parent = shard.state.logicalCluster(clusterOf(workspace));
  if (parent === undefined) return STOP;
  const url = urlOf(chosen, joined(pathOf(parent), metadata.name ?? ""));
  if (url === undefined) return unreachable(workspace, chosen, now());
  spec.URL = url;
  workspace.status = { ...status, conditions: markTrue(status.conditions, SCHEDULED, now()) };
  return GO_ON;
}

function urlOf({ spec }: Shard, path: string): string | undefined {
  const base = spec?.externalURL || spec?.baseURL || "";
  return URL.canParse(base) ? clusterURL(base, path) : undefined;
}

function vanished(name: string): string {
  return `chosen shard ${JSON.stringify(name)} does not exist anymore: shard.core.kcp.io ${JSON.stringify(name)} not found`;
}

function unreachable(workspace: Workspace, { spec }: Shard, now: Date): AfterStep {
  const message = `Invalid connection information on target Shard: ${JSON.stringify(spec?.externalURL ?? "")} is no URL.`;
  return notScheduled(workspace, { reason: "Unknown", message, now });
}

function unschedulable(workspace: Workspace, message: string, now: Date): AfterStep {
  return notScheduled(workspace, { reason: "Unschedulable", message, now });
}

/** Changes of Shards cause a retry. */
function notScheduled(
  workspace: Workspace,
  { reason, message, now }: { readonly reason: string; readonly message: string; readonly now: Date },
): AfterStep {
  const { status = {} } = workspace;
  const condition = { type: SCHEDULED, reason, severity: "Error", message } as const;
  workspace.status = { ...status, conditions: markFalse(status.conditions, condition, now) };
  return GO_ON;
}
