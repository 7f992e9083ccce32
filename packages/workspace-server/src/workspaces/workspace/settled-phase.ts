import { isConditionTrue, type LogicalClusterPhase, type Workspace } from "@virtual-workspaces/kcp";

/**
 * The phase that the conditions of a workspace make of it, if another: Unavailable while one that is about workspaces does not
 * hold, and back when they do. Unlike in kcp, one that was never set up goes back to where that is waited for.
 */
export function settledPhase({ spec, status = {} }: Workspace): LogicalClusterPhase | undefined {
  const { phase = "Scheduling", conditions = [] } = status;
  if (phase === "Terminating" || phase === "Deleting") return undefined;
  const wrong = conditions.filter(({ type, status: is }) => is === "False" && type.startsWith("Workspace"));
  if (phase !== "Unavailable") return wrong.length > 0 ? "Unavailable" : undefined;
  if (wrong.some(({ type }) => type !== "WorkspaceInitialized")) return undefined;
  if (spec.mount !== undefined || isConditionTrue(conditions, "WorkspaceInitialized")) return "Ready";
  return spec.URL && spec.cluster ? "Initializing" : "Scheduling";
}
