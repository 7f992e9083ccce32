import { isDeepStrictEqual } from "node:util";
import type { ResourceClient } from "@virtual-workspaces/client";
import {
  type Condition,
  type Holds,
  setCondition,
  type Workspace,
  type WorkspaceStatus,
} from "@virtual-workspaces/kcp";
import type { Verdict } from "./verdict.ts";

type Workspaces = ResourceClient<Holds<typeof Workspace>>;

/** With what a Workspace is written. */
export interface WriteTools {
  readonly workspaces: Workspaces;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/**
 * Makes a Workspace say what becomes of it, if it does not yet: that it is ready after where it leads, and that it is not before
 * that. So nobody sees one that is Ready and leads nowhere, or that leads to what is not ready and says otherwise.
 *
 * @throws ApiError 409 when it has changed since it was read
 */
export async function write(workspace: Workspace, verdict: Verdict, tools: WriteTools): Promise<void> {
  if (verdict.condition.status === "True") await writeStatus(await writeURL(workspace, verdict, tools), verdict, tools);
  else await writeURL(await writeStatus(workspace, verdict, tools), verdict, tools);
}

async function writeURL(
  workspace: Workspace,
  { url }: Verdict,
  { workspaces, signal }: WriteTools,
): Promise<Workspace> {
  const { name = "", resourceVersion } = workspace.metadata;
  if (url === undefined || url === workspace.spec.URL) return workspace;
  return workspaces.mergePatch(name, { metadata: { resourceVersion }, spec: { URL: url } }, { signal });
}

async function writeStatus(
  workspace: Workspace,
  { condition }: Verdict,
  { workspaces, now, signal }: WriteTools,
): Promise<Workspace> {
  const { name = "", resourceVersion } = workspace.metadata;
  const { status = {} } = workspace;
  const conditions = setCondition(status.conditions, condition, now);
  const phase = phaseOf(status, conditions);
  if (phase === status.phase && isDeepStrictEqual(conditions, status.conditions)) return workspace;
  const next = { conditions: [...conditions], ...(phase !== undefined && { phase }) };
  return workspaces.status.mergePatch(name, { metadata: { resourceVersion }, status: next }, { signal });
}

/**
 * Ready once nothing is wrong. That one is Unavailable says the controller of all workspaces (kcp's too), which would take back a
 * Ready beside another condition that does not hold, again and again.
 */
function phaseOf({ phase }: WorkspaceStatus, conditions: readonly Condition[]): WorkspaceStatus["phase"] {
  if (phase === "Terminating" || phase === "Deleting") return phase;
  return conditions.some(({ type, status }) => type.startsWith("Workspace") && status === "False") ? phase : "Ready";
}
