import {
  LogicalCluster,
  type LogicalClusterPhase,
  type Workspace,
  type WorkspaceStatus,
} from "@virtual-workspaces/kcp";
import { getCondition, isConditionTrue, markFalse, markTrue, setCondition } from "@virtual-workspaces/kcp/conditions";
import { LOGICAL_CLUSTER_SHARD_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { read } from "../../state/modify.ts";
import { logicalClusterKey } from "../../state/shard-state.ts";
import { phaseOf } from "../model/phases.ts";
import { shardOf } from "../model/shards.ts";
import { type AfterStep, AGAIN, GO_ON, type Step, type WorkspaceTools } from "./step.ts";
import { CONTENT_DELETED, shardWith } from "./workspace-deletion.ts";

/** Condition of a workspace: whether it is initialized. */
const INITIALIZED = "WorkspaceInitialized";

/** Longest wait for a missing logical cluster, in milliseconds. */
const APPEARS_WITHIN = 60_000;

/** Copies initialization and availability from the logical cluster. */
export const phaseStep: Step = async (workspace, tools) => {
  const { metadata, spec, status = {} } = workspace;
  const phase = status.phase ?? "Scheduling";
  if (spec.mount === undefined) {
    if (phase === "Scheduling" && spec.URL && spec.cluster) return beginInitializing(workspace, tools);
    if (phase === "Initializing") return initialize(workspace, tools);
    if (FOLLOWING.has(phase) && metadata.deletionTimestamp !== undefined) terminate(workspace, tools);
  }
  const settled = settledPhase(workspace);
  if (settled !== undefined) workspace.status = { ...workspace.status, phase: settled };
  return GO_ON;
};

/** Phases in which a workspace under deletion mirrors its logical cluster. */
const FOLLOWING: ReadonlySet<string> = new Set(["Ready", "Terminating", "Deleting"]);

/** Ready has a write of its own, so that watches see each phase. */
async function beginInitializing(workspace: Workspace, tools: WorkspaceTools): Promise<AfterStep> {
  const begun: WorkspaceStatus = { ...workspace.status, phase: "Initializing" };
  workspace.status = begun;
  const after = await initialize(workspace, tools);
  if (workspace.status.phase !== "Ready") return after;
  workspace.status = begun;
  return AGAIN;
}

async function initialize(workspace: Workspace, tools: WorkspaceTools): Promise<AfterStep> {
  const { status = {} } = workspace;
  const { cluster = "" } = workspace.spec;
  const shard = shardWith(workspace, tools.shard, cluster);
  const found =
    shard?.state.logicalCluster(cluster) ??
    (shard && (await read(shard.objects.of(LogicalCluster), logicalClusterKey(cluster))));
  if (found === undefined) return disappeared(workspace, tools);
  const next = withHolders(status, "terminators", found.status?.terminators);
  const waiting = (base: WorkspaceStatus, message: string): AfterStep => {
    const condition = { type: INITIALIZED, reason: "InitializerExists", severity: "Info", message } as const;
    workspace.status = { ...base, conditions: markFalse(base.conditions, condition, tools.now()) };
    return GO_ON;
  };
  // The initializers are not listed yet: an empty list means nothing.
  if (phaseOf(found) === "Scheduling") return waiting(next, "LogicalCluster is not initializing yet");
  const initializers = found.status?.initializers ?? [];
  const both = withHolders(next, "initializers", initializers);
  if (initializers.length > 0) return waiting(both, `Initializers still exist: [${initializers.join(" ")}]`);
  workspace.status = { ...both, phase: "Ready", conditions: markTrue(both.conditions, INITIALIZED, tools.now()) };
  return GO_ON;
}

/** Waits for an event of a missing logical cluster. After a time, or without its shard, it counts as gone. */
function disappeared(workspace: Workspace, { shard, now }: WorkspaceTools): AfterStep {
  const { metadata, spec, status = {} } = workspace;
  const name = metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION];
  const place = name === undefined ? undefined : shardOf(shard.registry, name);
  // A known shard that does not run may have it, and joins later.
  const isKnown = place !== undefined && place.metadata.deletionTimestamp === undefined;
  if (isKnown && name !== undefined && shard.registry.shard(name) === undefined) return GO_ON;
  const left = Date.parse(metadata.creationTimestamp ?? "") + APPEARS_WITHIN - now().getTime();
  if (isKnown && left > 0) return { requeueAfter: left };
  const message = `LogicalCluster ${spec.cluster ?? ""} not found`;
  const condition = { type: INITIALIZED, reason: "WorkspaceDisappeared", severity: "Error", message } as const;
  workspace.status = { ...status, conditions: markFalse(status.conditions, condition, now()) };
  return GO_ON;
}

function terminate(workspace: Workspace, { shard, now }: WorkspaceTools): void {
  const { cluster = "" } = workspace.spec;
  const found = shardWith(workspace, shard, cluster)?.state.logicalCluster(cluster);
  // Releases the workspace once the LogicalCluster is really gone.
  if (found === undefined) return;
  const terminators = found.status?.terminators ?? [];
  const status = withHolders(workspace.status ?? {}, "terminators", terminators);
  workspace.status = { ...status, phase: terminators.length > 0 ? "Terminating" : "Deleting" };
  const condition = getCondition(found.status?.conditions, CONTENT_DELETED);
  if (condition === undefined || isConditionTrue(status.conditions, CONTENT_DELETED)) return;
  workspace.status.conditions = setCondition(status.conditions, condition, now());
}

/** Returns the status with initializers and terminators; empty lists are omitted. */
function withHolders(
  status: WorkspaceStatus,
  field: "initializers" | "terminators",
  holders: readonly string[] = [],
): WorkspaceStatus {
  const { [field]: _, ...others } = status;
  return holders.length === 0 ? others : { ...others, [field]: [...holders] };
}

/**
 * Returns the phase that follows from the conditions, if it differs: Unavailable while a workspace condition is false, and
 * back afterwards. Unlike in kcp, an uninitialized workspace returns to Initializing.
 */
function settledPhase({ spec, status = {} }: Workspace): LogicalClusterPhase | undefined {
  const { phase = "Scheduling", conditions = [] } = status;
  if (phase === "Terminating" || phase === "Deleting") return undefined;
  const wrong = conditions.filter(({ type, status: is }) => is === "False" && type.startsWith("Workspace"));
  if (phase !== "Unavailable") return wrong.length > 0 ? "Unavailable" : undefined;
  if (wrong.some(({ type }) => type !== "WorkspaceInitialized")) return undefined;
  if (spec.mount !== undefined || isConditionTrue(conditions, "WorkspaceInitialized")) return "Ready";
  return spec.URL && spec.cluster ? "Initializing" : "Scheduling";
}
